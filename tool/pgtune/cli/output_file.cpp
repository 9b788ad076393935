// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/output_file.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <system_error>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {

namespace {

/// Where a file's text is written first, and whether that is then renamed to `path`.
struct OutputPlace {
  explicit OutputPlace(const std::filesystem::path& path) {
    std::error_code error;
    const auto there = std::filesystem::symlink_status(path, error);
    replaces = !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
    written = replaces ? fmt::format("{}.tmp", path.string()) : path.string();
  }
  bool replaces;
  std::filesystem::path written;
};

[[noreturn]] void fail_to_write(const std::filesystem::path& path) {
  throw CommandError(
      ErrorKind::kEnvironment,
      fmt::format("cannot write {}; give a path in a folder that exists, is writable and has room", path.string()));
}

}  // namespace

void write_output_file(const std::filesystem::path& path, std::string_view text) {
  const OutputPlace place(path);
  std::ofstream file(place.written, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code error;
  if (file && place.replaces) std::filesystem::rename(place.written, path, error);
  if (file && !error) return;
  if (place.replaces) std::filesystem::remove(place.written, error);
  fail_to_write(path);
}

void require_output_file(const std::filesystem::path& path) {
  const OutputPlace place(path);
  if (!std::ofstream(place.written, std::ios::binary | std::ios::app)) fail_to_write(path);
  std::error_code ignored;
  if (place.replaces) std::filesystem::remove(place.written, ignored);
}

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code none;
  std::string name = (std::filesystem::temp_directory_path(none) / "pgtune-XXXXXX").string();
  if (none || ::mkdtemp(name.data()) == nullptr)
    return fail(ErrorKind::kEnvironment, "no folder for temporary files. Set TMPDIR to one with some space.");
  return ScratchFolder(name);
}

}  // namespace pgtune::tool
