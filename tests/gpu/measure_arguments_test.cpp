// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstring>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/prepared_plan.hpp"

namespace pgtune::gpu {
namespace {

template <typename T>
T value_at(const ArgumentBlock& block, std::size_t index) {
  T value;
  std::memcpy(&value, block.pointers()[index], sizeof(T));
  return value;
}

/// A, B, C, bias and D, and the workspace.
OperandSet operands() { return {{{0x1000, 1}, {0x2000, 1}, {0x3000, 1}, {0x6000, 1}, {0x4000, 1}}, {0x5000, 1}}; }

TEST(ArgumentBlock, PacksEveryKindInOrder) {
  const std::vector<CUtensorMap> maps(2);
  const std::vector<KernelArgument> arguments{
      {.kind = ArgumentKind::kPointer, .operand = Operand::kB},
      {.kind = ArgumentKind::kPointer, .operand = Operand::kWorkspace},
      {.kind = ArgumentKind::kTensorMap, .integer = 1},
      {.kind = ArgumentKind::kInt32, .integer = -7},
      {.kind = ArgumentKind::kInt64, .integer = 1LL << 40},
      {.kind = ArgumentKind::kFloat32, .real = 0.1},
      {.kind = ArgumentKind::kPointer, .operand = Operand::kBias},
  };
  auto packed = ArgumentBlock::pack(arguments, operands(), maps);
  ASSERT_TRUE(packed) << packed.error().text();
  const ArgumentBlock block = std::move(*packed);  // pointers must survive a move
  EXPECT_EQ(value_at<std::uint64_t>(block, 0), 0x2000U);
  EXPECT_EQ(value_at<std::uint64_t>(block, 1), 0x5000U);
  EXPECT_EQ(block.pointers()[2], &maps[1]);
  EXPECT_EQ(value_at<std::int32_t>(block, 3), -7);
  EXPECT_EQ(value_at<std::int64_t>(block, 4), 1LL << 40);
  EXPECT_EQ(value_at<float>(block, 5), 0.1F);
  EXPECT_EQ(value_at<std::uint64_t>(block, 6), 0x6000U);
}

TEST(ArgumentBlock, RefusesWhatDoesNotFit) {
  const auto too_large = ArgumentBlock::pack({{.kind = ArgumentKind::kInt32, .integer = 1LL << 31}}, operands(), {});
  ASSERT_FALSE(too_large);
  EXPECT_NE(too_large.error().message.find("2147483648"), std::string::npos) << too_large.error().message;
  EXPECT_FALSE(ArgumentBlock::pack({{.kind = ArgumentKind::kTensorMap, .integer = 0}}, operands(), {}));
  const auto missing =
      ArgumentBlock::pack({{.kind = ArgumentKind::kPointer, .operand = operand_of_buffer(5)}}, operands(), {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "argument 0 is of a buffer that the problem has not");
}

TEST(CudaFailure, OnlyErrorsThatPoisonTheContextAreCrashes) {
  const auto bad_launch = check(CUDA_ERROR_INVALID_VALUE, "launching x");
  ASSERT_FALSE(bad_launch);
  EXPECT_EQ(failure_outcome(bad_launch.error()).kind, OutcomeKind::kLaunchFailed);
  EXPECT_EQ(bad_launch.error().message(), "launching x: invalid argument (cudaErrorInvalidValue)");
  const auto crash = check(cudaErrorIllegalAddress, "running the kernel");
  ASSERT_FALSE(crash);
  EXPECT_EQ(failure_outcome(crash.error()).kind, OutcomeKind::kCrashed);
  EXPECT_TRUE(is_sticky(CUDA_ERROR_MISALIGNED_ADDRESS));
  EXPECT_FALSE(is_sticky(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_FALSE(is_sticky(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
}

TEST(CudaFailure, WhatPoisonsTheContextMayBeTheHardwaresDoing) {
  EXPECT_TRUE(is_kernel_fault(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_TRUE(is_kernel_fault(CUDA_ERROR_LAUNCH_FAILED)) << "which __trap() is";
  for (const auto code : {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_UNKNOWN}) {
    EXPECT_TRUE(is_sticky(code));
    EXPECT_FALSE(is_kernel_fault(code));
  }
  EXPECT_FALSE(is_kernel_fault(CUDA_ERROR_OUT_OF_MEMORY));
}

}  // namespace
}  // namespace pgtune::gpu
