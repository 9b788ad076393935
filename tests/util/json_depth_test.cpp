// SPDX-License-Identifier: MIT
#include "tuner/util/json_depth.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pgtune {
namespace {

std::string nested(int depth) {
  const auto count = static_cast<std::size_t>(depth);
  return std::string(count, '[') + std::string(count, ']');
}

TEST(JsonDepth, TheLimitIsAllowed) {
  EXPECT_FALSE(json_too_deep(""));
  EXPECT_FALSE(json_too_deep(nested(kMaxJsonDepth)));
  EXPECT_TRUE(json_too_deep(nested(kMaxJsonDepth + 1)));
  EXPECT_TRUE(json_too_deep(std::string(kMaxJsonDepth + 1, '{')));
  std::string with_values;
  for (int i = 0; i <= kMaxJsonDepth; ++i) with_values += "[1, {\"a\": 2}, ";
  EXPECT_TRUE(json_too_deep(with_values));
}

TEST(JsonDepth, SiblingsAreNoDepth) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "[{}],";
  EXPECT_FALSE(json_too_deep(many));
}

TEST(JsonDepth, BracketsInStringsAreText) {
  const std::string brackets(1000, '[');
  EXPECT_FALSE(json_too_deep("\"" + brackets + "\""));
  EXPECT_FALSE(json_too_deep(R"("\")" + brackets + "\""));
  EXPECT_TRUE(json_too_deep(R"("\\")" + brackets));
}

}  // namespace
}  // namespace pgtune
