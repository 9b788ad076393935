// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/builds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::HasSubstr;

LaunchPlan plan(std::int64_t threads, std::int64_t dynamic_smem_bytes, std::size_t kernels = 1) {
  KernelLaunch kernel;
  kernel.block.x = threads;
  kernel.dynamic_smem_bytes = dynamic_smem_bytes;
  LaunchPlan out;
  out.kernels.assign(kernels, kernel);
  return out;
}

BuildInfo build(int registers, std::int64_t static_smem_bytes = 0) {
  BuildInfo out;
  out.registers = registers;
  out.static_smem_bytes = static_smem_bytes;
  return out;
}

std::optional<std::string> why(const BuildInfo& info, const LaunchPlan& launch) {
  return why_not_launchable(info, launch, FakeDevice(plain_script).device_info);
}

TEST(Launchable, OrdinaryBuildsAre) {
  EXPECT_EQ(why(build(128), plan(256, 65536)), std::nullopt);
  EXPECT_EQ(why(build(64), plan(1024, 0)), std::nullopt);
  EXPECT_EQ(why(build(255, 1024), plan(256, 232448 - 1024)), std::nullopt) << "exactly at the limits";
}

TEST(Launchable, SpillsAreRefusedAndALocalArrayIsNot) {
  BuildInfo info = build(255);
  info.local_bytes = 64;
  EXPECT_EQ(why(info, plan(128, 0)), std::nullopt);
  info.spill_bytes = 16;
  EXPECT_EQ(why(info, plan(128, 0)), "spills 16 bytes per thread");
}

TEST(Launchable, StaticAndDynamicSharedMemoryAddUp) {
  EXPECT_THAT(*why(build(64, 1024), plan(128, 232448)), HasSubstr("233472 bytes of shared memory"));
}

TEST(Launchable, ABlockNeedsItsRegistersAtOnce) {
  EXPECT_THAT(*why(build(72), plan(1024, 0)), HasSubstr("limited by registers: 1024 threads with 72 registers"));
}

TEST(Launchable, WithSeveralKernelsOnlyTheCertainIsRefused) {
  EXPECT_EQ(why(build(72, 1024), plan(1024, 232448, 2)), std::nullopt);
  EXPECT_THAT(*why(build(72), plan(128, 232449, 2)), HasSubstr("shared memory"));
}

TEST(Launchable, OneKernelsStaticMemoryIsNotAddedToAnothersDynamicMemory) {
  EXPECT_EQ(smem_bytes(build(64, 8448), plan(128, 65536)), 65536 + 8448);
  EXPECT_EQ(smem_bytes(build(64, 8448), plan(128, 65536, 2)), 65536);
  EXPECT_EQ(smem_bytes(build(64, 8448), plan(128, 0, 2)), 8448);
}

}  // namespace
}  // namespace pgtune::session
