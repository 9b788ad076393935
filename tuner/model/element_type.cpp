// SPDX-License-Identifier: MIT
#include "tuner/model/element_type.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "tuner/util/enum_table.hpp"

namespace pgtune {
namespace {

constexpr double kLargestFloat32 = std::numeric_limits<float>::max(),
                 kLargestInt32 = std::numeric_limits<std::int32_t>::max();

// clang-format off
constexpr std::array<ElementTraits, kElementTypeCount> kElementTypes{{
    // type                    name     in CUDA C++      bytes exponent mantissa infinity largest          range  TMA
    {ElementType::kFloat32,  "f32",   "float",         4,    8,       23,      true,    kLargestFloat32, 0,     TensorType::kFloat32},
    {ElementType::kFloat16,  "f16",   "__half",        2,    5,       10,      true,    65504,           0,     TensorType::kFloat16},
    {ElementType::kBfloat16, "bf16",  "__nv_bfloat16", 2,    8,       7,       true,    0x1.fep127,      0,     TensorType::kBfloat16},
    {ElementType::kE4m3,     "e4m3",  "__nv_fp8_e4m3", 1,    4,       3,       false,   448,             0,     TensorType::kUint8},
    {ElementType::kE5m2,     "e5m2",  "__nv_fp8_e5m2", 1,    5,       2,       true,    57344,           0,     TensorType::kUint8},
    {ElementType::kInt8,     "int8",  "std::int8_t",   1,    0,       0,       false,   127,             128,   TensorType::kUint8},
    {ElementType::kInt32,    "int32", "std::int32_t",  4,    0,       0,       false,   kLargestInt32,   65536, TensorType::kInt32},
}};
// clang-format on
static_assert(one_row_each(kElementTypes, &ElementTraits::type));

constexpr EnumNames<TensorType, kTensorTypeCount> kTensorTypes{{{TensorType::kFloat32, "f32"},
                                                                {TensorType::kTfloat32, "tf32"},
                                                                {TensorType::kFloat16, "f16"},
                                                                {TensorType::kBfloat16, "bf16"},
                                                                {TensorType::kUint8, "u8"},
                                                                {TensorType::kInt32, "int32"}}};
static_assert(one_row_each(kTensorTypes, &EnumNames<TensorType, kTensorTypeCount>::value_type::first));

constexpr auto kElementNames = [] {
  EnumNames<ElementType, kElementTypeCount> names{};
  for (std::size_t i = 0; i < kElementTypes.size(); ++i) names[i] = {kElementTypes[i].type, kElementTypes[i].name};
  return names;
}();

struct TensorBytes {
  TensorType type;
  std::int64_t bytes;
};
constexpr std::array<TensorBytes, kTensorTypeCount> kTensorBytes{{{TensorType::kFloat32, 4},
                                                                  {TensorType::kTfloat32, 4},
                                                                  {TensorType::kFloat16, 2},
                                                                  {TensorType::kBfloat16, 2},
                                                                  {TensorType::kUint8, 1},
                                                                  {TensorType::kInt32, 4}}};
static_assert(one_row_each(kTensorBytes, &TensorBytes::type));

double integer_value(std::int64_t bytes, std::uint32_t bits) {
  const auto unused = static_cast<unsigned>(32 - 8 * bytes);
  return static_cast<std::int32_t>(bits << unused) >> unused;
}

}  // namespace

const ElementTraits& traits(ElementType type) { return row_of(kElementTypes, type); }

const std::vector<ElementType>& all_element_types() {
  static const std::vector<ElementType> types = column(kElementTypes, &ElementTraits::type);
  return types;
}

double element_value(ElementType type, std::uint32_t bits) {
  const ElementTraits& t = traits(type);
  if (t.is_integer()) return integer_value(t.bytes, bits);
  const std::uint32_t all_ones = (1U << t.exponent_bits) - 1;
  const std::uint32_t mantissa = bits & ((1U << t.mantissa_bits) - 1), exponent = bits >> t.mantissa_bits & all_ones;
  const bool negative = (bits >> (8 * t.bytes - 1) & 1) != 0;
  // Subnormal numbers lack the leading one, and have the exponent of the smallest normal ones.
  const double significand = (exponent == 0 ? 0.0 : 1.0) + std::ldexp(mantissa, -t.mantissa_bits);
  double magnitude = std::ldexp(significand, (exponent == 0 ? 1 : static_cast<int>(exponent)) - t.exponent_bias());
  if (magnitude > t.largest) {
    if (!t.has_infinity || mantissa != 0) return std::numeric_limits<double>::quiet_NaN();
    magnitude = std::numeric_limits<double>::infinity();
  }
  return negative ? -magnitude : magnitude;
}

std::optional<std::string> why_not_in(ElementType type, double value) {
  const ElementTraits& t = traits(type);
  const double size = std::abs(value);
  const double largest = t.is_integer() && value < 0 ? t.largest + 1 : t.largest;
  if (!(size <= largest))
    return fmt::format("{} is beyond {}, whose numbers end at {}", value, t.name, std::copysign(largest, value));
  if (t.is_integer())
    return value == std::trunc(value) ? std::nullopt : std::optional(fmt::format("{} is no whole number", value));
  const double smallest = std::ldexp(1, 1 - t.exponent_bias() - t.mantissa_bits);
  if (size > 0 && size <= smallest / 2) return fmt::format("{} is 0 in {}", value, t.name);
  return std::nullopt;
}

EnumTable<ElementType> enum_table(ElementType /*value*/) { return kElementNames; }
EnumTable<TensorType> enum_table(TensorType /*value*/) { return kTensorTypes; }

std::int64_t element_bytes(TensorType type) { return row_of(kTensorBytes, type).bytes; }

}  // namespace pgtune
