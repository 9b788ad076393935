// SPDX-License-Identifier: MIT
// The types that elements of A, B, C and D have in memory: all that host code knows of one is its row here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/named_enum.hpp"

namespace pgtune {

/// How one element lies in memory.
enum class ElementType { kFloat32, kFloat16, kBfloat16, kE4m3, kE5m2, kInt8, kInt32 };
inline constexpr int kElementTypeCount = 7;

/// What TMA calls the elements of a tensor map. It rounds float32 to kTfloat32 on the way, and has one type for all
/// elements of a byte.
enum class TensorType { kFloat32, kTfloat32, kFloat16, kBfloat16, kUint8, kInt32 };
inline constexpr int kTensorTypeCount = 6;

/// Numbers are sign, exponent and stored mantissa as IEEE 754 lays them out, or integers in two's complement.
struct ElementTraits {
  ElementType type;
  std::string_view name;
  std::string_view cpp_name;  ///< in CUDA C++
  std::int64_t bytes;
  int exponent_bits, mantissa_bits;  ///< both 0 for integers
  bool has_infinity;                 ///< without it all ones in the exponent are numbers, but the largest pattern
  double largest;                    ///< finite number
  /// pgtune's data lie within -range ... range - 1 where they are integers: all of int8, and as much of int32 as leaves
  /// the sums of products room. 0 for real numbers.
  std::int64_t data_range;
  TensorType tensor_type;

  [[nodiscard]] bool is_integer() const { return exponent_bits == 0; }
  [[nodiscard]] int exponent_bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

/// Throws std::out_of_range for what is no element type.
[[nodiscard]] const ElementTraits& traits(ElementType type);
[[nodiscard]] const std::vector<ElementType>& all_element_types();
[[nodiscard]] inline std::string_view to_string(ElementType type) { return traits(type).name; }
[[nodiscard]] EnumTable<ElementType> enum_table(ElementType value);
[[nodiscard]] inline std::int64_t element_bytes(ElementType type) { return traits(type).bytes; }
/// An element from its bits, which are the lowest. Exact; NaN has no sign.
[[nodiscard]] double element_value(ElementType type, std::uint32_t bits);

/// Why `value` is no number of the type, as the end of a sentence: it is too large, becomes 0, or has a fraction where
/// there are whole numbers only; nothing where it is one, rounded.
[[nodiscard]] std::optional<std::string> why_not_in(ElementType type, double value);

[[nodiscard]] EnumTable<TensorType> enum_table(TensorType value);
[[nodiscard]] std::int64_t element_bytes(TensorType type);

}  // namespace pgtune
