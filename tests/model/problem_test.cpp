// SPDX-License-Identifier: MIT
#include "tuner/model/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pgtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Problem problem_of(const char* shape, const char* layout = "nn") {
  return parse_shape(shape)
      .and_then([&](Problem problem) { return with_layout(problem, layout); })
      .and_then(with_default_strides)
      .value();
}

TEST(ParseShape, ReadsMNKInThatOrder) {
  const Problem problem = parse_shape("16x4096X7").value();
  EXPECT_EQ(problem.m, 16);
  EXPECT_EQ(problem.n, 4096);
  EXPECT_EQ(problem.k, 7);
}

struct BadShape {
  const char* text;
  const char* message;
};

class ParseShapeRefuses : public testing::TestWithParam<BadShape> {};

TEST_P(ParseShapeRefuses, NamesTheCauseAndTheForm) {
  const auto problem = parse_shape(GetParam().text);
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(problem.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(problem.error().message, HasSubstr("4096x4096x4096"));
}

INSTANTIATE_TEST_SUITE_P(Shapes, ParseShapeRefuses,
                         testing::Values(BadShape{"4096x4096", "has 2 extents, not 3"},
                                         BadShape{"1x1x1x1", "has 4 extents, not 3"}, BadShape{"0x1x1", "M is 0"},
                                         BadShape{"1x-1x1", "N is -1"}, BadShape{"axbxc", "M is 'a'"},
                                         BadShape{"", "has 1 extent, not 3"}, BadShape{"1x1x1 ", "K is '1 '"},
                                         BadShape{"1x+2x3", "N is '+2'"},
                                         BadShape{"1x1x99999999999999999999", "does not fit 64 bits"}));

TEST(WithLayout, SetsTransposesAndRefusesOthers) {
  const Problem problem = problem_of("2x3x5", "tn");
  EXPECT_TRUE(problem.trans_a);
  EXPECT_FALSE(problem.trans_b);
  EXPECT_EQ(problem.layout(), "tn");
  for (const char* bad : {"", "n", "nnn", "NN", "nx"}) EXPECT_FALSE(with_layout(problem, bad)) << bad;
}

TEST(WithDefaultStrides, PacksRowsAsStored) {
  const Problem nn = problem_of("2x3x5", "nn");
  EXPECT_EQ(nn.lda, 5);
  EXPECT_EQ(nn.ldb, 3);
  EXPECT_EQ(nn.ldc, 3);
  const Problem tt = problem_of("2x3x5", "tt");
  EXPECT_EQ(tt.lda, 2);
  EXPECT_EQ(tt.ldb, 5);
  EXPECT_EQ(tt.rows_a(), 5);
  EXPECT_EQ(tt.rows_b(), 3);
}

TEST(WithDefaultStrides, RefusesShortLeadingDimensionsByName) {
  Problem problem = parse_shape("8x8x8").value();
  problem.ldb = 7;
  const auto checked = with_default_strides(problem);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("ldb is 7"));
}

TEST(WithDefaultStrides, RefusesCountsPast64Bits) {
  for (const char* shape : {"4294967296x4294967296x4294967296", "3037000500x3037000500x1", "9223372036854775807x1x1",
                            "2097152x2097152x2097152"}) {
    const auto checked = parse_shape(shape).and_then(with_default_strides);
    ASSERT_FALSE(checked) << shape;
    EXPECT_THAT(checked.error().message, HasSubstr("64 bits")) << shape;
  }
}

TEST(WithDefaultStrides, RefusesNonsenseScalarsAndBatch) {
  Problem problem = parse_shape("8x8x8").value();
  problem.batch = 0;
  EXPECT_FALSE(with_default_strides(problem));
  problem.batch = 1;
  problem.alpha = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(with_default_strides(problem));
}

