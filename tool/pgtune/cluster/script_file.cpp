// SPDX-License-Identifier: MIT
#include "tool/pgtune/cluster/script_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <system_error>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cluster/slurm_script.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

bool is_ours(const fs::path& path) {
  std::ifstream file(path);
  std::string first, second;
  std::getline(file, first);
  std::getline(file, second);
  return second.starts_with(kSlurmScriptMark);
}

}  // namespace

void write_slurm_script(const fs::path& path, const std::string& text) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error)) && !(fs::is_regular_file(path, error) && is_ours(path)))
    throw CommandError(
        ErrorKind::kUsage,
        fmt::format("{} is there and is no script of pgtune's; give another file with -o", path.string()));
  auto written = write_file_atomically(path, text);
  if (!written) throw CommandError(ErrorKind::kEnvironment, written.error().text());
  // As an editor would leave it, and executable.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  fs::permissions(path, static_cast<fs::perms>(0777 & ~mask), error);
}

void make_results_folder(const fs::path& folder) {
  for (const char* name : {"logs", "state"}) {
    std::error_code error;
    fs::create_directories(folder / name, error);
    if (error)
      throw CommandError(ErrorKind::kEnvironment,
                         fmt::format("cannot make the folder {}: {}. Give one that all nodes share and you may write "
                                     "to with --folder",
                                     (folder / name).string(), error.message()));
  }
}

}  // namespace pgtune::tool
