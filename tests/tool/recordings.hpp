// SPDX-License-Identifier: MIT
// The recordings that pgtune ships, for tests of each.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace pgtune::tool::test {

inline std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PGTUNE_SOURCE_DIR "/recordings"))
    if (entry.path().extension() == ".zst") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Of a recording, for the name of a test.
inline std::string recording_name(const testing::TestParamInfo<std::filesystem::path>& recording) {
  std::string name = recording.param.stem().stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace pgtune::tool::test
