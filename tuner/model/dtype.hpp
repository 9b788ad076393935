// SPDX-License-Identifier: MIT
// What a problem computes in: all that host code knows of a dtype without CUDA is its row here. What cuBLASLt calls it
// is in tuner/gpu/baseline/cublaslt_matmul.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/element_type.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

/// Arithmetic and storage of a problem in one word. Sums are float32 in all but kInt8; kF32 is strict CUDA-core
/// float32, the others are for tensor cores: kTf32 multiplies float32 operands rounded to 10 mantissa bits; kTf32x3
/// splits each into two such numbers and adds three products, which is about as accurate as kF32. kE4m3 has both
/// operands in that type; kE5m2 has A in it and B in e4m3, as gradients meet weights (cuBLASLt multiplies no two e5m2
/// matrices). kInt8 adds products of signed 8-bit integers in int32, which C and D are too; alpha and beta are whole
/// numbers, and nothing is ever rounded.
enum class Dtype { kF32, kTf32, kTf32x3, kF16, kBf16, kE4m3, kE5m2, kInt8 };
inline constexpr int kDtypeCount = 8;

inline constexpr double kUnitRoundoffFloat32 = 0x1p-24;

/// The error that a right sum of K products may have, all in units of S = sum |a||b|; rounding.cpp adds the parts.
struct SumError {
  double addition;  ///< relative error of each addition; K of them have random signs
  double product;   ///< relative error of each product, K of them of random sign
  double sum;       ///< of the sum, whatever K is
};

struct DtypeTraits {
  Dtype dtype;
  std::string_view name;
  ElementType a, b;                      ///< equally many bytes
  std::span<const ElementType> outputs;  ///< types C and D can have, the usual one first
  ElementType accumulator;               ///< kInt32: all arithmetic is exact, and scalars are whole numbers
  SumError error;

  [[nodiscard]] bool is_integer() const { return traits(accumulator).is_integer(); }
};

/// Throws std::out_of_range for what is no dtype.
[[nodiscard]] const DtypeTraits& traits(Dtype dtype);
[[nodiscard]] const std::vector<Dtype>& all_dtypes();
[[nodiscard]] Result<Dtype> parse_dtype(std::string_view text);
/// "f32, tf32, ...", for messages and help.
[[nodiscard]] const std::string& dtype_words();
/// "f32", "f16", "bf16", "int32": the types that C and D can have in some dtype. Errors (usage) list them.
[[nodiscard]] Result<ElementType> parse_output_type(std::string_view text);

[[nodiscard]] inline std::string_view to_string(Dtype dtype) { return traits(dtype).name; }
[[nodiscard]] inline ElementType type_of_a(Dtype dtype) { return traits(dtype).a; }
[[nodiscard]] inline ElementType type_of_b(Dtype dtype) { return traits(dtype).b; }
/// Types C and D can have, the usual one first.
[[nodiscard]] inline std::span<const ElementType> output_types(Dtype dtype) { return traits(dtype).outputs; }
/// Size in bytes of one element of A and B, which agree in every dtype.
[[nodiscard]] inline std::int64_t element_bytes(Dtype dtype) { return element_bytes(type_of_a(dtype)); }

}  // namespace pgtune
