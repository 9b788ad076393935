// SPDX-License-Identifier: MIT
// The template contract end to end on a GPU: tensor maps, cluster, workspace, second kernel, L2 window, all from JSON.
#include <gtest/gtest.h>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
namespace {

class TmaDemo : public MeasureOnDevice {
 protected:
  void SetUp() override {
    MeasureOnDevice::SetUp();
    if (measurer_ == nullptr) return;
    if (measurer_->info().arch_number() != 90) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
    auto loaded = space::load_template(PGTUNE_SOURCE_DIR "/tests/templates/tma_demo.json", shipped_header);
    ASSERT_TRUE(loaded) << loaded.error().text();
    definition_ = std::move(*loaded);
  }

  void expect_all_right(const Problem& problem) {
    static_cast<void>(prepare(problem));
    const auto space = space::enumerate(definition_, problem, measurer_->info());
    ASSERT_TRUE(space) << space.error().text();
    ASSERT_EQ(space->variants.size(), 6U) << problem.key();
    for (const Variant& variant : space->variants) {
      const auto plan = space::make_launch_plan(definition_, variant, problem, measurer_->info());
      ASSERT_TRUE(plan) << plan.error().text();
      const auto defines = space::make_defines(definition_, variant, problem, measurer_->info());
      ASSERT_TRUE(defines) << defines.error().text();
      protocol::TrialRequest request;
      request.built.plan = *plan;
      request.built.build =
          build_source(folder_, definition_.source->contents, measurer_->info().architecture, *defines);
      const TrialReport report = measurer_->trial(request);
      EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk)
          << problem.key() << " " << variant.key() << ": " << report.outcome.reason;
      EXPECT_EQ(report.samples.size(), 3U);
    }
  }

  space::TemplateDefinition definition_;
};

TEST_F(TmaDemo, IsRightForEveryVariantOnEvenAndRaggedShapes) {
  expect_all_right(make_problem("1024x1024x1024"));
  Problem ragged = make_problem("127x129x131");
  ragged.lda = 132;
  ragged.ldb = 132;
  ragged.ldc = 131;
  ragged.alpha = 0.5;
  ragged.beta = -2;
  expect_all_right(ragged);
  Problem narrow = make_problem("1x4x4");
  expect_all_right(narrow);
}

TEST_F(TmaDemo, WithoutItsClusterItWouldBeWrong) {
  // Guards against a launcher that drops the attribute: both CTAs of a pair then take the first half of K.
  const Problem problem = make_problem("128x128x128");
  static_cast<void>(prepare(problem));
  const Variant variant = definition_.default_variant();
  auto plan = space::make_launch_plan(definition_, variant, problem, measurer_->info());
  ASSERT_TRUE(plan) << plan.error().text();
  const auto defines = space::make_defines(definition_, variant, problem, measurer_->info());
  ASSERT_TRUE(defines) << defines.error().text();
  protocol::TrialRequest request;
  request.built.build = build_source(folder_, definition_.source->contents, measurer_->info().architecture, *defines);
  request.built.plan = *plan;
  request.built.plan.kernels[0].cluster = {1, 1, 1};
  EXPECT_EQ(measurer_->trial(request).outcome.kind, OutcomeKind::kWrongResult);
}

}  // namespace
}  // namespace pgtune::gpu