std::string refused_scalars(const char* shape, double alpha, double beta, Dtype dtype = Dtype::kF32) {
  Problem problem = parse_shape(shape).value();
  problem.dtype = dtype;
  problem.alpha = alpha;
  problem.beta = beta;
  const auto checked = with_default_strides(problem);
  return checked ? std::string() : checked.error().message;
}

TEST(WithDefaultStrides, RefusesScalarsThatFloat32DoesNotHold) {
  EXPECT_THAT(refused_scalars("512x512x512", 1e39, 0),
              HasSubstr("alpha is used as float32: 1e+39 is beyond f32, whose numbers end at 3.4"));
  EXPECT_THAT(refused_scalars("512x512x512", 1, -1e39), HasSubstr("beta is used as float32: -1e+39 is beyond"));
  EXPECT_THAT(refused_scalars("512x512x512", 1e-60, 0), HasSubstr("1e-60 is 0 in f32"));
  EXPECT_EQ(refused_scalars("512x512x512", 1e-40, 0), "") << "a subnormal number";
  EXPECT_EQ(refused_scalars("512x512x512", 0, 0.3), "");
}

TEST(WithDefaultStrides, RefusesScalarsWhoseResultsTheOutputDoesNotHold) {
  EXPECT_THAT(refused_scalars("512x512x512", 1e38, 0), HasSubstr("alpha is 1e+38: results with K 512 would be beyond"));
  EXPECT_EQ(refused_scalars("512x512x512", 1e36, 1e37), "");
  EXPECT_THAT(refused_scalars("512x512x512", 1, 3e38), HasSubstr("beta is 3e+38"));
  EXPECT_THAT(refused_scalars("512x512x400", 1000, 0, Dtype::kF16),
              HasSubstr("beyond f16, whose numbers end at 65504"));
  EXPECT_EQ(refused_scalars("512x512x400", 800, 0, Dtype::kF16), "");
  EXPECT_EQ(refused_scalars("64x64x1073741824", 1, 0, Dtype::kF16), "") << "not the scalar's fault";
}

TEST(ElementTypes, SayWhyANumberIsNoneOfTheirs) {
  EXPECT_EQ(why_not_in(ElementType::kInt8, -128), std::nullopt);
  EXPECT_THAT(why_not_in(ElementType::kInt8, -129).value_or(""), HasSubstr("end at -128"));
  EXPECT_THAT(why_not_in(ElementType::kInt8, 128).value_or(""), HasSubstr("end at 127"));
  EXPECT_EQ(why_not_in(ElementType::kInt32, 2.5), "2.5 is no whole number");
  EXPECT_EQ(why_not_in(ElementType::kE4m3, 448), std::nullopt);
  EXPECT_NE(why_not_in(ElementType::kE4m3, 449), std::nullopt);
  EXPECT_EQ(why_not_in(ElementType::kE4m3, 0x1p-9), std::nullopt) << "the smallest";
  EXPECT_NE(why_not_in(ElementType::kE4m3, 0x1p-10), std::nullopt) << "rounds to even, which is 0";
  EXPECT_NE(why_not_in(ElementType::kFloat32, std::numeric_limits<double>::infinity()), std::nullopt);
}

TEST(Problem, CountsFlopsAndBytes) {
  Problem problem = problem_of("2x3x5");
  EXPECT_DOUBLE_EQ(problem.flops(), 60);
  EXPECT_EQ(problem.operand_bytes(), 4 * (10 + 15 + 6));
  problem.beta = 1;
  EXPECT_EQ(problem.operand_bytes(), 4 * (10 + 15 + 6 + 6));
}

TEST(Problem, KeyTellsEveryFieldAndTitleOnlyTheUnusual) {
  Problem problem = problem_of("4096x4096x4096");
  EXPECT_EQ(problem.key(), "f32 nn 4096x4096x4096 b1 ld4096,4096,4096 a1 b0");
  EXPECT_EQ(problem.title(), "4096x4096x4096 f32 nn");
  const std::string plain = problem.key();
  problem.beta = 0.5;
  EXPECT_NE(problem.key(), plain);
  EXPECT_EQ(problem.title(), "4096x4096x4096 f32 nn beta 0.5");
  problem.lda = 5000;
  EXPECT_THAT(problem.title(), HasSubstr("ld 5000,4096,4096"));
}

