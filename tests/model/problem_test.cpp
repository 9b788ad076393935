// SPDX-License-Identifier: MIT
#include "tuner/model/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pgtune {
namespace {

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

}  // namespace
}  // namespace pgtune
