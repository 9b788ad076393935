// SPDX-License-Identifier: MIT
// What tells sets of templates apart.
#include "tuner/space/template_set.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pgtune::space {
namespace {

TemplateDefinition versioned(const std::string& name, const std::string& content_hash) {
  TemplateDefinition definition;
  definition.name = name;
  definition.content_hash = content_hash;
  return definition;
}

TEST(TemplateSet, WithoutPresetsIsTheWholeGridItself) {
  const TemplateSet set({versioned("a", "a1"), versioned("b", "b1")});
  EXPECT_EQ(set.whole_grid().id(), set.id()) << "what is stored of it stays its answer";
  EXPECT_EQ(set.whole_grid_id(), set.id());
  EXPECT_FALSE(set.whole_grid().goes_beyond_presets());
}

TEST(TemplateSet, TheWholeGridIsAnotherSet) {
  TemplateDefinition definition = versioned("a", "a2");
  definition.preset = {{Expression::parse("1 == 1").value(), "an opinion"}};
  definition.preset_hash = "preset";
  const TemplateSet built(definition);
  EXPECT_TRUE(built.has_preset() && built.whole_grid().goes_beyond_presets());
  EXPECT_EQ(built.whole_grid().id(), built.whole_grid_id());
  EXPECT_NE(built.whole_grid_id(), built.id());
}

}  // namespace
}  // namespace pgtune::space
