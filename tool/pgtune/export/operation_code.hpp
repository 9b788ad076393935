// SPDX-License-Identifier: MIT
// An operation's JSON as the C++17 of an exported header: its facts, its sizes and operands, its tables, its call.
#pragma once

#include <string>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// For a buffer that is the target of pointers: whether no kernel of the header takes the buffer itself.
[[nodiscard]] bool may_be_null(const CallableHeader& content, const OperationProblem& problem, std::size_t buffer);

/// Declarations of the types that CUDA's headers define and operands point to, outside of every namespace.
[[nodiscard]] std::string element_declarations(const CallableHeader& content);

/// For each operation `struct Facts_<name>` and `bool describe_<name>(Facts_<name>& f, const Int* sizes, const
/// BufferRow* buffers, const char*& why)`: whether the sizes are a problem of it, and its facts. It refuses the same
/// sizes as operation::make_problem(), except for its check of pointer offsets beyond a buffer.
[[nodiscard]] std::string operation_facts(const CallableHeader& content);

/// For each operation in a type the table of what was tuned, and `struct Of_<kind>`, what Operation (exported/
/// operation.hpp) is a template over.
[[nodiscard]] std::string operation_tables(const CallableHeader& content);

/// The names that programs use: `using softmax_bf16 = Operation<detail::Of_softmax_bf16>`.
[[nodiscard]] std::string operation_calls(const CallableHeader& content);

}  // namespace pgtune::tool
