// SPDX-License-Identifier: MIT
#include "tuner/model/launch_plan.hpp"

#include <gtest/gtest.h>

namespace pgtune {
namespace {

KernelLaunch kernel(const char* symbol, std::int64_t grid, std::int64_t dynamic_smem_bytes) {
  KernelLaunch out;
  out.symbol = symbol;
  out.grid.x = grid;
  out.block.x = 128;
  out.dynamic_smem_bytes = dynamic_smem_bytes;
  return out;
}

TEST(MainKernel, HasTheMostSharedMemoryThenTheMostThreads) {
  LaunchPlan plan;
  plan.kernels = {kernel("first", 2, 0), kernel("wide", 9, 0), kernel("last", 1, 0)};
  EXPECT_EQ(main_kernel(plan).symbol, "wide");
  plan.kernels.push_back(kernel("staged", 1, 1024));
  EXPECT_EQ(main_kernel(plan).symbol, "staged");
  plan.kernels.push_back(kernel("again", 1, 1024));
  EXPECT_EQ(main_kernel(plan).symbol, "again");
}

}  // namespace
}  // namespace pgtune
