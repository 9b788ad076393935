// SPDX-License-Identifier: MIT
// The pages about templates tell the truth: the example loads, and the tables name everything there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/template/sample_template.hpp"
#include "tuner/expression/expression_parser.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/builtin_names.hpp"

namespace pgtune::space {
namespace {

std::string page(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(PGTUNE_SOURCE_DIR "/docs/" + path).rdbuf();
  return text.str();
}

std::string format() { return page("reference/template-format.md"); }

/// The first fenced block of a language.
std::string block(const std::string& text, const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = text.find(fence);
  if (begin == std::string::npos) return {};
  return text.substr(begin + fence.size(), text.find("```", begin + fence.size()) - begin - fence.size());
}

TEST(Manual, ItsExampleIsATemplate) {
  const std::string text = page("how-to/template.md");
  const auto parsed =
      parse_template(block(text, "json"), "naive.json", testing::reader({{"naive.cu", block(text, "cuda")}}));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_THAT(parsed->source->contents, ::testing::HasSubstr("extern \"C\" __global__"));

  const Problem shape = testing::problem(127, 129, 128);
  const auto found = enumerate(*parsed, shape, testing::device());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->space, 90);
  EXPECT_GT(found->variants.size(), 20U);
  for (const Variant& variant : found->variants) {
    EXPECT_TRUE(make_launch_plan(*parsed, variant, shape, testing::device())) << variant.key();
    EXPECT_TRUE(make_defines(*parsed, variant, shape, testing::device())) << variant.key();
  }
  const auto defaults = why_illegal(*parsed, parsed->default_variant(), shape, testing::device());
  EXPECT_EQ(defaults.value(), std::nullopt);
}

TEST(Manual, NamesEveryBuiltInNameAndFunction) {
  const std::string text = format();
  for (const std::string& name : device_names()) EXPECT_THAT(text, ::testing::HasSubstr("`" + name + "`"));
  for (const std::string& name : problem_names()) EXPECT_THAT(text, ::testing::HasSubstr("`" + name + "`"));
  for (const std::string& name : function_names()) EXPECT_THAT(text, ::testing::HasSubstr("`" + name + "("));
}

TEST(Manual, ItsTrafficIsThatOfTheShippedTemplate) {
  std::ostringstream shipped;
  shipped << std::ifstream(PGTUNE_SOURCE_DIR "/configs/sgemm_simt.json").rdbuf();
  const testing::json traffic = testing::json::parse(shipped.str())["traffic"];
  EXPECT_THAT(format(), ::testing::HasSubstr("\"traffic\": {\"l2_bytes\": " + traffic["l2_bytes"].dump() + "}"));
}

}  // namespace
}  // namespace pgtune::space