std::vector<std::int64_t> alignments(const Problem& problem) {
  std::vector<std::int64_t> out;
  for (const ProblemFact& fact : problem.facts()) {
    if (std::string_view(fact.name).starts_with("ALIGN_")) out.push_back(fact.value);
  }
  return out;
}

TEST(Problem, RowsOfEveryMatrixOfABatchAreAligned) {
  Problem problem = problem_of("3x16x64");  // A has rows of 64 f32, B and C of 16
  EXPECT_THAT(alignments(problem), ElementsAre(256, 64, 64));
  problem.ldc = 18;
  EXPECT_THAT(alignments(problem), ElementsAre(256, 64, 8));
  problem.batch = 2;
  EXPECT_THAT(alignments(problem), ElementsAre(256, 64, 8));
}

Problem bf16_problem(const char* shape) {
  Problem problem = problem_of(shape);
  problem.dtype = Dtype::kBf16;
  return problem;
}

TEST(Problem, AnOutputTypeShowsOnlyWhereItIsNotTheUsualOne) {
  Problem problem = bf16_problem("8x16x32");
  EXPECT_EQ(problem.key(), "bf16 nn 8x16x32 b1 ld32,16,16 a1 b0");
  EXPECT_EQ(problem.type_of_c(), ElementType::kBfloat16);
  const Problem plain = problem;
  problem.output = ElementType::kFloat32;
  EXPECT_EQ(problem.key(), plain.key() + " out f32");
  EXPECT_EQ(problem.title(), "8x16x32 bf16 nn out f32");
  EXPECT_NE(with_default_strides(problem).value(), plain);
  // Naming the usual type makes no other problem.
  problem.output = ElementType::kBfloat16;
  EXPECT_EQ(with_default_strides(problem).value(), plain);
}

