// SPDX-License-Identifier: MIT
// The example MLP on the GPU: right alone and in the chain, with and without overlapping launches, whose edges are in
// the graph; a step that reads too early or is wrong is found. Nothing here says how fast it is.
#include "tests/gpu/chain_on_gpu.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

class MlpOnGpu : public ChainOnGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    if (info_.architecture != "sm_90a") GTEST_SKIP() << "the example's overlapping products are gemm_wgmma's";
    const fs::path source = PGTUNE_SOURCE_DIR;
    const auto definition = chain::load_chain(source / "examples/chains/mlp.json");
    ASSERT_TRUE(definition) << definition.error().text();
    chain::Operations operations;
    operations.emplace("rmsnorm", operation::load_operation(source / "operations/rmsnorm.json").value());
    const std::string activation = definition->steps[2].operation;
    operations.emplace(activation,
                       operation::load_operation((source / "examples/chains" / activation).lexically_normal()).value());
    const auto made =
        chain::make_chain(*definition, operations, operation::parse_sizes("T=16,H=1024,F=1536").value(), {});
    ASSERT_TRUE(made) << made.error().text();
    chain_ = *made;
    templates_["norm"] = operation_template(operations.at("rmsnorm"), "configs/operations/rmsnorm_rows.json");
    templates_["activation"] =
        operation_template(operations.at(activation), "examples/operations/silu_mul/silu_mul_vectors.json");
    for (const char* const product : {"gate_up", "down"})
      templates_[product] = space::load_template(source / "configs/gemm_wgmma.json", shipped_header).value();
    make_context();
    ASSERT_FALSE(HasFatalFailure());
    for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
      kernels_of_steps_.push_back(kernel(i));
      ASSERT_FALSE(HasFatalFailure());
    }
  }

  /// Any legal variant; as an overlapping one a variant of the chain's problem.
  protocol::ChainKernel kernel(std::size_t step) {
    const space::TemplateDefinition& definition = templates_.at(chain_.steps[step].name);
    const bool is_product = !chain_.steps[step].problem.operation;
    const auto variant_of = [&](const Problem& problem, bool overlaps) -> Variant {
      space::TemplateDefinition whole = definition;
      whole.preset.clear();
      const auto legal = space::legal_variants(whole, problem, info_);
      EXPECT_TRUE(legal && !legal->variants.empty()) << problem.title();
      if (!is_product) return legal->variants.front();
      const Variant like = space::parse_variant(definition, "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,STAGES=8").value();
      const Assignment early{"DEPENDENT_LAUNCH", std::int64_t{overlaps ? 1 : 0}};
      return *nearest(legal->variants, like, &early);
    };
    const Problem& alone = chain_.steps[step].problem;
    protocol::ChainKernel out{built(definition, variant_of(alone, false), alone), std::nullopt};
    if (chain_.steps[step].overlaps) {
      const Problem chained = chain_.overlapping_problem(step);
      out.overlapping = built(definition, variant_of(chained, true), chained);
      EXPECT_TRUE(out.overlapping->plan.kernels.front().overlaps_previous) << chain_.steps[step].name;
    }
    return out;
  }
};

TEST_F(MlpOnGpu, IsRightWithAndWithoutOverlap) {
  const auto chain = current();
  ASSERT_TRUE(chain);
  EXPECT_GT(chain->prepared().copies, 1);
  for (const bool overlapping : {false, true}) {
    const auto check = chain->check(overlapping);
    ASSERT_TRUE(check) << check.error().message();
    EXPECT_EQ(check->outcome.kind, OutcomeKind::kOk) << check->outcome.reason;
    ASSERT_EQ(check->steps.size(), 4U);
    for (const CheckReport& step : check->steps) EXPECT_GT(step.max_error, 0);
    EXPECT_EQ(check->overlapping_launches, overlapping ? 3 * chain->prepared().copies : 0);
    EXPECT_EQ(check->programmatic_edges, check->overlapping_launches);
  }
}

TEST_F(MlpOnGpu, IsTimedAsGraphsBesideItsSteps) {
  const auto chain = current();
  ASSERT_TRUE(chain);
  for (const protocol::ChainContender& contender :
       {protocol::ChainContender{}, protocol::ChainContender{std::nullopt, true}, protocol::ChainContender{3, false}}) {
    const auto series = chain->series(contender);
    ASSERT_TRUE(series) << series.error().message();
    EXPECT_TRUE((*series)->series.captured());
    EXPECT_GT((*series)->per_launch_s, 0);
    EXPECT_EQ(*series, chain->series(contender).value());
  }
}

/// A kernel that does not wait reads what the launch before has not written yet: the poison.
TEST_F(MlpOnGpu, AStepThatReadsTooEarlyIsFound) {
  protocol::BuiltVariant& early = kernels_of_steps_[2].alone;
  const space::TemplateDefinition hasty = edited(templates_.at("activation"), "griddepcontrol_wait();", "");
  kernels_of_steps_[2].overlapping = built(hasty, early.variant, chain_.overlapping_problem(2));
  // The product before lets it start at once, long before it ends.
  const auto chain = current();
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->check(false)->outcome.kind, OutcomeKind::kOk);
  const auto check = chain->check(true);
  ASSERT_TRUE(check) << check.error().message();
  EXPECT_EQ(check->outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_NE(check->outcome.reason.find("step 'activation'"), std::string::npos) << check->outcome.reason;
}

TEST_F(MlpOnGpu, DataThatSayNothingAreAFault) {
  chain_.steps[1].problem.alpha = 0;  // gate and up are zero, and so is all behind them
  chain_.steps[1].overlaps = chain_.steps[3].overlaps = false;
  kernels_of_steps_[1] = kernel(1);
  kernels_of_steps_[3] = kernel(3);
  const auto chain = current();
  ASSERT_TRUE(chain);
  const auto check = chain->check(false);
  ASSERT_TRUE(check) << check.error().message();
  EXPECT_EQ(check->outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_NE(check->outcome.reason.find("zeros would pass"), std::string::npos) << check->outcome.reason;
}

}  // namespace
}  // namespace pgtune::gpu
