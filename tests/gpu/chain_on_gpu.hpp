// SPDX-License-Identifier: MIT
// Base of tests that run a chain on the GPU: what a chain worker has, and variants for its steps.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/chain/chain_definition.hpp"
#include "tuner/gpu/chain/current_chain.hpp"

namespace pgtune::gpu {

class ChainOnGpu : public testing::Test, protected LaunchingGpu {
 protected:
  /// After open().
  void make_context() {
    auto timer = SampleTimer::create(*kernels_, info_.sm_count, Telemetry(std::nullopt));
    ASSERT_TRUE(timer) << timer.error().text;
    timer_ = std::move(*timer);
    auto sweep = L2Sweep::create(*kernels_, info_.l2_bytes);
    ASSERT_TRUE(sweep) << sweep.error().message();
    sweep_ = std::move(*sweep);
    context_ = std::make_unique<MeasureContext>(MeasureContext{driver_, *kernels_, *timer_, *sweep_, stream_.get(),
                                                               "cuBLASLt", info_.l2_bytes, 0, info_.architecture});
  }

  static space::TemplateDefinition operation_template(const operation::OperationDefinition& operation,
                                                      const std::string& path) {
    const space::OperationInterface interface = operation.interface();
    return space::load_template(std::filesystem::path(PGTUNE_SOURCE_DIR) / path, shipped_header, &interface).value();
  }

  protocol::BuiltVariant built(const space::TemplateDefinition& definition, const Variant& variant,
                               const Problem& problem) {
    const auto built = build(definition, {&variant, 1}, problem);
    EXPECT_TRUE(built.front()) << problem.title() << ": " << built.front().error().text();
    return built.front() ? protocol::BuiltVariant{variant, built.front()->plan, built.front()->build}
                         : protocol::BuiltVariant{};
  }

  /// `definition` with `replaced` in the place of the first `text` of its source.
  static space::TemplateDefinition edited(space::TemplateDefinition definition, const std::string& text,
                                          const std::string& replaced) {
    auto source = std::make_shared<TemplateSource>(*definition.source);
    const std::size_t at = source->contents.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    if (at != std::string::npos) source->contents.replace(at, text.size(), replaced);
    definition.source = source;
    return definition;
  }

  [[nodiscard]] std::unique_ptr<CurrentChain> current() const {
    Chain chain = chain_;
    for (ChainStep& step : chain.steps) step.problem = as_sent(step.problem);
    auto current = CurrentChain::create(*context_, {std::move(chain), {}, kernels_of_steps_});
    EXPECT_TRUE(current) << current.error().text();
    return current ? std::move(*current) : nullptr;
  }

  /// The chain of two steps, checked, launched over and over, and checked again.
  void expect_right_however_often_it_is_checked() {
    const auto chain = current();
    ASSERT_TRUE(chain);
    EXPECT_GT(chain->prepared().copies, 1);
    for (int i = 0; i < 2; ++i) {
      const auto check = chain->check(false);
      ASSERT_TRUE(check) << check.error().message();
      EXPECT_EQ(check->outcome.kind, OutcomeKind::kOk) << check->outcome.reason;
      ASSERT_EQ(check->steps.size(), 2U);
      for (const CheckReport& step : check->steps) EXPECT_GT(step.max_error, 0);
      // Timed launches leave other data behind, which the next check does not begin with.
      const auto series = chain->series({});
      ASSERT_TRUE(series) << series.error().message();
      ASSERT_TRUE((*series)->series.enqueue(200));
      ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    }
  }
  /// As it is now; `reason` is a part of why.
  void expect_wrong(const std::string& reason) {
    const auto chain = current();
    ASSERT_TRUE(chain);
    const auto check = chain->check(false);
    ASSERT_TRUE(check) << check.error().message();
    EXPECT_EQ(check->outcome.kind, OutcomeKind::kWrongResult);
    EXPECT_NE(check->outcome.reason.find(reason), std::string::npos) << check->outcome.reason;
  }

  Chain chain_;
  std::map<std::string, space::TemplateDefinition> templates_;  ///< by the names of steps
  std::vector<protocol::ChainKernel> kernels_of_steps_;
  std::unique_ptr<SampleTimer> timer_;
  std::optional<L2Sweep> sweep_;
  std::unique_ptr<MeasureContext> context_;
};

}  // namespace pgtune::gpu
