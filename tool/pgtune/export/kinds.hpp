// SPDX-License-Identifier: MIT
// What a kernel is compiled for: GEMM in some types with an epilogue, or an operation in a type. Kernels of one kind
// compute whatever sizes their templates' rules allow, and nothing of another kind.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// One problem of each kind (Problem::is_of_kind) among the variants of the export: GEMM's first, then those of
/// operations, which a header numbers so.
[[nodiscard]] std::vector<Problem> kinds_of(const CallableHeader& content);
/// Precondition: it is one of `kinds`.
[[nodiscard]] std::size_t kind_number(const std::vector<Problem>& kinds, const Problem& problem);

/// Those among the kinds that programs call by the short form of their problems, and the others, which have calls of
/// their own.
[[nodiscard]] std::vector<Problem> gemm_kinds(const CallableHeader& content);
[[nodiscard]] std::vector<Problem> operation_kinds(const CallableHeader& content);
[[nodiscard]] bool has_gemms(const CallableHeader& content);

/// The number of content.entries[entry] as a program sees them: all GEMMs, then each operation's in a type.
[[nodiscard]] std::size_t program_number(const CallableHeader& content, std::size_t entry);

/// What a header calls an operation in a type: "softmax_bf16".
[[nodiscard]] std::string kind_name(const Problem& problem);

}  // namespace pgtune::tool
