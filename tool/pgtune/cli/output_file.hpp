// SPDX-License-Identifier: MIT
// A command's output files.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace pgtune::tool {

/// Writes under a temporary name and renames, so that a reader never sees half a file. An existing path that is no
/// plain file (a device, a pipe, a link) is written to instead of replaced. Throws CommandError (environment).
void write_output_file(const std::filesystem::path& path, std::string_view text);

// A temporary folder, removed by the destructor.

class ScratchFolder {
 public:
  /// In the system's folder of temporary files, readable by this user alone; path() is empty if it could not be made.
  ScratchFolder() {
    std::error_code none;
    std::string name = (std::filesystem::temp_directory_path(none) / "pgtune-XXXXXX").string();
    if (!none && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace pgtune::tool
