// SPDX-License-Identifier: MIT
// The kernels behind the ceilings compile for every architecture pgtune supports, with the toolkit at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/gpu/measure/ceilings/ceilings.hpp"
#include "tuner/model/architectures.hpp"

namespace pgtune::gpu {
namespace {

class CeilingKernelsCompile : public testing::TestWithParam<const char*> {};

TEST_P(CeilingKernelsCompile, ToACubinWithAllOfThem) {
  const auto cubin = compile_ceiling_kernels(GetParam());
  ASSERT_TRUE(cubin) << cubin.error().text();
  EXPECT_EQ(cubin->substr(1, 3), "ELF");
  for (const char* symbol : {"ceiling_fill", "ceiling_copy", "ceiling_l2", "ceiling_smem", "ceiling_ffma"}) {
    EXPECT_THAT(*cubin, testing::HasSubstr(std::string(".text.") + symbol));
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CeilingKernelsCompile, testing::Values("sm_80", "sm_86", "sm_89", "sm_90a"));

TEST_P(CeilingKernelsCompile, WithOneForEachModeOfTheTensorCores) {
  const DeviceInfo device = architecture_info(GetParam()).value();
  const auto cubin = compile_tensor_ceilings(GetParam());
  ASSERT_TRUE(cubin) << cubin.error().text();
  const auto dtypes = tensor_ceiling_dtypes(device);
  EXPECT_EQ(dtypes.size(), device.compute_major == 9 || device.compute_minor == 9 ? 6U : 4U);
  for (const Dtype dtype : dtypes)
    EXPECT_THAT(*cubin, testing::HasSubstr(".text.ceiling_" + std::string(to_string(dtype))));
}

TEST(CeilingKernels, AnUnknownArchitectureIsAnEnvironmentError) {
  const auto cubin = compile_ceiling_kernels("sm_7");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(cubin.error().message, testing::HasSubstr("sm_7"));
}

}  // namespace
}  // namespace pgtune::gpu
