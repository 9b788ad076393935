// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/output_file.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <system_error>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {

void write_output_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code error;
  const auto there = std::filesystem::symlink_status(path, error);
  const bool replace = !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
  const std::filesystem::path written = replace ? fmt::format("{}.tmp", path.string()) : path.string();
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  error.clear();
  if (file && replace) std::filesystem::rename(written, path, error);
  if (!file || error) {
    if (replace) std::filesystem::remove(written, error);
    throw CommandError(
        ErrorKind::kEnvironment,
        fmt::format("cannot write {}; give a path in a folder that exists, is writable and has room", path.string()));
  }
}

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code none;
  std::string name = (std::filesystem::temp_directory_path(none) / "pgtune-XXXXXX").string();
  if (none || ::mkdtemp(name.data()) == nullptr)
    return fail(ErrorKind::kEnvironment, "no folder for temporary files. Set TMPDIR to one with some space.");
  return ScratchFolder(name);
}

}  // namespace pgtune::tool
