// SPDX-License-Identifier: MIT
// What tells sets of templates apart, and a set under the hashes it was recorded with.
#include "tuner/space/template_set.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/template/sample_template.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TemplateDefinition versioned(const std::string& name, const std::string& content_hash) {
  TemplateDefinition definition;
  definition.name = name;
  definition.content_hash = content_hash;
  return definition;
}

TEST(TemplateSet, AsRecordedHasTheRecordedHashesAndSaysWhichDiffer) {
  const TemplateSet built({versioned("b", "b2"), versioned("a", "a1")});
  EXPECT_THAT(built.other_versions(), IsEmpty());
  const TemplateSet recorded = built.recorded_as({{"a", "a1"}, {"b", "b1"}, {"c", "c1"}});
  EXPECT_THAT(recorded.ids(), ElementsAre(TemplateId{"a", "a1"}, TemplateId{"b", "b1"}));
  EXPECT_EQ(recorded.id(), TemplateSet({versioned("a", "a1"), versioned("b", "b1")}).id())
      << "as its own build stored it";
  EXPECT_EQ(recorded.of({"b", {}}).content_hash, "b1");
  ASSERT_EQ(recorded.other_versions().size(), 1U);
  EXPECT_EQ(recorded.other_versions()[0].name, "b");
  EXPECT_EQ(recorded.other_versions()[0].measured_hash, "b1");
  EXPECT_EQ(recorded.other_versions()[0].built_hash, "b2");
}

TEST(TemplateSet, AsRecordedInItsOwnVersionsIsItself) {
  const TemplateSet built({versioned("a", "a1"), versioned("b", "b2")});
  const TemplateSet recorded = built.recorded_as({{"b", "b2"}});
  EXPECT_EQ(recorded.id(), built.id());
  EXPECT_THAT(recorded.other_versions(), IsEmpty());
}

TEST(TemplateSet, WithoutPresetsIsTheWholeGridItself) {
  const TemplateSet set({versioned("a", "a1"), versioned("b", "b1")});
  EXPECT_EQ(set.whole_grid().id(), set.id()) << "what is stored of it stays its answer";
  EXPECT_EQ(set.whole_grid_id(), set.id());
  EXPECT_FALSE(set.whole_grid().goes_beyond_presets());
}

TEST(TemplateSet, TheWholeGridStaysTheWholeGrid) {
  TemplateDefinition definition = versioned("a", "a2");
  definition.preset = {{Expression::parse("1 == 1").value(), "an opinion"}};
  definition.preset_hash = "preset";
  const TemplateSet built(definition);
  EXPECT_TRUE(built.has_preset() && built.whole_grid().goes_beyond_presets());
  const TemplateSet recorded = built.whole_grid().recorded_as({{"a", "a1"}});
  EXPECT_EQ(recorded.id(), recorded.whole_grid_id());
  EXPECT_NE(recorded.id(), built.whole_grid_id());
  const TemplateSet other_order = built.recorded_as({{"a", "a1"}}).whole_grid();
  EXPECT_EQ(other_order.id(), recorded.id());
  EXPECT_EQ(other_order.other_versions().size(), 1U);
}

TEST(TemplateSet, WhatAPresetLeavesOutIsAmongTheVariantsWhereItIsWanted) {
  testing::json document = testing::sample_json();
  document["preset"] = {{{"expr", "BM >= 64"}, {"reason", "small tiles are slow"}}};
  const TemplateDefinition definition = testing::parse_or_die(document);
  const auto keys = [&](const std::vector<Variant>& also) {
    std::vector<std::string> found;
    const auto list = legal_variants(TemplateSet(definition), testing::problem(), testing::device(), also);
    EXPECT_TRUE(list) << list.error().text();
    for (const Variant& variant : list->variants) found.push_back(variant.key());
    return found;
  };
  const auto variant = [&](const char* text) { return parse_variant(definition, text).value(); };
  std::vector<std::string> wanted = keys({});
  EXPECT_EQ(wanted.size(), 9U);
  Variant of_another = variant("BM=32,TM=8,COPY=ldg");
  of_another.template_name = "another";
  const std::vector<Variant> also{variant("BM=64,TM=4,COPY=ldg"), variant("BM=32,TM=4,COPY=ldg"),
                                  variant("BM=128,TM=2,COPY=ldg"), variant("BM=32,TM=4,COPY=ldg"), of_another};
  wanted.emplace_back("BM=32,TM=4,COPY=ldg");
  EXPECT_EQ(keys(also), wanted) << "once, if it is legal, and of a template of the set";
}

}  // namespace
}  // namespace pgtune::space
