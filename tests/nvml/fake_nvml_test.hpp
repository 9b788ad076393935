// SPDX-License-Identifier: MIT
// A fixture with a pretended GPU of its own, GPU-known: its state, and the environment that makes this process and its
// children see it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/nvml/fake_state.hpp"

namespace pgtune::gpu::test {

class FakeNvmlTest : public ::testing::Test {
 protected:
  FakeNvmlTest() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("pgtune_") + test->test_suite_name() + "_" + test->name() + "_" + std::to_string(::getpid()));
    std::ofstream(path_).flush();  // an empty file
    ::setenv("PGTUNE_FAKE_NVML_STATE", path_.c_str(), 1);
    ::setenv("PGTUNE_NVML_LIBRARY", PGTUNE_FAKE_NVML, 1);
  }
  ~FakeNvmlTest() override {
    ::unsetenv("PGTUNE_FAKE_NVML_STATE");
    ::unsetenv("PGTUNE_NVML_LIBRARY");
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] FakeState gpu() const { return FakeState(path_.string()); }

 private:
  std::filesystem::path path_;
};

}  // namespace pgtune::gpu::test
