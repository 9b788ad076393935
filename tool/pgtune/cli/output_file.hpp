// SPDX-License-Identifier: MIT
// A command's output files.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// Writes under a temporary name and renames, so that a reader never sees half a file. An existing path that is no
/// plain file (a device, a pipe, a link) is written to instead of replaced. Throws CommandError (environment).
void write_output_file(const std::filesystem::path& path, std::string_view text);

/// Throws write_output_file()'s error now, for a text that takes long to make. What is there stays as it is.
void require_output_file(const std::filesystem::path& path);

/// A temporary folder, removed by the destructor.
class ScratchFolder {
 public:
  /// In the system's folder of temporary files, readable by this user alone. Errors (environment): it cannot be made.
  [[nodiscard]] static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace pgtune::tool
