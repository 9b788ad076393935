// SPDX-License-Identifier: MIT
// Files that a command was told to write.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace pgtune::tool {

/// Written under a temporary name and renamed, so that a reader never sees half a file; what is there and no plain file
/// (a device, a pipe, a link) is written to instead of replaced. Throws CommandError (environment).
void write_output_file(const std::filesystem::path& path, std::string_view text);

// A folder for the files of one step, gone with it.

class ScratchFolder {
 public:
  /// In the place for temporary files, readable by this user alone; path() is empty where it could not be made.
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
