// SPDX-License-Identifier: MIT
#include "tuner/model/dtype.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "tuner/util/named_enum.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<ElementType, 7> kElementTypes{{{ElementType::kFloat32, "f32"},
                                                   {ElementType::kFloat16, "f16"},
                                                   {ElementType::kBfloat16, "bf16"},
                                                   {ElementType::kE4m3, "e4m3"},
                                                   {ElementType::kE5m2, "e5m2"},
                                                   {ElementType::kInt8, "int8"},
                                                   {ElementType::kInt32, "int32"}}};
constexpr EnumNames<Dtype, kDtypeCount> kDtypes{{{Dtype::kF32, "f32"},
                                                 {Dtype::kTf32, "tf32"},
                                                 {Dtype::kTf32x3, "tf32x3"},
                                                 {Dtype::kF16, "f16"},
                                                 {Dtype::kBf16, "bf16"},
                                                 {Dtype::kE4m3, "e4m3"},
                                                 {Dtype::kE5m2, "e5m2"},
                                                 {Dtype::kInt8, "int8"}}};

}  // namespace

std::string_view to_string(ElementType type) { return enum_name(kElementTypes, type); }

Result<ElementType> parse_output_type(std::string_view text) {
  const auto type = enum_value(kElementTypes, text);
  if (type && element_bytes(*type) > 1) return *type;
  return fail(ErrorKind::kUsage, fmt::format("unknown output type '{}'; C and D can be f32, f16, bf16 or int32", text));
}

std::int64_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kInt32:
      return 4;
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return 2;
    case ElementType::kE4m3:
    case ElementType::kE5m2:
    case ElementType::kInt8:
      break;
  }
  return 1;
}

const std::vector<Dtype>& all_dtypes() {
  static const std::vector<Dtype> modes = [] {
    std::vector<Dtype> out;
    for (const auto& [mode, word] : kDtypes) out.push_back(mode);
    return out;
  }();
  return modes;
}

std::string_view to_string(Dtype mode) { return enum_name(kDtypes, mode); }

const std::string& dtype_words() {
  static const std::string words = [] {
    std::vector<std::string_view> out;
    for (const Dtype mode : all_dtypes()) out.push_back(to_string(mode));
    return fmt::format("{}", fmt::join(out, ", "));
  }();
  return words;
}

Result<Dtype> parse_dtype(std::string_view text) {
  if (const auto mode = enum_value(kDtypes, text)) return *mode;
  return fail(ErrorKind::kUsage, fmt::format("unknown dtype '{}'; this pgtune knows: {}", text, dtype_words()));
}

ElementType type_of_a(Dtype mode) {
  switch (mode) {
    case Dtype::kF32:
    case Dtype::kTf32:
    case Dtype::kTf32x3:
      return ElementType::kFloat32;
    case Dtype::kF16:
      return ElementType::kFloat16;
    case Dtype::kBf16:
      return ElementType::kBfloat16;
    case Dtype::kE4m3:
      return ElementType::kE4m3;
    case Dtype::kE5m2:
      return ElementType::kE5m2;
    case Dtype::kInt8:
      break;
  }
  return ElementType::kInt8;
}

ElementType type_of_b(Dtype mode) { return mode == Dtype::kE5m2 ? ElementType::kE4m3 : type_of_a(mode); }

const std::vector<ElementType>& output_types(Dtype mode) {
  static const std::vector<ElementType> only_float32{ElementType::kFloat32}, only_bfloat16{ElementType::kBfloat16},
      only_int32{ElementType::kInt32};
  static const std::vector<ElementType> float16_or_float32{ElementType::kFloat16, ElementType::kFloat32};
  static const std::vector<ElementType> bfloat16_or_float32{ElementType::kBfloat16, ElementType::kFloat32};
  switch (mode) {
    case Dtype::kF32:
    case Dtype::kTf32:
    case Dtype::kTf32x3:
      return only_float32;
    case Dtype::kF16:
      return float16_or_float32;
    case Dtype::kBf16:
      return bfloat16_or_float32;
    case Dtype::kE4m3:
    case Dtype::kE5m2:
      return only_bfloat16;
    case Dtype::kInt8:
      break;
  }
  return only_int32;
}

std::int64_t element_bytes(Dtype mode) { return element_bytes(type_of_a(mode)); }

}  // namespace pgtune
