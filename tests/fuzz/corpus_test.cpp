// SPDX-License-Identifier: MIT
// Every file of the corpus through its target, with any compiler: what the fuzzers found stays found.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/targets.hpp"

namespace pgtune::fuzz {
namespace {

namespace fs = std::filesystem;

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, IsSurvived) {
  const fs::path folder = fs::path(PGTUNE_CORPUS) / GetParam().name;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  ASSERT_FALSE(files.empty());
  std::sort(files.begin(), files.end());
  EXPECT_NO_THROW(GetParam().run({}));
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    ASSERT_TRUE(stream.is_open());
    EXPECT_NO_THROW(GetParam().run(bytes));
    EXPECT_NO_THROW(GetParam().run(std::string_view(bytes).substr(0, bytes.size() / 2)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::ValuesIn(kTargets),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace pgtune::fuzz
