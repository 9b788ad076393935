// SPDX-License-Identifier: MIT
#include "tuner/model/dtype.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tuner/util/enum_table.hpp"

namespace pgtune {
namespace {

using enum ElementType;

/// CUDA cores round each addition to the nearest float32.
constexpr double kRounded = kUnitRoundoffFloat32;

/// Tensor cores align the products and the running sum, add them and cut the rest off instead of rounding it (Fasi,
/// Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 2021), so that one
/// addition loses up to a whole unit in the last place of a float32.
constexpr double kCutOff = 2 * kRounded;

/// Both operands of a tf32 product keep 10 mantissa bits. Cut off, which tensor cores do with float32 they are given,
/// each loses up to 2^-10 of itself, and the product 2^-9.
constexpr double kTf32Product = 0x1p-9;

/// Split into a high and a low tf32 part, an operand loses what the low part cannot hold: 3 units of 2^-23 at most
/// where both parts are cut off, the product of the low parts is left out, 2^-20 then, and the product loses less than
/// 2^-19. (Rounded parts lose 2^-21: Markidis et al., "NVIDIA tensor core programmability, performance and precision",
/// IPDPSW 2018, and Ootomo and Yokota, "Recovering single precision accuracy from tensor cores", IJHPCA 2022, use the
/// scheme.)
constexpr double kTf32x3Product = 0x1p-19;

/// Hopper's tensor cores keep 13 bits after the point of the largest addend when they add e4m3 and e5m2 products to
/// their sum (fast accumulation). A sum has K such errors, of random sign, in units of a running sum that is about S /
/// sqrt(K) long: in S they hardly depend on K. The factor 8 is twice what cuBLASLt's sums were seen to need on an H200:
/// 4.3 at most, K from 32 to 32768, uniform and normal data, four million elements each, written as float32.
constexpr double kFastSum = 8 * 0x1p-13;

constexpr std::array kOnlyFloat32{kFloat32}, kOnlyBfloat16{kBfloat16}, kOnlyInt32{kInt32};
constexpr std::array kFloat16OrFloat32{kFloat16, kFloat32}, kBfloat16OrFloat32{kBfloat16, kFloat32};

// clang-format off
constexpr std::array<DtypeTraits, kDtypeCount> kDtypes{{
    // dtype           name      A          B          C and D             sums      addition  product         sum
    {Dtype::kF32,    "f32",    kFloat32,  kFloat32,  kOnlyFloat32,       kFloat32, {kRounded, 0,              0}},
    {Dtype::kTf32,   "tf32",   kFloat32,  kFloat32,  kOnlyFloat32,       kFloat32, {kCutOff,  kTf32Product,   0}},
    {Dtype::kTf32x3, "tf32x3", kFloat32,  kFloat32,  kOnlyFloat32,       kFloat32, {kCutOff,  kTf32x3Product, 0}},
    {Dtype::kF16,    "f16",    kFloat16,  kFloat16,  kFloat16OrFloat32,  kFloat32, {kCutOff,  0,              0}},
    {Dtype::kBf16,   "bf16",   kBfloat16, kBfloat16, kBfloat16OrFloat32, kFloat32, {kCutOff,  0,              0}},
    {Dtype::kE4m3,   "e4m3",   kE4m3,     kE4m3,     kOnlyBfloat16,      kFloat32, {0,        0,              kFastSum}},
    {Dtype::kE5m2,   "e5m2",   kE5m2,     kE4m3,     kOnlyBfloat16,      kFloat32, {0,        0,              kFastSum}},
    // Float64 and int32 both hold every sum.
    {Dtype::kInt8,   "int8",   kInt8,     kInt8,     kOnlyInt32,         kInt32,   {0,        0,              0}},
}};
// clang-format on
static_assert(one_row_each(kDtypes, &DtypeTraits::dtype));

bool is_output(ElementType type) {
  return std::any_of(kDtypes.begin(), kDtypes.end(), [&](const DtypeTraits& row) {
    return std::find(row.outputs.begin(), row.outputs.end(), type) != row.outputs.end();
  });
}

}  // namespace

const DtypeTraits& traits(Dtype dtype) { return row_of(kDtypes, dtype); }

const std::vector<Dtype>& all_dtypes() {
  static const std::vector<Dtype> dtypes = column(kDtypes, &DtypeTraits::dtype);
  return dtypes;
}

const std::string& dtype_words() {
  static const std::string words = fmt::format("{}", fmt::join(column(kDtypes, &DtypeTraits::name), ", "));
  return words;
}

namespace {

/// What other programs call them.
constexpr std::pair<std::string_view, std::string_view> kNamesElsewhere[] = {
    {"fp32", "f32"}, {"float", "f32"},     {"float32", "f32"},   {"single", "f32"},
    {"fp16", "f16"}, {"half", "f16"},      {"float16", "f16"},   {"bfloat16", "bf16"},
    {"fp8", "e4m3"}, {"fp8_e4m3", "e4m3"}, {"fp8_e5m2", "e5m2"}, {"i8", "int8"}};

}  // namespace

Result<Dtype> parse_dtype(std::string_view text) {
  for (const DtypeTraits& row : kDtypes) {
    if (row.name == text) return row.dtype;
  }
  for (const auto& [elsewhere, name] : kNamesElsewhere) {
    if (elsewhere == text)
      return fail(ErrorKind::kUsage, fmt::format("unknown dtype '{}'; did you mean '{}'? This pgtune knows: {}", text,
                                                 name, dtype_words()));
  }
  return fail(ErrorKind::kUsage, fmt::format("unknown dtype '{}'; this pgtune knows: {}", text, dtype_words()));
}

Result<ElementType> parse_output_type(std::string_view text) {
  std::vector<std::string_view> words;
  for (const ElementType type : all_element_types()) {
    if (!is_output(type)) continue;
    if (to_string(type) == text) return type;
    words.push_back(to_string(type));
  }
  const std::string_view last = words.back();
  words.pop_back();
  return fail(ErrorKind::kUsage,
              fmt::format("unknown output type '{}'; C and D can be {} or {}", text, fmt::join(words, ", "), last));
}

}  // namespace pgtune
