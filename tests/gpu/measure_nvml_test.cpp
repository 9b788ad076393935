// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {
namespace {

TEST(Nvml, ReadsDriverAndPowerLimitByUuid) {
  const auto nvml = Nvml::open(PGTUNE_FAKE_NVML);
  ASSERT_TRUE(nvml) << nvml.error().text();
  EXPECT_EQ(nvml->driver_version(), "580.159.04");
  EXPECT_DOUBLE_EQ(nvml->power_limit_w("GPU-known"), 650.5);
  EXPECT_EQ(nvml->power_limit_w("GPU-other"), 0);
}

TEST(Nvml, MissingLibraryIsAnEnvironmentError) {
  const auto nvml = Nvml::open("libpgtune-no-such-library.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(nvml.error().message.find("libpgtune-no-such-library.so.1"), std::string::npos) << nvml.error().message;
}

TEST(Nvml, LibraryWithoutItsFunctionsIsRefused) {
  const auto nvml = Nvml::open("libm.so.6");
  ASSERT_FALSE(nvml);
  EXPECT_NE(nvml.error().message.find("lacks"), std::string::npos) << nvml.error().message;
}

}  // namespace
}  // namespace pgtune::gpu
