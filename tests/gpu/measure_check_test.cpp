// SPDX-License-Identifier: MIT
// The gate on a GPU: a right kernel passes, planted faults are found and named.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/gpu/measure_device_fixture.hpp"

namespace pgtune::gpu {
namespace {

using testing::HasSubstr;

Problem padded_problem(double beta = 0) {
  Problem problem = make_problem("127x129x131");
  problem.batch = 2;
  problem.alpha = 1.5;
  problem.beta = beta;
  problem.ldc = 140;
  return problem;
}

class Check : public MeasureOnDevice {
 protected:
  [[nodiscard]] TrialReport trial(const std::string& fault, double beta = 0) {
    const Problem problem = padded_problem(beta);
    static_cast<void>(prepare(problem));
    return measurer_->trial(request(problem, fault));
  }
};

TEST_F(Check, RightKernelPassesAndIsTimed) {
  for (const double beta : {0.0, -0.5}) {
    const TrialReport report = trial("", beta);
    ASSERT_EQ(report.outcome.kind, OutcomeKind::kOk) << report.outcome.reason;
    ASSERT_TRUE(report.check);
    EXPECT_GT(report.check->max_error, 0);
    EXPECT_LT(report.check->max_error, 0.5);
    EXPECT_LT(report.check->norm_error, 1e-6);
    ASSERT_EQ(report.samples.size(), 3U);
    for (const Sample& sample : report.samples) {
      EXPECT_GE(sample.launches, 3);
      EXPECT_GT(sample.time_s, 1e-3);
      EXPECT_GT(sample.sm_clock_hz, 100e6);
      EXPECT_LT(sample.sm_clock_hz, 1.1 * measurer_->info().max_sm_clock_hz);
    }
  }
}

TEST_F(Check, NeedsNoBaseline) {
  const Problem problem = padded_problem(0);
  protocol::PrepareRequest alone{as_sent(problem), {}};
  alone.alone = true;
  const auto report = measurer_->prepare(alone);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->algorithms.empty());
  EXPECT_EQ(measurer_->trial(request(problem, "")).outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(measurer_->trial(request(problem, "UNWRITTEN")).outcome.kind, OutcomeKind::kWrongResult);
}

TEST_F(Check, PlantedFaultsAreFoundAndNamed) {
  const Problem problem = padded_problem();
  static_cast<void>(prepare(problem));
  const std::vector<std::pair<std::string, std::string>> faults{
      {"WRONG_ELEMENT", "element (17,3) of batch 0 is "},
      {"NAN_ELEMENT", "element (17,3) of batch 0 is "},
      {"UNWRITTEN", "element (17,3) of batch 0 was not written"},
      {"MISSING_PRODUCT", "times the bound)"},
      {"REDUCED_PRECISION", "times the bound)"},
      {"READ_ADDEND", "is nan, expected"},
      {"WRITE_PADDING", "1 elements changed in the padding"},
      {"WRITE_AFTER", "wrote outside D: 12 bytes changed in the guard after D"},
      {"WRITE_OPERAND", "changed A"},
      {"WRITE_AFTER_WORKSPACE", "4 bytes changed in the guard after the workspace"},
  };
  for (const auto& [fault, words] : faults) {
    const TrialReport report = measurer_->trial(request(problem, fault));
    EXPECT_EQ(report.outcome.kind, OutcomeKind::kWrongResult) << fault;
    // The right kernel must still pass after each: a wrong one leaves no trace.
    const TrialReport right = measurer_->trial(request(problem, ""));
    EXPECT_EQ(right.outcome.kind, OutcomeKind::kOk) << "after " << fault << ": " << right.outcome.reason;
    EXPECT_THAT(report.outcome.reason, HasSubstr(words)) << fault;
    EXPECT_TRUE(report.samples.empty()) << fault;
  }
  EXPECT_FALSE(measurer_->context_lost());
}

TEST_F(Check, AWorkspaceIsZeroedAsAsked) {
  const Problem problem = padded_problem();
  static_cast<void>(prepare(problem));
  protocol::TrialRequest asked = request(problem, "NEEDS_ZERO_WORKSPACE");
  asked.built.plan.zero_workspace = true;
  EXPECT_EQ(measurer_->trial(asked).outcome.kind, OutcomeKind::kOk);
  asked.built.plan.zero_workspace = false;
  EXPECT_EQ(measurer_->trial(asked).outcome.kind, OutcomeKind::kWrongResult);
}

TEST_F(Check, LaunchesThatCudaRefusesAreLaunchFailures) {
  const Problem problem = padded_problem();
  static_cast<void>(prepare(problem));
  protocol::TrialRequest refused = request(problem, "");
  refused.built.plan.kernels[0].block = {2048, 1, 1};
  TrialReport report = measurer_->trial(refused);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kLaunchFailed);
  EXPECT_THAT(report.outcome.reason, HasSubstr("cudaError"));

  refused = request(problem, "");
  refused.built.plan.kernels[0].symbol = "no_such_kernel";
  EXPECT_EQ(measurer_->trial(refused).outcome.kind, OutcomeKind::kLaunchFailed);

  refused = request(problem, "");
  refused.built.plan.kernels[0].dynamic_smem_bytes = 1 << 20;
  EXPECT_EQ(measurer_->trial(refused).outcome.kind, OutcomeKind::kLaunchFailed);

  refused = request(problem, "");
  refused.built.build.cubin_path += ".missing";
  report = measurer_->trial(refused);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kLaunchFailed);
  EXPECT_THAT(report.outcome.reason, HasSubstr("cannot read"));

  EXPECT_EQ(measurer_->trial(request(problem, "")).outcome.kind, OutcomeKind::kOk);
}

TEST_F(Check, ClearlySlowVariantsAreCutEarly) {
  const Problem problem = padded_problem();
  static_cast<void>(prepare(problem));
  protocol::TrialRequest slow = request(problem, "SLOW");
  slow.incumbent_s = 20e-6;
  const TrialReport report = measurer_->trial(slow);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk) << report.outcome.reason;
  EXPECT_TRUE(report.cut);
  EXPECT_EQ(report.samples.size(), 1U);
}

TEST_F(Check, AProblemLargerThanTheMemoryIsTheUsersMistake) {
  const auto report = measurer_->prepare({as_sent(make_problem("400000x400000x1000")), {}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(report.error().message, HasSubstr("bytes"));
  EXPECT_FALSE(measurer_->context_lost());
  static_cast<void>(prepare(padded_problem()));
}

/// In a process of its own, since the context does not survive it. Exit code 0: everything was as expected.
[[noreturn]] void crash_a_context() {
  std::string why;
  const auto measurer = open_measurer(why);
  if (measurer == nullptr) std::exit(1);
  const TestFolder folder;
  const Problem problem = padded_problem();
  if (!measurer->prepare({as_sent(problem), {}})) std::exit(2);
  const TrialReport report =
      measurer->trial(gemm_trial(folder, problem, measurer->info().architecture, "ILLEGAL_ADDRESS"));
  if (report.outcome.kind != OutcomeKind::kCrashed || !measurer->context_lost()) std::exit(3);
  std::exit(report.outcome.reason.find("cudaErrorIllegalAddress") != std::string::npos ? 0 : 4);
}

TEST_F(Check, AnIllegalAddressIsACrashAndTheContextIsGivenUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash_a_context(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pgtune::gpu
