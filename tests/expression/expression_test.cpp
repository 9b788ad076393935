// SPDX-License-Identifier: MIT
// Values of expressions: precedence, arithmetic, functions, short circuits.
#include "tuner/expression/expression.hpp"
#include "tests/expression/map_scope.hpp"
#include "tuner/util/identifier.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace pgtune::space {
namespace {

const MapScope kScope({{"BM", 128}, {"BN", 64}, {"ZERO", 0}, {"COPY", label_value("cp_async")}});

struct Case {
  const char* text;
  std::int64_t value;
};

class ExpressionValue : public ::testing::TestWithParam<Case> {};

TEST_P(ExpressionValue, IsRight) {
  const auto parsed = Expression::parse(GetParam().text);
  ASSERT_TRUE(parsed) << parsed.error().text();
  const auto value = parsed->evaluate(kScope);
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(*value, GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Precedence, ExpressionValue,
                         ::testing::Values(Case{"1 + 2 * 3", 7}, Case{"(1 + 2) * 3", 9}, Case{"20 - 5 - 3", 12},
                                           Case{"100 / 5 / 2", 10}, Case{"1 << 2 + 1", 8}, Case{"1 + 1 << 3 - 1", 8},
                                           Case{"1 << 2 < 5", 1}, Case{"7 % 4 * 2", 6}, Case{"1 < 2 == 2 > 1", 1},
                                           Case{"0 == 1 < 2", 0}, Case{"1 || 0 && 0", 1}, Case{"(1 || 0) && 0", 0},
                                           Case{"0 && 0 == 0", 0}, Case{"-2 * -3", 6}, Case{"- - 4", 4},
                                           Case{"!0 + 1", 2}, Case{"!(0 + 1)", 0}, Case{"!!7", 1},
                                           Case{"1 ? 2 : 3 + 10", 2}, Case{"0 ? 1 : 0 ? 2 : 3", 3},
                                           Case{"1 ? 0 ? 4 : 5 : 6", 5}, Case{"0 || 0 ? 1 : 2", 2},
                                           Case{"1 + (0 ? 1 : 2) * 3", 7}, Case{"BM/BN", 2}, Case{"-BM % 100", -28}));

INSTANTIATE_TEST_SUITE_P(Operators, ExpressionValue,
                         ::testing::Values(Case{"7 / 2", 3}, Case{"-7 / 2", -3}, Case{"-7 % 2", -1}, Case{"7 % -2", 1},
                                           Case{"-8 >> 1", -4}, Case{"1 << 62", std::int64_t{1} << 62},
                                           Case{"-1 << 63", std::numeric_limits<std::int64_t>::min()},
                                           Case{"0 << 63", 0}, Case{"3 <= 3", 1}, Case{"3 < 3", 0}, Case{"3 >= 4", 0},
                                           Case{"4 > 3", 1}, Case{"3 != 3", 0}, Case{"5 && 6", 1}, Case{"0 || 9", 1},
                                           Case{"0 || 0", 0}, Case{"4 && 0", 0}, Case{"2 && 3 && 4", 1},
                                           Case{"0 || 0 || 8", 1}, Case{"(-9223372036854775807 - 1) % -1", 0}));

INSTANTIATE_TEST_SUITE_P(Functions, ExpressionValue,
                         ::testing::Values(Case{"ceil_div(7, 2)", 4}, Case{"ceil_div(8, 2)", 4},
                                           Case{"ceil_div(-7, 2)", -3}, Case{"ceil_div(-7, -2)", 4},
                                           Case{"ceil_div(0, 5)", 0}, Case{"round_up(5, 4)", 8},
                                           Case{"round_up(8, 4)", 8}, Case{"round_up(-5, 4)", -4}, Case{"min(3, 1)", 1},
                                           Case{"min(3, 1, 2)", 1}, Case{"max(3, 1, 7, 2)", 7}, Case{"gcd(12, -18)", 6},
                                           Case{"gcd(0, 5)", 5}, Case{"abs(-3)", 3}, Case{"abs(3)", 3},
                                           Case{"is_pow2(64)", 1}, Case{"is_pow2(0)", 0}, Case{"is_pow2(-4)", 0},
                                           Case{"is_pow2(6)", 0}, Case{"max(min(BM, 100), ceil_div(BN, 3)) + 1", 101}));

INSTANTIATE_TEST_SUITE_P(Literals, ExpressionValue,
                         ::testing::Values(Case{"0x10", 16}, Case{"0XfF", 255}, Case{"0", 0},
                                           Case{"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
                                           Case{"COPY == 'cp_async'", 1}, Case{"COPY == 'ldg'", 0},
                                           Case{"'128B' == '128B'", 1}, Case{"\t( 1\n+ 2 )\r", 3}));

INSTANTIATE_TEST_SUITE_P(ShortCircuit, ExpressionValue,
                         ::testing::Values(Case{"ZERO && 1 / ZERO", 0}, Case{"1 || 1 / ZERO", 1},
                                           Case{"ZERO ? 1 / ZERO : 5", 5}, Case{"ZERO == 0 ? 6 : 1 / ZERO", 6},
                                           Case{"ZERO != 0 && BM % ZERO == 0 || BN == 64", 1},
                                           Case{"0 && UNKNOWN", 0}));

TEST(Expression, ListsNamesOnceInOrderOfAppearance) {
  const auto parsed = Expression::parse("BN * min(BM, BN) + 'BK' + TM");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->names(), (std::vector<std::string>{"BN", "BM", "TM"}));
  EXPECT_EQ(parsed->name_position(1), 9U);
  EXPECT_EQ(parsed->text(), "BN * min(BM, BN) + 'BK' + TM");
}

TEST(Expression, EvaluatesBySlot) {
  const auto parsed = Expression::parse("A - B * A");
  ASSERT_TRUE(parsed);
  const std::array<std::int64_t, 3> values{100, 2, 30};
  EXPECT_EQ(parsed->evaluate(values, std::array<std::uint32_t, 2>{2, 1}).value(), 30 - 2 * 30);
}

TEST(Expression, LongFlatChainsAreFine) {
  std::string text = "1";
  while (text.size() + 4 < Expression::kMaxLength) text += " + 1";
  const auto parsed = Expression::parse(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->evaluate(kScope).value(), static_cast<std::int64_t>((text.size() + 3) / 4));
}

TEST(Label, ValuesAreStableAndDistinct) {
  EXPECT_EQ(label_value(""), 2166136261U & 0x7FFFFFFFU);
  EXPECT_EQ(label_value("a"), 0xE40C292CU & 0x7FFFFFFFU);  // published FNV-1a test vector
  EXPECT_NE(label_value("ca"), label_value("cg"));
}

/// Random arithmetic written with every parenthesis has the value of the same tree computed here.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}
  std::pair<std::string, std::int64_t> make(int depth) {
    if (depth == 0) {
      const auto value = static_cast<std::int64_t>(random_() % 50);
      return {std::to_string(value), value};
    }
    const auto [left, a] = make(depth - 1);
    const auto [right, b] = make(depth - 1);
    switch (random_() % 6) {
      case 0:
        return {fmt::format("({} + {})", left, right), a + b};
      case 1:
        return {fmt::format("({} - {})", left, right), a - b};
      case 2:
        return {fmt::format("(({} * {}) % 1000)", left, right), (a * b) % 1000};
      case 3:
        return {fmt::format("({} < {})", left, right), a < b};
      case 4:
        return {fmt::format("({} && {})", left, right), a != 0 && b != 0};
      default:
        return {fmt::format("({} == 0 ? {} : -({}))", left, right, right), a == 0 ? b : -b};
    }
  }

 private:
  std::mt19937 random_;
};

TEST(Expression, MatchesRandomTrees) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto [text, expected] = RandomTree(seed).make(4);
    const auto parsed = Expression::parse(text);
    ASSERT_TRUE(parsed) << parsed.error().text();
    EXPECT_EQ(parsed->evaluate(kScope).value(), expected) << text;
  }
}

}  // namespace
}  // namespace pgtune::space
