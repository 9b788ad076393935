// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/cpp_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <set>

#include "tuner/expression/expression.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/epilogue.hpp"
#include "tuner/util/enum_table.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::tool {
namespace {

/// [lex.key] and [lex.digraph] of C++20, which has all of C++17; in the order of std::binary_search.
constexpr std::array<std::string_view, 92> kKeywords{
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));

/// What stands in the namespace of every header: exported/*.hpp. In the order of std::binary_search.
constexpr std::array<std::string_view, 39> kTaken{
    "Activation",    "Build",          "Choice",          "DeviceClass",
    "Element",       "Entry",          "Epilogue",        "Fallback",
    "Family",        "Gemm",           "GemmCache",       "Interval",
    "Jit",           "Layout",         "Limits",          "Match",
    "NeighbourLoss", "Operands",       "Operation",       "Policy",
    "Problem",       "Status",         "StatusCode",      "TunedSizes",
    "Type",          "Variant",        "build",           "cublaslt_fallback",
    "detail",        "device_classes", "entries",         "families",
    "jit_log",       "kLargestLoss",   "last_cuda_error", "neighbour_losses",
    "prepare",       "text",           "variants"};
static_assert(std::is_sorted(kTaken.begin(), kTaken.end()));

constexpr std::array<std::string_view, 4> kGnuMacros{"i386", "linux", "sun", "unix"};

/// Beside those of up to three capitals. In the order of std::binary_search.
constexpr std::array<std::string_view, 32> kForeignMacros{
    "ABSOLUTE", "Above",     "Always", "Below", "Bool",     "Button1", "CEIL_DIV", "CHECK",
    "Complex",  "DEVICE",    "ERROR",  "FALSE", "False",    "NONE",    "None",     "Status",
    "Success",  "TILE",      "TRUE",   "True",  "Unsorted", "WARP",    "abs",      "checkCudaErrors",
    "far",      "interface", "likely", "max",   "min",      "near",    "small",    "unlikely"};
static_assert(std::is_sorted(kForeignMacros.begin(), kForeignMacros.end()));

/// Macros of the headers that an export includes and whose names others might choose. In the order of
/// std::binary_search.
constexpr std::array<std::string_view, 12> kHeaderMacros{"BUFSIZ", "EOF",   "INFINITY", "NAN",    "NULL",  "WEOF",
                                                         "alloca", "errno", "offsetof", "stderr", "stdin", "stdout"};
static_assert(std::is_sorted(kHeaderMacros.begin(), kHeaderMacros.end()));

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// Macros such as CUDA_VERSION and INT_MAX are too many for a list: every name in capitals with an underscore counts.
bool is_header_macro(std::string_view name) {
  const auto of_constants = [](char c) { return is_upper(c) || c == '_' || (c >= '0' && c <= '9'); };
  return std::binary_search(kHeaderMacros.begin(), kHeaderMacros.end(), name) ||
         (name.find('_') != std::string_view::npos && std::all_of(name.begin(), name.end(), of_constants));
}

/// Other namespaces that C++ reserves: std followed by digits, and posix.
bool is_kept_namespace(std::string_view name) {
  if (name == "posix") return true;
  return name.starts_with("std") &&
         std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> why_no_part(std::string_view part, bool outermost) {
  if (!is_identifier(part)) return fmt::format("'{}' is no identifier", part);
  if (is_cpp_keyword(part)) return fmt::format("'{}' is a C++ keyword", part);
  if (is_gnu_macro(part)) return fmt::format("GNU dialects define '{}' as a macro", part);
  const bool everywhere =
      part.find("__") != std::string_view::npos || (part.size() > 1 && part[0] == '_' && is_upper(part[1]));
  if (everywhere || (outermost && (part[0] == '_' || is_kept_namespace(part))))
    return fmt::format("C++ reserves the name '{}'", part);
  if (is_header_macro(part)) return fmt::format("'{}' is a macro of the included headers, or may be one", part);
  // Inside it the header's own std::string_view would be looked for there.
  if (part == "std") return "the header needs what 'std' means elsewhere";
  return std::nullopt;
}

/// Behind the literal that begins at `begin`, at the end of its line at the latest: comments have single quotation
/// marks.
std::size_t end_of_literal(std::string_view code, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < code.size() && code[at] != '"' && code[at] != '\n') at += code[at] == '\\' ? 2 : 1;
  return std::min(at + 1, code.size());
}

}  // namespace

bool is_cpp_keyword(std::string_view word) { return std::binary_search(kKeywords.begin(), kKeywords.end(), word); }

bool is_gnu_macro(std::string_view word) {
  return std::find(kGnuMacros.begin(), kGnuMacros.end(), word) != kGnuMacros.end();
}

std::vector<std::string> guarded_words(std::string_view code) {
  constexpr std::size_t kShort = 3;
  const auto is_short = [](std::string_view word) {
    // Macros of C and C++ themselves that headers may need.
    return word.size() <= kShort && std::all_of(word.begin(), word.end(), is_upper) && word != "NAN" && word != "EOF";
  };
  std::set<std::string> out;
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t begin = 0; begin < code.size();) {
    std::size_t end = begin;
    while (end < code.size() && is_part(code[end])) ++end;
    const std::string_view word = code.substr(begin, end - begin);
    const bool foreign = std::binary_search(kForeignMacros.begin(), kForeignMacros.end(), word);
    if (!word.empty() && (foreign || is_short(word))) out.emplace(word);
    if (word.empty() && code[begin] == '"') end = end_of_literal(code, begin);
    begin = std::max(end, begin + 1);
  }
  return {out.begin(), out.end()};
}

