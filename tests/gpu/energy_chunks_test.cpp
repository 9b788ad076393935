// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/energy/energy_measurement.hpp"

#include <gtest/gtest.h>

namespace pgtune::gpu {
namespace {

TEST(EnergyChunks, OnlyThoseWhollyInsideCount) {
  const std::vector<EnergyChunk> chunks{{9.9, 0.2, 1}, {10.1, 0.2, 10}, {10.3, 0.2, 100}, {10.5, 0.2, 1000}};
  const ChunkSum sum = sum_inside(chunks, 10, 10.6);
  EXPECT_EQ(sum.launches, 110);
  EXPECT_DOUBLE_EQ(sum.time_s, 0.4);
}

TEST(EnergyChunks, LongerThanTheWindowLeavesNothing) {
  EXPECT_EQ(sum_inside({{0, 20, 1}}, 5, 10).launches, 0);
  EXPECT_EQ(sum_inside({}, 5, 10).time_s, 0);
}

}  // namespace
}  // namespace pgtune::gpu
