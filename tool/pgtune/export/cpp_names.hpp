// SPDX-License-Identifier: MIT
// Valid names in an exported C++ header, and safe forms of untrusted text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/element_type.hpp"

namespace pgtune::tool {

/// A keyword or alternative token (`and`, `xor_eq`, ...) of C++17 or C++20.
[[nodiscard]] bool is_cpp_keyword(std::string_view word);
/// A macro that compilers define by themselves in their GNU dialects, such as `linux`.
[[nodiscard]] bool is_gnu_macro(std::string_view word);

/// Which words of a header's `code`, outside of its literals, other people's headers define as macros: those of Xlib.h,
/// windows.h and CUDA's samples, and all of up to three capitals (N, BM), which programs like to define. In order, each
/// once.
[[nodiscard]] std::vector<std::string> guarded_words(std::string_view code);

/// Why `text` cannot be the namespace of an exported header, as the end of a sentence ("'int' is a C++ keyword");
/// nothing if it can. A namespace may be nested ("my::gemm"). Keywords, names that C++ reserves to its implementation
/// ([lex.name], [namespace.future], [namespace.posix]) and `std` are refused.
[[nodiscard]] std::optional<std::string> why_no_namespace(std::string_view text);

/// A header's name for an operation's name, in its namespace or as a member. Appends an underscore to a word of C++
/// and, in the namespace, to the header's own names.
[[nodiscard]] std::string cpp_name(const std::string& name);
[[nodiscard]] std::string cpp_member(const std::string& name);

/// A string literal, without unprintable characters.
[[nodiscard]] std::string cpp_string(const std::string& text);

/// Text that is safe inside a // comment.
[[nodiscard]] std::string cpp_comment(const std::string& text);

// The forms of cuda.h's names and of pgtune's own words in exported headers.

/// The enumerator of CUtensorMapDataType.
[[nodiscard]] std::string_view cuda_tensor_type(TensorType type);

/// The enums Type, Element and Activation: the words of the model's tables.
[[nodiscard]] std::string word_enums();
/// The tables behind them: kTypes, kElements, kActivationLabels.
[[nodiscard]] std::string word_tables();

}  // namespace pgtune::tool
