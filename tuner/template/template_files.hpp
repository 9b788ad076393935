// SPDX-License-Identifier: MIT
// Files that a definition on disk names: regular ones of limited size, below the folder of its source.
#pragma once

#include <filesystem>
#include <string>

#include "tuner/util/result.hpp"

namespace pgtune::space {

/// Reads only regular files of limited size: a template that names a device or a pipe must not hang the program.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

/// Reads what a definition names, and no more than its own and its source's folder hold: a symbolic link out of them is
/// refused.
class TemplateFolder {
 public:
  explicit TemplateFolder(std::filesystem::path json_folder) : json_folder_(std::move(json_folder)) {}

  /// The first file read is the source (read_template_source), which decides the folder.
  [[nodiscard]] Result<std::string> read(const std::string& relative);

 private:
  std::filesystem::path json_folder_, source_folder_;
};

}  // namespace pgtune::space
