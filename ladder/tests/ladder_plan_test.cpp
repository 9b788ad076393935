// SPDX-License-Identifier: MIT
#include "ladder/program/ladder_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

json sample() {
  return {{"schema", 1},
          {"name", "mine"},
          {"description", "for tests"},
          {"dtype", "f32"},
          {"rungs",
           {{{"name", "first"}, {"change", "a"}, {"lesson", "b"}, {"template", "t"}, {"variant", "BM=64"}},
            {{"name", "last"}, {"change", "c"}, {"lesson", "d"}, {"stored_best", true}}}}};
}

std::string problem_of(const json& ladder) {
  const auto parsed = parse_ladder(ladder.dump(), "mine.json");
  return parsed ? "" : parsed.error().text();
}

TEST(LadderFile, RungsKeepTheirOrder) {
  const auto ladder = parse_ladder(sample().dump(), "mine.json");
  ASSERT_TRUE(ladder) << ladder.error().text();
  EXPECT_EQ(ladder->name, "mine");
  ASSERT_EQ(ladder->rungs.size(), 2U);
  EXPECT_EQ(ladder->rungs[0].variant, "BM=64");
  EXPECT_FALSE(ladder->rungs[0].stored_best());
  EXPECT_TRUE(ladder->rungs[1].stored_best());
}

TEST(LadderFile, MistakesAreNamedWithTheirPlace) {
  json ladder = sample();
  ladder["rungs"][0]["tempalte"] = "t";
  EXPECT_THAT(problem_of(ladder), AllOf(HasSubstr("mine.json: rungs[0]"), HasSubstr("unknown field 'tempalte'")));
  ladder = sample();
  ladder["rungs"][0].erase("lesson");
  EXPECT_THAT(problem_of(ladder), HasSubstr("rungs[0] (first) has no 'lesson'"));
  ladder = sample();
  ladder["rungs"][1]["name"] = "first";
  EXPECT_THAT(problem_of(ladder), HasSubstr("there is a rung 'first' already"));
  ladder = sample();
  ladder["rungs"][1]["template"] = "t";
  EXPECT_THAT(problem_of(ladder), HasSubstr("'stored_best' is true or absent, and stands alone"));
  ladder = sample();
  ladder["rungs"][1]["stored_best"] = false;
  EXPECT_THAT(problem_of(ladder), HasSubstr("'stored_best' is true or absent"));
  ladder = sample();
  ladder["rungs"] = json::array();
  EXPECT_THAT(problem_of(ladder), HasSubstr("'rungs' must be a list of 1 to"));
  ladder = sample();
  ladder["dtype"] = "f33";
  EXPECT_THAT(problem_of(ladder), HasSubstr("f33"));
  ladder = sample();
  ladder["schema"] = 2;
  EXPECT_THAT(problem_of(ladder), HasSubstr("'schema' must be 1"));
  EXPECT_THAT(parse_ladder("{", "mine.json").error().text(), HasSubstr("mine.json: "));
  EXPECT_THAT(parse_ladder(std::string(100'000, '['), "mine.json").error().text(), HasSubstr("nests too deep"));
  EXPECT_THAT(parse_ladder("[]", "mine.json").error().text(), HasSubstr("is no object"));
}

TEST(LadderFile, EveryShippedRungIsLegalForALargeProblem) {
  const Catalogue catalogue;
  const auto ladder = parse_ladder(built_in_ladder("sgemm"), "sgemm");
  ASSERT_TRUE(ladder) << ladder.error().text();
  const DeviceInfo device = architecture_info("sm_90a").value();
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    const Problem problem =
        with_default_strides(with_layout(parse_shape("4096x4096x4096").value(), layout).value()).value();
    for (const LadderRung& rung : ladder->rungs) {
      if (rung.stored_best()) continue;
      const space::TemplateDefinition definition = catalogue.load(rung.template_selector);
      const auto variant = space::parse_variant(definition, rung.variant);
      ASSERT_TRUE(variant) << rung.name << ": " << variant.error().text();
      EXPECT_EQ(space::why_illegal(definition, *variant, problem, device).value(), std::nullopt)
          << layout << " " << rung.name;
    }
  }
}

TEST(LadderFile, TemplatesForTeachingAreInNoSearch) {
  const Catalogue catalogue;
  EXPECT_EQ(catalogue.load("sgemm_classic").name, "sgemm_classic");
  EXPECT_THAT(catalogue.names(), ::testing::Not(::testing::Contains("sgemm_classic")));
  const space::TemplateSet usual = catalogue.select("", Problem{});
  for (const auto& definition : usual.definitions()) EXPECT_NE(definition.name, "sgemm_classic");
}

}  // namespace
}  // namespace pgtune::tool
