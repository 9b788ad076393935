// SPDX-License-Identifier: MIT
// A folder of its own for one test or one run.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace pgtune::support {

/// In $TEST_TMPDIR, else where the system has temporary files; for this user alone. It is gone at the end, even where
/// it was made read-only.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& prefix = "pgtune_") {
    const char* const chosen = std::getenv("TEST_TMPDIR");  // NOLINT(concurrency-mt-unsafe)
    const std::filesystem::path below =
        chosen != nullptr && *chosen != '\0' ? chosen : std::filesystem::temp_directory_path();
    std::string name = (below / (prefix + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace pgtune::support