TEST(Problem, OutputTypesOfOtherModesAreRefusedWithTheReason) {
  const auto refused = [](Dtype dtype, ElementType output) {
    Problem problem = problem_of("8x16x32");
    problem.dtype = dtype;
    problem.output = output;
    const auto checked = with_default_strides(problem);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(refused(Dtype::kF16, ElementType::kFloat32), "");
  EXPECT_THAT(refused(Dtype::kF16, ElementType::kBfloat16), HasSubstr("f16 problems have no bf16 output"));
  EXPECT_THAT(refused(Dtype::kF16, ElementType::kBfloat16), HasSubstr("C and D can be f16 or f32"));
  EXPECT_THAT(refused(Dtype::kE4m3, ElementType::kFloat32), HasSubstr("C and D can be bf16"));
  EXPECT_THAT(refused(Dtype::kInt8, ElementType::kFloat32), HasSubstr("C and D can be int32"));
  EXPECT_THAT(refused(Dtype::kF32, ElementType::kFloat16), HasSubstr("C and D can be f32"));
}

TEST(Problem, AChainedOneIsAnotherProblemAndSaysSo) {
  const Problem alone = with_default_strides(parse_shape("16x4096x4096").value()).value();
  Problem chained = alone;
  chained.chained = true;
  EXPECT_NE(chained, alone);
  EXPECT_EQ(chained.key(), alone.key() + " chained");
  EXPECT_EQ(chained.title(), alone.title() + " chained");
}

std::string refused_int8(const char* shape, double alpha = 1, double beta = 0, const char* epilogue = "none") {
  Problem problem = parse_shape(shape).value();
  problem.dtype = Dtype::kInt8;
  problem.alpha = alpha;
  problem.beta = beta;
  problem.epilogue = parse_epilogue(epilogue).value();
  const auto checked = with_default_strides(problem);
  return checked ? std::string() : checked.error().message;
}

TEST(Problem, IntegersTakeWholeScalars) {
  EXPECT_EQ(refused_int8("8x8x8", -2, 3), "");
  EXPECT_THAT(refused_int8("8x8x8", 2.5), HasSubstr("alpha is 2.5, but int8 problems are computed in whole numbers; "
                                                    "give --alpha 3"));
  EXPECT_THAT(refused_int8("8x8x8", 1, -0.25), HasSubstr("give --beta 0"));
}

TEST(Problem, SumsOfIntegersCannotLeaveInt32) {
  // The largest product is (-128) (-128), and C as pgtune makes it is -65536 at most.
  EXPECT_EQ(refused_int8("8x8x131071"), "");
  EXPECT_THAT(refused_int8("8x8x131072"), HasSubstr("K is 131072, but sums of more than 131071 int8 products"));
  EXPECT_EQ(refused_int8("8x8x131067", 1, -1), "");
  EXPECT_THAT(refused_int8("8x8x131068", 1, -1), HasSubstr("more than 131067 int8 products"));
  EXPECT_EQ(refused_int8("8x8x43690", -3), "");
  EXPECT_THAT(refused_int8("8x8x43691", -3), HasSubstr("(with alpha -3 and beta 0)"));
  EXPECT_THAT(refused_int8("8x8x131072", 0), HasSubstr("131071"));  // the sum itself, whatever becomes of it
  EXPECT_THAT(refused_int8("8x8x1", 1, 32768), HasSubstr("too large"));
}

TEST(Problem, IntegersTakeNoEpilogue) {
  EXPECT_THAT(refused_int8("8x8x8", 1, 0, "bias,relu"), HasSubstr("leave out the epilogue bias+relu"));
}

TEST(Problem, CountsTheBytesOfEachType) {
  Problem problem = bf16_problem("2x3x5");
  EXPECT_EQ(problem.operand_bytes(), 2 * (10 + 15 + 6));
  problem.output = ElementType::kFloat32;
  problem.beta = 1;
  EXPECT_EQ(problem.operand_bytes(), 2 * (10 + 15) + 4 * (6 + 6));
  problem = problem_of("2x3x5");
  problem.dtype = Dtype::kE4m3;
  EXPECT_EQ(problem.operand_bytes(), 10 + 15 + 2 * 6);
  problem.dtype = Dtype::kInt8;
  EXPECT_EQ(problem.operand_bytes(), 10 + 15 + 4 * 6);
}

TEST(Problem, SpeedIsInTeraflopsPerSecond) {
  EXPECT_DOUBLE_EQ(problem_of("1000x1000x1000").speed(0.5), 4e-3);
  EXPECT_EQ(problem_of("1000x1000x1000").speed(0), 0);
}

TEST(ShapeRange, HasTheLargestM) {
  const auto range = parse_shape_range("1..8192x512x256");
  ASSERT_TRUE(range) << range.error().text();
  EXPECT_EQ(range->first_m, 1);
  EXPECT_EQ(range->shape.shape(), "8192x512x256");
  const auto one = parse_shape_range("8192x512x256");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->first_m, std::nullopt);
  EXPECT_EQ(parse_shape_range("7..7x1x1").value().first_m, 7);
}

TEST(ShapeRange, SaysWhatIsWrong) {
  for (const auto& [text, message] : {std::pair{"9..8x4x4", "M goes from 9 down to 8"},
                                      {"..8x4x4", "M is ''"},
                                      {"0..8x4x4", "M is 0"},
                                      {"1..x4x4", "M is ''"},
                                      {"1..8x4", "has 2 extents"},
                                      {"1...8x4x4", "M is '.8'"},
                                      {"4x1..8x4", "M is '4x1'"}}) {
    const auto range = parse_shape_range(text);
    ASSERT_FALSE(range) << text;
    EXPECT_NE(range.error().message.find(message), std::string::npos) << range.error().message;
  }
}

}  // namespace
}  // namespace pgtune
