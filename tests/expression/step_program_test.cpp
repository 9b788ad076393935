// SPDX-License-Identifier: MIT
// Compiled steps say what Expression::evaluate() and bounds() say, whatever is known beforehand.
#include "tuner/expression/step_program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

namespace pgtune::space {
namespace {

constexpr std::size_t kNames = 4;

/// A random expression over a to d of any operators, deep enough to need several temporaries.
std::string random_operators(std::mt19937& random, int depth) {
  const auto pick = [&](std::size_t count) { return random() % count; };
  if (depth == 0 || pick(6) == 0)
    return pick(3) == 0 ? fmt::format("{}", pick(7)) : std::string(1, static_cast<char>('a' + pick(kNames)));
  const auto part = [&] { return random_operators(random, depth - 1); };
  switch (pick(5)) {
    case 0:
      return fmt::format("({} ? {} : {})", part(), part(), part());
    case 1:
      return fmt::format("({} {} {})", part(), pick(2) == 0 ? "&&" : "||", part());
    case 2:
      return fmt::format("{}({}, {})", std::array{"min", "max", "gcd", "ceil_div", "round_up"}[pick(5)], part(),
                         part());
    case 3:
      return fmt::format("{}({})", std::array{"!", "-", "abs", "is_pow2"}[pick(4)], part());
    default:
      return fmt::format("({} {} {})", part(),
                         std::array{"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "<<", ">>"}[pick(13)],
                         part());
  }
}

class RandomSteps : public testing::TestWithParam<unsigned> {
 protected:
  std::mt19937 random_{GetParam()};

  /// Places for a to d, of which some are known; their values.
  std::vector<std::int64_t> place_names(StepMemory& memory, double known_share) {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < kNames; ++i) {
      values.push_back(static_cast<std::int64_t>(random_() % 9) - 2);
      const bool known = static_cast<double>(random_() % 100) < 100 * known_share;
      places_.push_back(memory.add_place(known ? std::optional(values.back()) : std::nullopt));
    }
    return values;
  }

  [[nodiscard]] std::vector<std::uint32_t> places_of(const Expression& expression) const {
    std::vector<std::uint32_t> out;
    for (const std::string& name : expression.names()) out.push_back(places_[static_cast<std::size_t>(name[0] - 'a')]);
    return out;
  }

  std::vector<std::uint32_t> places_;
};

TEST_P(RandomSteps, HaveTheValuesOfEvaluation) {
  for (int round = 0; round < 50; ++round) {
    places_.clear();
    const std::string text = random_operators(random_, 4);
    SCOPED_TRACE(text);
    const auto expression = Expression::parse(text);
    ASSERT_TRUE(expression) << expression.error().text();
    StepMemory memory;
    const auto values = place_names(memory, round % 3 / 2.0);
    const auto places = places_of(*expression);
    const std::uint32_t target = memory.add_place(std::nullopt);
    const std::vector<StepProgram::Step> value{{*expression, places, target}},
        rule{{*expression, places, std::nullopt}};
    const auto computes = StepProgram::compile(value, memory), decides = StepProgram::compile(rule, memory);
    auto array = memory.values();
    for (std::size_t i = 0; i < kNames; ++i) array[places_[i]] = values[i];
    const auto expected = expression->evaluate(array, places);
    if (!expected) {
      // Nothing that faults is folded away.
      EXPECT_EQ(computes.run(array.data()), StepProgram::End::kFault);
      EXPECT_EQ(decides.run(array.data()), StepProgram::End::kFault);
      continue;
    }
    EXPECT_EQ(computes.run(array.data()), StepProgram::End::kPassed);
    EXPECT_EQ(array[target], *expected);
    EXPECT_EQ(decides.run(array.data()), *expected != 0 ? StepProgram::End::kPassed : StepProgram::End::kRejected);
    auto bounds = memory.bounds();
    for (std::size_t i = 0; i < kNames; ++i) bounds[places_[i]] = {values[i], values[i]};
    EXPECT_EQ(decides.hopeless(bounds.data()), *expected == 0) << "exact bounds decide";
    for (std::size_t i = 0; i < kNames; ++i) {
      if (!memory.known()[places_[i]]) bounds[places_[i]] = {values[i] - 1, values[i] + 2};
    }
    EXPECT_FALSE(*expected != 0 && decides.hopeless(bounds.data()));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSteps, testing::Range(0U, 40U));

TEST(StepProgram, StopsAtTheFirstRuleThatIsZero) {
  StepMemory memory;
  const std::uint32_t a = memory.add_place(std::nullopt), sum = memory.add_place(std::nullopt);
  const std::vector<StepProgram::Step> steps{{Expression::parse("a > 1").value(), {a}, std::nullopt},
                                             {Expression::parse("a + 1").value(), {a}, sum},
                                             {Expression::parse("s != 4").value(), {sum}, std::nullopt}};
  const StepProgram program = StepProgram::compile(steps, memory);
  auto values = memory.values();
  const auto end_at = [&](std::int64_t value) {
    values[a] = value;
    return program.run(values.data());
  };
  EXPECT_EQ(end_at(1), StepProgram::End::kRejected);
  EXPECT_EQ(values[sum], 0);
  EXPECT_EQ(end_at(2), StepProgram::End::kPassed);
  EXPECT_EQ(values[sum], 3);
  EXPECT_EQ(end_at(3), StepProgram::End::kRejected);
}

TEST(StepProgram, HasBoundsWhereEveryOperatorHas) {
  StepMemory memory;
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < 3; ++i) all.push_back(memory.add_place(std::nullopt));
  for (const auto& [text, expected] :
       {std::pair{"7", true}, std::pair{"a", true}, std::pair{"!(a * b) + (min(b, 3) <= max(c, 1))", true},
        std::pair{"a % b", false}, std::pair{"a % b + c", false}, std::pair{"a + b % c", false},
        std::pair{"!(a / b)", false}, std::pair{"abs(a) < b", false}, std::pair{"(a ? b : c) > 1", false}}) {
    const Expression expression = Expression::parse(text).value();
    std::vector<std::uint32_t> places;
    for (const std::string& name : expression.names()) places.push_back(all[static_cast<std::size_t>(name[0] - 'a')]);
    EXPECT_EQ(StepProgram::has_bounds(expression, places, memory), expected) << text;
  }
}

TEST(StepProgram, WhatFollowsFromWhatIsKnownIsFolded) {
  StepMemory memory;
  const std::uint32_t a = memory.add_place(std::nullopt), b = memory.add_place(4);
  const auto folded = [&](const char* text) {
    const auto expression = Expression::parse(text).value();
    return StepProgram::known_value(expression, std::vector<std::uint32_t>{a, b}, memory);
  };
  EXPECT_EQ(folded("a > 2 || b == 4"), 1);
  EXPECT_EQ(folded("a > 2 && b != 4"), 0);
  for (const char* text : {"a / a > 2 || b == 4", "(a ? 1 / a : 2) && b != 4", "(a ? 2 : 1 / a) && b != 4",
                           "(1 / a ? 2 : 3) && b != 4", "(1 / a && a) && b != 4", "(a || 1 / a) && b != 4",
                           "(1 / a < a) && b != 4", "(a < 1 / a) && b != 4", "!(1 / a) && b != 4"})
    EXPECT_EQ(folded(text), std::nullopt) << text << ": a may be 0";
  EXPECT_EQ(
      StepProgram::unknown_places(Expression::parse("a * 0 + b").value(), std::vector<std::uint32_t>{a, b}, memory),
      std::vector<std::uint32_t>{a});
}

}  // namespace
}  // namespace pgtune::space
