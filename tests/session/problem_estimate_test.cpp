// SPDX-License-Identifier: MIT
#include "tuner/session/problem_estimate.hpp"

#include <gtest/gtest.h>

namespace pgtune::session {
namespace {

DeviceInfo h200() {
  DeviceInfo device;
  device.sm_count = 132;
  device.max_sm_clock_hz = 1.98e9;
  return device;
}

Problem problem_of(const std::string& shape, Dtype dtype = Dtype::kBf16) {
  Problem problem = *parse_shape(shape);
  problem.dtype = dtype;
  return with_default_strides(problem).value();
}

double expected_s(const Problem& problem, const SessionOptions& options = {}) {
  return expected_search_s(problem, h200(), options);
}

TEST(ProblemEstimate, MoreWorkTakesLonger) {
  EXPECT_LT(expected_s(problem_of("512x512x512")), expected_s(problem_of("2048x2048x2048")));
  EXPECT_LT(expected_s(problem_of("8192x8192x8192")), expected_s(problem_of("16384x16384x16384")));
  EXPECT_LT(expected_s(problem_of("8192x8192x8192")), expected_s(problem_of("8192x8192x8192", Dtype::kF32)));
  EXPECT_LT(expected_s(problem_of("1x4096x4096")), expected_s(problem_of("1x65536x65536"))) << "bytes count too";
}

TEST(ProblemEstimate, RoundsAtThePowerCapTakeLonger) {
  SessionOptions few;
  few.budget.trials = 24;
  SessionOptions burst = few;
  burst.conditions.regime = Regime::kBurst;
  EXPECT_GT(expected_s(problem_of("8192x8192x8192"), few), 1.5 * expected_s(problem_of("8192x8192x8192"), burst));
}

TEST(ProblemEstimate, ABudgetBoundsIt) {
  SessionOptions few;
  few.budget.trials = 24;
  EXPECT_LT(expected_s(problem_of("2048x2048x2048"), few), expected_s(problem_of("2048x2048x2048")));
  SessionOptions seconds;
  seconds.budget.seconds = 20;
  EXPECT_LT(expected_s(problem_of("16384x16384x16384"), seconds), expected_s(problem_of("16384x16384x16384")));
}

}  // namespace
}  // namespace pgtune::session
