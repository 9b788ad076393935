// SPDX-License-Identifier: MIT
// Bounds of expressions hold every value they can have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "tuner/expression/expression.hpp"

namespace pgtune::space {
namespace {

Expression parsed(const std::string& text) {
  auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << text << ": " << expression.error().text();
  return *expression;
}

/// Places of the expression's names among A, B and C.
std::vector<std::uint32_t> slots_of(const Expression& expression) {
  std::vector<std::uint32_t> slots;
  for (const std::string& name : expression.names()) slots.push_back(static_cast<std::uint32_t>(name[0] - 'A'));
  return slots;
}

std::optional<Bounds> bounds_of(const std::string& text, const std::array<Bounds, 3>& values) {
  const Expression expression = parsed(text);
  return expression.bounds(values, slots_of(expression));
}

/// An expression over A, B and C, `depth` operators deep.
std::string random_expression(std::mt19937& random, int depth) {
  const auto pick = [&](unsigned count) { return random() % count; };
  if (depth == 0) return pick(3) == 0 ? fmt::format("{}", pick(4)) : std::string(1, "ABC"[pick(3)]);
  const std::string a = random_expression(random, depth - 1), b = random_expression(random, depth - 1);
  const std::array<const char*, 16> operators{
      "+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "/", "%", "&&", "||", "min", "max", "?"};
  const std::string op = operators[pick(16)];
  if (op == "min" || op == "max") return fmt::format("{}({}, {})", op, a, b);
  if (op == "?") return fmt::format("(({}) ? ({}) : !({}))", random_expression(random, depth - 1), a, b);
  return fmt::format("(({}) {} ({}))", a, op, b);
}

class RandomBounds : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomBounds, HoldEveryValue) {
  std::mt19937 random(GetParam());
  for (int i = 0; i < 50; ++i) {
    const std::string text = random_expression(random, 1 + static_cast<int>(random() % 3));
    SCOPED_TRACE(text);
    const Expression expression = parsed(text);
    const auto slots = slots_of(expression);
    std::array<Bounds, 3> values;
    for (Bounds& value : values) {
      value.low = static_cast<std::int64_t>(random() % 5) - 1;
      value.high = value.low + static_cast<std::int64_t>(random() % 3);
    }
    const auto bounds = expression.bounds(values, slots);
    if (!bounds) continue;
    for (std::int64_t a = values[0].low; a <= values[0].high; ++a) {
      for (std::int64_t b = values[1].low; b <= values[1].high; ++b) {
        for (std::int64_t c = values[2].low; c <= values[2].high; ++c) {
          const auto value = expression.evaluate(std::array{a, b, c}, slots);
          ASSERT_TRUE(value) << value.error().text();
          EXPECT_LE(bounds->low, *value);
          EXPECT_GE(bounds->high, *value);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBounds, ::testing::Range(0U, 20U));

TEST(ExpressionBounds, AreTightWhereTermsAreIndependent) {
  const std::array<Bounds, 3> values{Bounds{1, 1}, Bounds{0, 3}, Bounds{2, 4}};
  EXPECT_EQ(bounds_of("(A != 1) + (B != 5) + (C > 1)", values), (Bounds{2, 2}));
  EXPECT_EQ(bounds_of("B * C - A", values), (Bounds{-1, 11}));
  EXPECT_EQ(bounds_of("B < C", values), (Bounds{0, 1}));
  EXPECT_EQ(bounds_of("A == 1 ? C : B", values), (Bounds{2, 4}));
}

TEST(ExpressionBounds, SayNothingWhereTheyCannotTell) {
  const std::array<Bounds, 3> values{Bounds{0, 1}, Bounds{1, 3}, Bounds{2, 2}};
  EXPECT_EQ(bounds_of("A ? B : C", values), std::nullopt);
  EXPECT_EQ(bounds_of("C / B", values), std::nullopt);
  EXPECT_EQ(bounds_of("C / (C - 2)", values), std::nullopt);
  EXPECT_TRUE(parsed("(A != 1) + B * 2 <= C").has_bounds());
  EXPECT_FALSE(parsed("A % B == 0").has_bounds());
  EXPECT_FALSE(parsed("A || B").has_bounds());
}

}  // namespace
}  // namespace pgtune::space
