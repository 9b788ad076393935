// SPDX-License-Identifier: MIT
#include "tuner/model/dtype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tuner/model/rounding.hpp"

namespace pgtune {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using enum ElementType;

TEST(Dtype, WordsAreReadBack) {
  for (const Dtype dtype : all_dtypes()) EXPECT_EQ(parse_dtype(to_string(dtype)).value(), dtype);
  EXPECT_EQ(dtype_words(), "f32, tf32, tf32x3, f16, bf16, e4m3, e5m2, int8");
  EXPECT_THAT(parse_dtype("f31").error().message, HasSubstr("'f31'; this pgtune knows: " + dtype_words()));
  for (const auto& [elsewhere, name] :
       {std::pair{"fp16", "f16"}, std::pair{"half", "f16"}, std::pair{"float", "f32"}, std::pair{"fp8", "e4m3"}})
    EXPECT_THAT(parse_dtype(elsewhere).error().message, HasSubstr(std::string("did you mean '") + name + "'?"));
}

struct Types {
  Dtype dtype;
  ElementType a, b;
  std::vector<ElementType> outputs;
  std::int64_t bytes;
};

TEST(Dtype, EachHasItsTypes) {
  const std::vector<Types> expected{{Dtype::kF32, kFloat32, kFloat32, {kFloat32}, 4},
                                    {Dtype::kTf32, kFloat32, kFloat32, {kFloat32}, 4},
                                    {Dtype::kTf32x3, kFloat32, kFloat32, {kFloat32}, 4},
                                    {Dtype::kF16, kFloat16, kFloat16, {kFloat16, kFloat32}, 2},
                                    {Dtype::kBf16, kBfloat16, kBfloat16, {kBfloat16, kFloat32}, 2},
                                    {Dtype::kE4m3, kE4m3, kE4m3, {kBfloat16}, 1},
                                    {Dtype::kE5m2, kE5m2, kE4m3, {kBfloat16}, 1},
                                    {Dtype::kInt8, kInt8, kInt8, {kInt32}, 1}};
  ASSERT_EQ(expected.size(), all_dtypes().size());
  for (const Types& types : expected) {
    SCOPED_TRACE(to_string(types.dtype));
    EXPECT_EQ(type_of_a(types.dtype), types.a);
    EXPECT_EQ(type_of_b(types.dtype), types.b);
    EXPECT_THAT(output_types(types.dtype), ElementsAreArray(types.outputs));
    EXPECT_EQ(element_bytes(types.dtype), types.bytes);
    EXPECT_EQ(element_bytes(types.b), types.bytes);
    EXPECT_EQ(traits(types.dtype).is_integer(), types.dtype == Dtype::kInt8);
    EXPECT_EQ(traits(types.dtype).accumulator, types.dtype == Dtype::kInt8 ? kInt32 : kFloat32);
  }
}

TEST(Dtype, WhatIsNoneIsNotTakenForOne) {
  EXPECT_THROW(static_cast<void>(traits(static_cast<Dtype>(kDtypeCount))), std::out_of_range);
  EXPECT_THROW(static_cast<void>(traits(static_cast<ElementType>(kElementTypeCount))), std::out_of_range);
  EXPECT_THROW(static_cast<void>(element_bytes(static_cast<TensorType>(-1))), std::out_of_range);
}

TEST(OutputTypes, AreThoseOfSomeDtype) {
  for (const ElementType type : {kFloat32, kFloat16, kBfloat16, kInt32})
    EXPECT_EQ(parse_output_type(to_string(type)).value(), type);
  for (const char* other : {"e4m3", "e5m2", "int8", "f64", ""}) {
    const auto parsed = parse_output_type(other);
    ASSERT_FALSE(parsed) << other;
    EXPECT_THAT(parsed.error().message, HasSubstr("C and D can be f32, f16, bf16 or int32"));
  }
}

struct Element {
  ElementType type;
  const char* name;
  std::int64_t bytes;
  TensorType tensor_type;
  std::int64_t data_range;
};

TEST(ElementTypes, EachHasItsRow) {
  const std::vector<Element> expected{
      {kFloat32, "f32", 4, TensorType::kFloat32, 0},    {kFloat16, "f16", 2, TensorType::kFloat16, 0},
      {kBfloat16, "bf16", 2, TensorType::kBfloat16, 0}, {kE4m3, "e4m3", 1, TensorType::kUint8, 0},
      {kE5m2, "e5m2", 1, TensorType::kUint8, 0},        {kInt8, "int8", 1, TensorType::kUint8, 128},
      {kInt32, "int32", 4, TensorType::kInt32, 65536}};
  ASSERT_EQ(expected.size(), all_element_types().size());
  for (const Element& element : expected) {
    SCOPED_TRACE(element.name);
    EXPECT_EQ(to_string(element.type), element.name);
    EXPECT_EQ(element_bytes(element.type), element.bytes);
    EXPECT_EQ(traits(element.type).tensor_type, element.tensor_type);
    EXPECT_EQ(element_bytes(element.tensor_type), element.bytes);
    EXPECT_EQ(traits(element.type).data_range, element.data_range);
    if (!traits(element.type).is_integer()) {
      EXPECT_EQ(1 + traits(element.type).exponent_bits + traits(element.type).mantissa_bits, 8 * element.bytes);
    }
  }
}

TEST(ElementTypes, TensorTypesAreReadBack) {
  std::vector<std::string_view> words;
  for (const auto& [type, word] : enum_table(TensorType{})) {
    words.push_back(word);
    EXPECT_EQ(enumerator_of<TensorType>(word), type);
  }
  EXPECT_THAT(words, testing::ElementsAre("f32", "tf32", "f16", "bf16", "u8", "int32"));
  EXPECT_FALSE(enumerator_of<TensorType>("operand"));
  EXPECT_EQ(element_bytes(TensorType::kTfloat32), 4);
}

/// Equal, or both NaN.
bool same(double left, double right) { return left == right || (std::isnan(left) && std::isnan(right)); }

TEST(ElementValue, IsTheNumberTheBitsAre) {
  for (std::uint64_t pattern = 0; pattern < 1ULL << 32; pattern += 0x10001ULL) {
    const auto bits = static_cast<std::uint32_t>(pattern);
    ASSERT_TRUE(same(element_value(kFloat32, bits), std::bit_cast<float>(bits))) << std::hex << bits;
    ASSERT_EQ(element_value(kInt32, bits), std::bit_cast<std::int32_t>(bits)) << std::hex << bits;
  }
  for (std::uint32_t bits = 0; bits < 1U << 16; ++bits)
    ASSERT_TRUE(same(element_value(kBfloat16, bits), std::bit_cast<float>(bits << 16))) << std::hex << bits;
  for (std::uint32_t bits = 0; bits < 1U << 8; ++bits)
    ASSERT_EQ(element_value(kInt8, bits), static_cast<std::int8_t>(bits)) << std::hex << bits;
}

TEST(ElementValue, OfTheLargestPatternIsTheLargestNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(element_value(kFloat32, 0x7f7fffff), traits(kFloat32).largest);
  EXPECT_EQ(element_value(kFloat16, 0x7bff), traits(kFloat16).largest);
  EXPECT_EQ(element_value(kFloat16, 0xfc00), -infinity);
  EXPECT_EQ(element_value(kBfloat16, 0x7f7f), traits(kBfloat16).largest);
  EXPECT_EQ(element_value(kE5m2, 0x7b), traits(kE5m2).largest);
  EXPECT_EQ(element_value(kE5m2, 0x7c), infinity);
  EXPECT_EQ(element_value(kE4m3, 0xfe), -traits(kE4m3).largest);  // has no infinity
  EXPECT_TRUE(std::isnan(element_value(kE4m3, 0x7f)));
  EXPECT_EQ(element_value(kInt8, 0x7f), traits(kInt8).largest);
  EXPECT_EQ(element_value(kInt32, 0x7fffffff), traits(kInt32).largest);
}

TEST(Rounding, BlocksAddARoundingEach) {
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kBf16}) {  // whose error does not grow with K, and does
    const double of_block = sum_error(dtype, 128, 0);
    for (const auto& [k, blocks] : {std::pair{1, 1}, {128, 1}, {129, 2}, {256, 2}})
      EXPECT_EQ(blocked_sum_error(dtype, k, 128),
                (k < 128 ? sum_error(dtype, k, 0) : of_block) + summation_bound(blocks, 0x1p-24, 6))
          << k;
  }
}

TEST(Rounding, IsHalfTheLastPlaceOfWhatIsShorterThanFloat32) {
  EXPECT_EQ(unit_roundoff(kBfloat16), 0x1p-8);
  EXPECT_EQ(unit_roundoff(kFloat16), 0x1p-11);
  EXPECT_EQ(unit_roundoff(kFloat32), 0);
  EXPECT_EQ(unit_roundoff(kInt32), 0);
}

TEST(Rounding, HalfTheLeastDistanceOfTwoResultsIsNoError) {
  EXPECT_EQ(absolute_error(kInt32), 0.5);
  EXPECT_EQ(absolute_error(kFloat16), 0x1p-25);
}

}  // namespace
}  // namespace pgtune
