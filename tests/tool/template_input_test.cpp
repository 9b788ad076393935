// SPDX-License-Identifier: MIT
// A user's template with a mistake in it: the message points at it, and nothing is stored.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

class TemplateInputTest : public CliTest {
 protected:
  /// Searches with tiny.json after replacing one piece of its text.
  Finished search_with(const std::string& from, const std::string& to) {
    std::string text = kTinyTemplate;
    text.replace(text.find(from), from.size(), to);
    write("tiny.json", text);
    return search();
  }
};

TEST_F(TemplateInputTest, SyntaxErrorHasLineAndColumn) {
  const Finished result = search_with("\"source\": \"tiny.cu\",", "\"source\" \"tiny.cu\",");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("tiny.json"), HasSubstr("2")));
}

TEST_F(TemplateInputTest, UnknownParameterInAConstraint) {
  const Finished result = search_with("BM * BN <= 4096", "BM * BX <= 4096");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("BX"), HasSubstr("BM * BX <= 4096"), HasSubstr("^")));
}

TEST_F(TemplateInputTest, DivisionByZeroInAConstraint) {
  const Finished result = search_with("BM * BN <= 4096", "BM / (BN - 32) <= 4096");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("division by zero"), HasSubstr("^")));
}

TEST_F(TemplateInputTest, EmptySpace) {
  const Finished result = search_with("BM * BN <= 4096", "BM * BN <= 1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("the CTA tile is too large"), HasSubstr("12")));
}

TEST_F(TemplateInputTest, NotLegalForTheProblem) {
  const Finished result = pgtune({"search", "--template", path("tiny.json"), "--shape", "64x64x4"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("K is too short"));
}

TEST_F(TemplateInputTest, MissingSourceAndUnknownNames) {
  Finished result = search_with("\"tiny.cu\"", "\"other.cu\"");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("other.cu"));

  result = pgtune({"search", "--shape", "64x64x64", "--template", "nothing_like_it"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown template 'nothing_like_it'"));

  result = pgtune({"search", "--shape", "64x64x64", "--template", path("missing.json")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("missing.json"));
}

}  // namespace
}  // namespace pgtune::tool::test
