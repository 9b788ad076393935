// SPDX-License-Identifier: MIT
// What expressions refuse, and that the caret stands under the right character.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/expression/expression.hpp"

namespace pgtune::space {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ZeroScope : public Scope {
 public:
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const override {
    return name == "ZERO" ? std::optional<std::int64_t>(0) : name == "BIG" ? std::optional(INT64_MAX) : std::nullopt;
  }
};

struct Bad {
  const char* text;
  const char* caret;    ///< blanks, then '^', to be read against `text`
  const char* message;  ///< part of the first line
};

std::string error_of(const std::string& text) {
  const auto parsed = Expression::parse(text);
  if (!parsed) return parsed.error().message;
  const auto value = parsed->evaluate(ZeroScope());
  return value ? "no error" : value.error().message;
}

class ExpressionError : public ::testing::TestWithParam<Bad> {};

TEST_P(ExpressionError, PointsAtTheCharacter) {
  const Bad& bad = GetParam();
  const std::string message = error_of(bad.text);
  const std::string first_line = message.substr(0, message.find('\n'));
  EXPECT_THAT(first_line, HasSubstr(bad.message));
  EXPECT_EQ(message.substr(first_line.size()), fmt::format("\n  {}\n  {}", bad.text, bad.caret)) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, ExpressionError,
    ::testing::Values(Bad{"", "^", "empty"}, Bad{"1 +", "   ^", "ends where a value"},  //
                      Bad{"1 + * 2", "    ^", "expected a number, name"}, Bad{"-", " ^", "ends where a value"},
                      Bad{"1 - !)", "     ^", "expected a number, name"}, Bad{"(1 + 2", "      ^", "expected ')'"},
                      Bad{"1 2", "  ^", "expected an operator"}, Bad{"1 + 2)", "     ^", "expected an operator"},
                      Bad{"BM = 2", "   ^", "'=='"}, Bad{"1 & 2", "  ^", "'&&'"}, Bad{"1 | 2", "  ^", "'||'"},
                      Bad{"1 ? 2", "     ^", "':'"}, Bad{"1 # 2", "  ^", "unexpected character"},
                      Bad{"+1", "^", "unary '+'"}, Bad{"1.5", " ^", "only integers"},
                      Bad{"1 < 2 < 3", "      ^", "do not chain"}, Bad{"1 == 2 != 3", "       ^", "do not chain"}));

INSTANTIATE_TEST_SUITE_P(Literals, ExpressionError,
                         ::testing::Values(Bad{"1 + 9223372036854775808", "    ^", "64 bits"},
                                           Bad{"12ab", "  ^", "not an integer"}, Bad{"0x", " ^", "not an integer"},
                                           Bad{"0xfg", "   ^", "not an integer"}, Bad{"1 + 010", "    ^", "octal"},
                                           Bad{"COPY == 'ldg", "        ^", "closing quote"},
                                           Bad{"COPY == 'l-g'", "          ^", "letters, digits"},
                                           Bad{"1 + ''", "    ^", "empty label"},
                                           Bad{"\"ldg\"", "^", "single quotes"}));

INSTANTIATE_TEST_SUITE_P(
    Functions, ExpressionError,
    ::testing::Values(Bad{"1 + ceildiv(1, 2)", "    ^", "unknown function 'ceildiv'; did you mean 'ceil_div'?"},
                      Bad{"ceil_div(1)", "^", "takes 2 arguments"}, Bad{"min(1)", "^", "at least 2 arguments"},
                      Bad{"abs(1, 2)", "^", "takes 1 argument"}, Bad{"gcd(1, 2, 3)", "^", "takes 2 arguments"},
                      Bad{"max(1 2)", "      ^", "expected ',' or ')'"}, Bad{"max()", "^", "at least 2"},
                      Bad{"min(1,)", "      ^", "expected a number"}));

INSTANTIATE_TEST_SUITE_P(
    Evaluation, ExpressionError,
    ::testing::Values(Bad{"1 + 5 / ZERO", "      ^", "division by zero"}, Bad{"5 % ZERO", "  ^", "division by zero"},
                      Bad{"2 * ceil_div(5, ZERO)", "    ^", "division by zero"}, Bad{"1 + BIG", "  ^", "64 bits"},
                      Bad{"-1 - BIG - 1", "         ^", "64 bits"}, Bad{"BIG * 2", "    ^", "64 bits"},
                      Bad{"-(-1 - BIG)", "^", "64 bits"}, Bad{"abs(-1 - BIG)", "^", "64 bits"},
                      Bad{"(-1 - BIG) / -1", "           ^", "64 bits"}, Bad{"gcd(-1 - BIG, 0)", "^", "64 bits"},
                      Bad{"round_up(BIG, 64)", "^", "64 bits"}, Bad{"round_up(1, ZERO)", "^", "at least 1"},
                      Bad{"1 << 63", "  ^", "64 bits"}, Bad{"1 << 64", "  ^", "between 0 and 63"},
                      Bad{"1 >> -1", "  ^", "between 0 and 63"}, Bad{"1 + NOPE * 2", "    ^", "unknown name 'NOPE'"},
                      Bad{"1 && 1 / ZERO", "       ^", "division by zero"}));

TEST(ExpressionLimits, DepthIsBounded) {
  const std::string deep = std::string(1000, '(') + "1" + std::string(1000, ')');
  EXPECT_THAT(error_of(deep), StartsWith("nested more than 64 deep"));
  EXPECT_THAT(error_of(std::string(2000, '!') + "1"), StartsWith("nested more than 64 deep"));
  EXPECT_THAT(error_of(std::string(2000, '-') + "1"), StartsWith("nested more than 64 deep"));
  std::string conditionals;
  for (int i = 0; i < 500; ++i) conditionals += "1?1:";
  EXPECT_THAT(error_of(conditionals + "1"), StartsWith("nested more than 64 deep"));
  EXPECT_EQ(error_of(std::string(60, '(') + "1" + std::string(60, ')')), "no error");
}

TEST(ExpressionLimits, PendingOperandsAreBounded) {
  std::string text, closing;
  for (int i = 0; i < 63; ++i) {
    text += "1==1<1<<1+1*(";
    closing += ")";
  }
  EXPECT_THAT(error_of(text + "1" + closing), StartsWith("too many pending operations"));
  std::string conditionals = "1";
  for (int i = 0; i < 300; ++i) conditionals += "+(1?2:3)";
  EXPECT_EQ(error_of(conditionals), "no error") << "one of the two values waits, and not for long";
}

TEST(ExpressionLimits, LengthIsBounded) {
  EXPECT_THAT(error_of(std::string(Expression::kMaxLength + 1, '1')), StartsWith("the expression has 4097 characters"));
  EXPECT_THAT(error_of(std::string(1 << 20, '(')), StartsWith("the expression has 1048576 characters"));
}

TEST(ExpressionLimits, HostileBytesAreRefused) {
  for (int byte = 1; byte < 256; ++byte) {
    const std::string text = std::string("1 ") + static_cast<char>(byte) + " (";
    EXPECT_NE(error_of(text), "no error") << byte;
  }
}

}  // namespace
}  // namespace pgtune::space