std::string cpp_name(const std::string& name) {
  return std::binary_search(kTaken.begin(), kTaken.end(), name) ? name + '_' : cpp_member(name);
}

std::string cpp_member(const std::string& name) {
  return is_cpp_keyword(name) || is_gnu_macro(name) ? name + '_' : name;
}

std::string cpp_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (std::iscntrl(static_cast<unsigned char>(c)) == 0) out += c;
  }
  out += '"';
  return out;
}

std::string cpp_comment(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::iscntrl(static_cast<unsigned char>(c)) != 0 || c == '\\' ? ' ' : c;
  return out;
}

std::optional<std::string> why_no_namespace(std::string_view text) {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find("::", begin);
    if (auto why = why_no_part(text.substr(begin, end == std::string_view::npos ? end : end - begin), begin == 0))
      return why;
    if (end == std::string_view::npos) return std::nullopt;
    begin = end + 2;
  }
}

namespace {

struct CudaTensorType {
  TensorType type;
  std::string_view cuda;
};
constexpr std::array<CudaTensorType, kTensorTypeCount> kTensorTypeNames{
    {{TensorType::kFloat32, "CU_TENSOR_MAP_DATA_TYPE_FLOAT32"},
     {TensorType::kTfloat32, "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32"},
     {TensorType::kFloat16, "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"},
     {TensorType::kBfloat16, "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"},
     {TensorType::kUint8, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},
     {TensorType::kInt32, "CU_TENSOR_MAP_DATA_TYPE_INT32"}}};
static_assert(one_row_each(kTensorTypeNames, &CudaTensorType::type));

std::string element_comment(Dtype dtype) {
  const auto cpp = [](ElementType type) { return traits(type).cpp_name; };
  std::string out = type_of_a(dtype) == type_of_b(dtype)
                        ? fmt::format("A and B {}", cpp(type_of_a(dtype)))
                        : fmt::format("A {}, B {}", cpp(type_of_a(dtype)), cpp(type_of_b(dtype)));
  out += fmt::format("; C and D {}", cpp(output_types(dtype).front()));
  for (const ElementType other : output_types(dtype).subspan(1))
    out += fmt::format(", or {} with Element::{}", cpp(other), to_string(other));
  return out;
}

}  // namespace

std::string_view cuda_tensor_type(TensorType type) { return row_of(kTensorTypeNames, type).cuda; }

std::string word_enums() {
  std::string out = "/// What is computed: the types of A and B, and how.\nenum class Type : std::uint8_t {\n";
  for (const Dtype dtype : all_dtypes())
    out += fmt::format("  {},  ///< {}\n", to_string(dtype), element_comment(dtype));
  out += "};\n\n/// Types of elements; usual: the first one of its Type.\nenum class Element : std::uint8_t { usual";
  for (const ElementType type : all_element_types()) out += fmt::format(", {}", to_string(type));
  out += " };\n\n/// gelu is the approximation with tanh.\nenum class Activation : std::uint8_t { ";
  for (const Activation activation : all_activations())
    out += fmt::format("{}{}", activation == all_activations().front() ? "" : ", ", to_string(activation));
  return out + " };\n";
}

std::string word_tables() {
  std::string out =
      "struct TypeRow {\n  Int label, bytes;\n  CUtensorMapDataType tensor_a, tensor_b;\n  Element out;\n  bool "
      "integer;\n};\n"
      "inline constexpr TypeRow kTypes[] = {\n";
  for (const Dtype dtype : all_dtypes())
    out += fmt::format("    {{{}, {}, {}, {}, Element::{}, {}}},\n", label_value(to_string(dtype)),
                       element_bytes(dtype), cuda_tensor_type(traits(type_of_a(dtype)).tensor_type),
                       cuda_tensor_type(traits(type_of_b(dtype)).tensor_type), to_string(output_types(dtype).front()),
                       traits(dtype).is_integer());
  out += fmt::format("}};\nconstexpr int kTypeCount = {};\n", all_dtypes().size());
  out +=
      "struct ElementRow {\n  Int bytes;\n  CUtensorMapDataType tensor;\n};\ninline constexpr ElementRow kElements[] = "
      "{\n"
      "    {0, CU_TENSOR_MAP_DATA_TYPE_UINT8},\n";
  for (const ElementType type : all_element_types())
    out += fmt::format("    {{{}, {}}},\n", traits(type).bytes, cuda_tensor_type(traits(type).tensor_type));
  out += fmt::format("}};\nconstexpr int kElementCount = {};\ninline constexpr Int kActivationLabels[] = {{",
                     all_element_types().size() + 1);
  for (const Activation activation : all_activations())
    out += fmt::format("{}{}", activation == all_activations().front() ? "" : ", ", label_value(to_string(activation)));
  return out + fmt::format("}};\nconstexpr int kActivationCount = {};\n", all_activations().size());
}

}  // namespace pgtune::tool
