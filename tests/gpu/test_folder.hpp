// SPDX-License-Identifier: MIT
// A folder of its own for one test, removed at its end, and the cubins that tests share.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "tuner/gpu/jit/cubin_cache.hpp"

namespace pgtune::gpu {

class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::path(testing::TempDir()) / "pgtune_gpu_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The cache in $PGTUNE_TEST_CUBINS, where what other tests and earlier runs compiled is found by its content; in `own`
/// without that variable.
inline CubinCache shared_cubins(const TestFolder& own) {
  const char* const shared = std::getenv("PGTUNE_TEST_CUBINS");  // NOLINT(concurrency-mt-unsafe)
  return CubinCache::open(shared != nullptr && *shared != '\0' ? shared : own.path()).value();
}

}  // namespace pgtune::gpu
