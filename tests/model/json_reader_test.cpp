// SPDX-License-Identifier: MIT
#include "tuner/util/json_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/model/json.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string cause(std::string_view text) {
  const auto problem = read_untrusted_json<Problem>(text);
  return problem ? "" : problem.error().message;
}

TEST(UntrustedJson, GivesTheRecord) {
  Problem problem = with_default_strides(*parse_shape("4x5x6")).value();
  EXPECT_EQ(read_untrusted_json<Problem>(nlohmann::json(problem).dump()).value(), problem);
}

TEST(UntrustedJson, SaysWhyThereIsNone) {
  EXPECT_EQ(cause(""), "it is empty");
  EXPECT_EQ(cause(std::string(400'000, '[')), "nested more than 64 deep");
  EXPECT_THAT(cause("{\"m\":NaN}"), AllOf(HasSubstr("parse error"), Not(HasSubstr("json.exception"))));
  EXPECT_THAT(cause("{\"m\":1e999}"), HasSubstr("number overflow"));
  EXPECT_THAT(cause("{}"), HasSubstr("key 'm' not found"));
  EXPECT_THAT(cause("{\"m\":\"4\"}"), HasSubstr("type must be number"));
}

TEST(UntrustedJson, MessagesAreShortAndUtf8) {
  for (const std::string& text : {std::string(1 << 20, 'x'), std::string("\"\xff\xfe"), std::string("\"\xc2")}) {
    EXPECT_LT(cause(text).size(), 300U);
    EXPECT_EQ(as_utf8(cause(text)), cause(text));
  }
}

TEST(Utf8, WhatIsNoneIsReplacedByteByByte) {
  EXPECT_EQ(as_utf8("a\u00e9\u4e2d\U0001F600"), "a\u00e9\u4e2d\U0001F600");
  EXPECT_EQ(as_utf8("\xff-\xc2"), "\uFFFD-\uFFFD");
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
  EXPECT_EQ(as_utf8(""), "");
}

TEST(Utf8, ExcerptsEndBetweenCharacters) {
  EXPECT_EQ(excerpt("short", 5), "short");
  EXPECT_EQ(excerpt("longer", 5), "longe...");
  EXPECT_EQ(excerpt("abcd\u00e9f", 5), "abcd...");
  EXPECT_EQ(excerpt("\u00e9\u00e9", 1), "...");
  EXPECT_EQ(excerpt("\xff\xff\xff", 2), "\uFFFD\uFFFD...");
}

}  // namespace
}  // namespace pgtune
