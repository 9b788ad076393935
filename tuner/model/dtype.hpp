// SPDX-License-Identifier: MIT
// What a problem computes in: its dtype, and the element types that A, B, C and D have in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune {

/// How one element lies in memory.
enum class ElementType { kFloat32, kFloat16, kBfloat16, kE4m3, kE5m2, kInt8, kInt32 };

/// Arithmetic and storage of a problem in one word. Sums are float32 in all but kInt8; kF32 is strict CUDA-core
/// float32, the others are for tensor cores: kTf32 multiplies float32 operands rounded to 10 mantissa bits; kTf32x3
/// splits each into two such numbers and adds three products, which is about as accurate as kF32. kE4m3 has both
/// operands in that type; kE5m2 has A in it and B in e4m3, as gradients meet weights (cuBLASLt multiplies no two e5m2
/// matrices). kInt8 adds products of signed 8-bit integers in int32, which C and D are too; alpha and beta are whole
/// numbers, and nothing is ever rounded.
enum class Dtype { kF32, kTf32, kTf32x3, kF16, kBf16, kE4m3, kE5m2, kInt8 };

inline constexpr int kDtypeCount = 8;

/// pgtune's data lie within -range ... range - 1 where they are integers: all of int8, and as much of int32 as leaves
/// the sums of products room.
inline constexpr std::int64_t kInt8Range = 128, kInt32Range = 65536;

[[nodiscard]] std::string_view to_string(ElementType type);
/// "f32", "f16", "bf16", "int32": the types that C and D can have in some dtype. Errors (usage) list them.
[[nodiscard]] Result<ElementType> parse_output_type(std::string_view text);
[[nodiscard]] std::int64_t element_bytes(ElementType type);

[[nodiscard]] const std::vector<Dtype>& all_dtypes();
[[nodiscard]] std::string_view to_string(Dtype mode);
[[nodiscard]] Result<Dtype> parse_dtype(std::string_view text);
/// "f32, tf32, ...", for messages and help.
[[nodiscard]] const std::string& dtype_words();

[[nodiscard]] ElementType type_of_a(Dtype mode);
[[nodiscard]] ElementType type_of_b(Dtype mode);
/// Types C and D can have, the usual one first.
[[nodiscard]] const std::vector<ElementType>& output_types(Dtype mode);
/// Size in bytes of one element of A and B, which agree in every mode.
[[nodiscard]] std::int64_t element_bytes(Dtype mode);

}  // namespace pgtune
