// SPDX-License-Identifier: MIT
// The ceilings of a GPU are near what its data sheet allows, and repeat.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tuner/gpu/measure/ceilings/ceilings.hpp"

namespace pgtune::gpu {
namespace {

class CeilingsOnDevice : public MeasureOnDevice {};

TEST_F(CeilingsOnDevice, AreOrderedPossibleAndRepeatable) {
  const auto begin = std::chrono::steady_clock::now();
  const auto first = measurer_->ceilings();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(first) << first.error().text();
  const double flops = first->flops.at("f32");
  std::cout << "DRAM " << first->dram_bytes_per_s * 1e-12 << " TB/s, L2 " << first->l2_bytes_per_s * 1e-12
            << " TB/s, f32 " << flops * 1e-12 << " TFLOP/s at " << first->sm_clock_hz * 1e-6 << " MHz; took "
            << took.count() << " s\n";
  EXPECT_GT(first->dram_bytes_per_s, 50e9);
  EXPECT_GT(first->l2_bytes_per_s, 1.1 * first->dram_bytes_per_s);
  // At most 128 FFMA a clock and multiprocessor, on any GPU since Ampere; at least nine tenths of 64 on all of them.
  const double per_clock = flops / first->sm_clock_hz / measurer_->info().sm_count;
  EXPECT_LE(per_clock, 2 * 128 * 1.02);
  EXPECT_GE(per_clock, 2 * 64 * 0.9);
  // 128 bytes of shared memory a clock and multiprocessor, at a clock that is a little higher than under FFMA.
  const double smem_per_clock = first->smem_bytes_per_s.value() / first->sm_clock_hz / measurer_->info().sm_count;
  std::cout << "shared memory " << *first->smem_bytes_per_s * 1e-12 << " TB/s\n";
  EXPECT_LE(smem_per_clock, 128 * 1.15);
  EXPECT_GE(smem_per_clock, 128 * 0.8);
  // A multiprocessor's dense bf16 products: 1024 FLOP a clock on sm_86, 2048 on sm_80, 4096 on sm_90.
  for (const Dtype dtype : tensor_ceiling_dtypes(measurer_->info())) {
    const double reached = first->flops.at(std::string(to_string(dtype)));
    std::cout << to_string(dtype) << " " << reached * 1e-12 << " TFLOP/s\n";
    const double of_two_bytes = reached * static_cast<double>(element_bytes(dtype)) / 2;
    EXPECT_GT(of_two_bytes / measurer_->info().sm_count, 1024 * 0.5e9) << to_string(dtype);
    EXPECT_LT(of_two_bytes / measurer_->info().sm_count, 4096 * 2.1e9) << to_string(dtype);
  }

  const auto second = measurer_->ceilings();
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_NEAR(second->dram_bytes_per_s / first->dram_bytes_per_s, 1, 0.05);
  EXPECT_NEAR(second->l2_bytes_per_s / first->l2_bytes_per_s, 1, 0.1);
  EXPECT_NEAR(second->flops.at("f32") / flops, 1, 0.05);
}

TEST_F(CeilingsOnDevice, LeaveThePreparedProblemAlone) {
  const Problem problem = make_problem("256x256x256");
  static_cast<void>(prepare(problem));
  ASSERT_TRUE(measurer_->ceilings());
  const TrialReport report = measurer_->trial(request(problem, ""));
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk) << report.outcome.reason;
}

}  // namespace
}  // namespace pgtune::gpu
