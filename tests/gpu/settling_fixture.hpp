// SPDX-License-Identifier: MIT
// Variants of gemm_wgmma that differ in joules as well as in cycles, for tests of settled samples.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {

inline constexpr double kMilli = 1e-3;

/// A variant of gemm_wgmma, built for a problem.
struct Load {
  std::string name;
  Variant variant;
  LaunchPlan plan;
  BuildInfo build;
};

class SettlingOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    const auto ordinal = find_gpu("0");
    if (!ordinal) GTEST_SKIP() << "needs a GPU: " << ordinal.error().text();
    info_ = describe_gpu(*ordinal).value();
    if (info_.architecture != "sm_90a") GTEST_SKIP() << "gemm_wgmma needs sm_90a";
    auto definition =
        space::load_template(std::filesystem::path(PGTUNE_SOURCE_DIR) / "configs" / "gemm_wgmma.json", shipped_header);
    ASSERT_TRUE(definition) << definition.error().text();
    definition_ = std::move(*definition);
    definition_.preset.clear();
  }

  /// Tiles that differ in joules as well as in cycles; those that are legal for the problem.
  [[nodiscard]] std::vector<Load> loads(const Problem& problem) const {
    const auto space = space::enumerate(definition_, problem, info_);
    EXPECT_TRUE(space) << space.error().text();
    std::vector<Load> out;
    const auto add = [&](const std::string& name, const std::vector<Assignment>& wanted) {
      Variant like = definition_.default_variant();
      for (const Assignment& assignment : wanted) {
        for (Assignment& has : like.parameters) {
          if (has.name == assignment.name) has.value = assignment.value;
        }
      }
      const auto variant = nearest(space->variants, like, nullptr);
      if (!variant) return;
      for (const Load& load : out) {
        if (load.variant == *variant) return;
      }
      const auto plan = space::make_launch_plan(definition_, *variant, problem, info_);
      const auto defines = space::make_defines(definition_, *variant, problem, info_);
      ASSERT_TRUE(plan && defines);
      const auto done = builder_.build({1, *variant, definition_.source, *defines, info_.architecture});
      ASSERT_TRUE(done) << done.error().text();
      if (done->outcome.kind == OutcomeKind::kOk) out.push_back({name, *variant, *plan, done->build});
    };
    const auto number = [](std::string name, std::int64_t value) { return Assignment{std::move(name), value}; };
    const Assignment pingpong{"SCHEDULE", "pingpong"}, cooperative{"SCHEDULE", "cooperative"};
    add("128x256 cooperative", {cooperative, number("WARPGROUPS_M", 2), number("BN", 256)});
    add("128x192 pingpong", {pingpong, number("WARPGROUPS_M", 1), number("BN", 192), number("RASTER_GROUP", 16)});
    add("128x128 pingpong", {pingpong, number("WARPGROUPS_M", 1), number("BN", 128), number("STAGES", 6)});
    add("128x64 pingpong", {pingpong, number("WARPGROUPS_M", 1), number("BN", 64), number("STAGES", 6)});
    return out;
  }

  [[nodiscard]] static Problem typed(const std::string& shape, Dtype dtype) {
    Problem types = problem_of(shape, "nt");
    types.dtype = dtype;
    return types;
  }

  const TestFolder folder_;
  const Builder builder_{CubinCache::open(folder_.path()).value(), find_toolkit().value()};
  DeviceInfo info_;
  space::TemplateDefinition definition_;
};

}  // namespace pgtune::gpu
