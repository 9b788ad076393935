// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>

#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/measurer.hpp"

namespace pgtune::gpu {
namespace {

TEST(DeviceInfoText, UuidIsPrintedAsNvidiaSmiDoes) {
  const char bytes[16] = {0x01, 0x23, 0x45, 0x67, '\x89', '\xab', '\xcd', '\xef', 0, 1, 2, 3, 4, 5, 6, '\xff'};
  EXPECT_EQ(uuid_text(bytes), "GPU-01234567-89ab-cdef-0001-0203040506ff");
  EXPECT_EQ(uuid_text(bytes, true), "MIG-01234567-89ab-cdef-0001-0203040506ff");
}

TEST(ListGpus, WithoutAGpuTheErrorIsTheEnvironmentsAndSaysWhatToDo) {
  const auto gpus = list_gpus();
  if (gpus) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(gpus.error().kind, ErrorKind::kEnvironment);
  EXPECT_TRUE(gpus.error().message.find("install") != std::string::npos ||
              gpus.error().message.find("check") != std::string::npos ||
              gpus.error().message.find("update") != std::string::npos ||
              gpus.error().message.find("unset") != std::string::npos)
      << gpus.error().message;
}

TEST(StrictFloat32, EnvironmentCannotSwitchTensorCoresOn) {
  ASSERT_EQ(setenv("NVIDIA_TF32_OVERRIDE", "1", 1), 0);
  ASSERT_EQ(setenv("CUBLAS_EMULATE_SINGLE_PRECISION", "1", 1), 0);
  forbid_reduced_precision();
  EXPECT_EQ(std::getenv("NVIDIA_TF32_OVERRIDE"), nullptr);
  EXPECT_EQ(std::getenv("CUBLAS_EMULATE_SINGLE_PRECISION"), nullptr);
}

}  // namespace
}  // namespace pgtune::gpu
