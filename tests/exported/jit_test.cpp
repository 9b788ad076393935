// SPDX-License-Identifier: MIT
// `pgtune export header --jit`: the real NVRTC compiles what a program loads into the fake driver.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "tests/exported/sample_export.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) out.push_back(entry.path());
  }
  return out;
}

class ExportJit : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<ExportFolder>("");
    std::string output;
    ASSERT_EQ(folder_->run(fmt::format("XDG_CACHE_HOME=$PWD/worker HOME=$PWD '{}' export header --no-verify --jit --db "
                                       "'{}/recordings/h200-bf16-settled.db.zst' -o best_gemm.hpp",
                                       PGTUNE_PROGRAM, PGTUNE_SOURCE_DIR),
                           &output),
              0)
        << output;
    fs::create_directory(folder_->path() / "cache");
    ASSERT_TRUE(folder_->compile("c++ -std=c++17 -g -fsanitize=address,undefined -fno-exceptions -fno-rtti",
                                 PGTUNE_SOURCE_DIR "/tests/exported/programs/jit.cpp", "jit"));
  }
  static void TearDownTestSuite() { folder_.reset(); }

  /// What the program says: status, loads, choice.
  static std::string run(const std::string& nvrtc, const std::string& arguments) {
    std::string output;
    folder_->run(fmt::format("ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH='{}' ./jit {} {}", PGTUNE_FAKE_CUDA_FOLDER,
                             nvrtc, arguments),
                 &output);
    return output;
  }
  [[nodiscard]] static std::vector<fs::path> cached() { return files_below(folder_->path() / "cache"); }

  static inline std::unique_ptr<ExportFolder> folder_;
  const std::string nvrtc_ = PGTUNE_NVRTC;
};

constexpr const char* kWorks = "done, 2 loads, match 0\n";

TEST_F(ExportJit, CompilesTheWorkersKernelsAndKeepsThem) {
  EXPECT_EQ(run(nvrtc_, "cache"), kWorks);
  ASSERT_EQ(cached().size(), 2U);
  // Bit for bit what the worker compiled, with a checksum behind it.
  std::vector<std::string> own;
  for (const fs::path& path : files_below(folder_->path() / "worker")) own.push_back(read_file(path).value());
  for (const fs::path& path : cached()) {
    std::string bytes = read_file(path).value();
    bytes.resize(bytes.size() - 8);
    EXPECT_NE(std::find(own.begin(), own.end(), bytes), own.end()) << path;
  }
  // A second process reads what the first has kept.
  const auto written = fs::last_write_time(cached().front());
  EXPECT_EQ(run(nvrtc_, "cache"), kWorks);
  EXPECT_EQ(fs::last_write_time(cached().front()), written);
  EXPECT_THAT(folder_->path() / "cache", testing::ResultOf(files_below, testing::SizeIs(2)));
}

TEST_F(ExportJit, WhatWasCutOffOrSpoiltIsCompiledAgain) {
  ASSERT_EQ(run(nvrtc_, "cache"), kWorks);
  const fs::path one = cached().front();
  const std::string sound = read_file(one).value();
  std::string spoilt = sound;
  spoilt[100] = static_cast<char>(spoilt[100] + 1);
  for (const std::string& bytes : {spoilt, sound.substr(0, sound.size() / 2)}) {
    std::ofstream(one, std::ios::binary) << bytes;
    EXPECT_EQ(run(nvrtc_, "cache"), kWorks);
    EXPECT_EQ(read_file(one), sound);
  }
}

TEST_F(ExportJit, NothingIsKeptWhereNoFolderIsNamedOrItCannotBeWritten) {
  const std::vector<fs::path> before = cached();
  for (const char* cache : {"-", "cache/not/there"}) EXPECT_EQ(run(nvrtc_, cache), kWorks);
  EXPECT_EQ(cached(), before);
}

TEST_F(ExportJit, WithoutNvrtcOrAKernelForTheDeviceThereIsAStatusWithItsWords) {
  EXPECT_THAT(run("/nowhere/libnvrtc.so", "-"), HasSubstr("NVRTC cannot be opened: /nowhere/libnvrtc.so"));
  // What needs Hopper's instructions.
  const std::vector<fs::path> before = cached();
  EXPECT_THAT(run(nvrtc_, "cache 80"),
              testing::AllOf(HasSubstr("or compiles none of these kernels for the device: "), HasSubstr("sm_80")));
  EXPECT_EQ(cached(), before);
}

}  // namespace
}  // namespace pgtune::tool::test
