// SPDX-License-Identifier: MIT
// A folder and an environment of its own for each test of the command line, with the fake worker as the only GPU.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scratch_folder.hpp"
#include "tests/tool/process.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool::test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// 2 x 3 x 2 = 12 points, 10 after the constraint; shared memory as written.
inline constexpr const char* kTinyTemplate = R"json({
  "schema": 1, "name": "tiny", "description": "a template for tests", "source": "tiny.cu", "dtypes": ["f32"],
  "parameters": [
    {"name": "BM", "values": [32, 64], "default": 64, "description": "CTA tile rows"},
    {"name": "BN", "values": [32, 64, 128], "default": 64, "description": "CTA tile columns"},
    {"name": "COPY", "values": ["ldg", "cp_async"], "default": "ldg", "description": "copy path"}],
  "derived": [{"name": "THREADS", "expr": "BM * BN / 16"}],
  "constraints": [{"expr": "BM * BN <= 4096", "reason": "the CTA tile is too large"}],
  "legality": [{"expr": "K >= 8", "reason": "K is too short"}],
  "kernels": [{"symbol": "tiny", "grid": ["ceil_div(N, BN)", "ceil_div(M, BM)", "BATCH"], "block": ["THREADS"],
    "dynamic_smem": "(BM + BN) * 64",
    "arguments": [{"pointer": "A"}, {"pointer": "B"}, {"pointer": "D"}, {"int32": "M"}, {"float32": "alpha"}]
}]
})json";

/// Reads counters in the place of the toolkit's profiler.
inline constexpr const char* kFakeProfiler = PGTUNE_SOURCE_DIR "/tests/tool/fake_ncu";

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));  // some tests run as another user
    write("tiny.cu", "extern \"C\" __global__ void tiny(const float*, const float*, float*, int, float) {}\n");
    write("tiny.json", kTinyTemplate);
    // Searches of few variants need no model, whose fit takes seconds.
    configure(R"({"strategy": "guided"})");
    launch_.environment = {{"HOME", folder_.path().string()},
                           {"PATH", "/usr/bin:/bin"},
                           {"PGTUNE_WORKER", PGTUNE_FAKE_WORKER},
                           {"PGTUNE_LOCK_DIR", folder_.path().string()},
                           {"PGTUNE_FAKE_LOG", path("requests.log")}};
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  /// Writes the user's configuration file.
  void configure(const std::string& text) const {
    std::filesystem::create_directories(folder_ / ".config/pgtune");
    write(".config/pgtune/config.json", text);
  }
  void write_program(const std::string& name, const std::string& text) const {
    write(name, text);
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string read(const std::string& name) const { return text_of(path(name)); }
  [[nodiscard]] static std::string text_of(const std::string& file) { return read_file(file).value_or(""); }

  /// Polls until `ready`; the limit only ends a test that is broken.
  static void await(const std::function<bool()>& ready) {
    for (int i = 0; i < 6000 && !ready(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_TRUE(ready());
  }

  static void expect_80_columns(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }

  Finished pgtune(std::vector<std::string> arguments, const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    launch_.arguments = std::move(arguments);
    return run(launch_);
  }
  /// pgtune search --template tiny.json --shape 256x256x256 with more after it.
  static std::vector<std::string> search_arguments(const std::string& json, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"search", "--template", json, "--shape", "256x256x256"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Finished search(const std::vector<std::string>& more = {}) {
    return pgtune(search_arguments(path("tiny.json"), more));
  }
  /// How many requests of an operation reached workers so far; with a key those for that variant.
  [[nodiscard]] int requests(const std::string& operation, const std::string& key = {}) const {
    std::istringstream lines(read("requests.log"));
    const std::string wanted = " " + operation + " " + key;
    int count = 0;
    for (std::string line; std::getline(lines, line);)
      count += (key.empty() ? line.find(wanted) != std::string::npos : line.ends_with(wanted)) ? 1 : 0;
    return count;
  }
  [[nodiscard]] std::string database() const { return path(".local/share/pgtune/pgtune.db"); }

  Launch launch_;

 private:
  const support::ScratchFolder folder_;
};

}  // namespace pgtune::tool::test
