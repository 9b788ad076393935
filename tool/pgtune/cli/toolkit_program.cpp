// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/toolkit_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <vector>

namespace pgtune::tool {
namespace {

bool is_executable(const std::filesystem::path& path) { return access(path.c_str(), X_OK) == 0; }

}  // namespace

std::vector<std::filesystem::path> toolkit_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream entries(path);
    for (std::string folder; std::getline(entries, folder, ':');) folders.emplace_back(folder);
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) folders.push_back(std::filesystem::path(root) / "bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  folders.emplace_back(PGTUNE_TOOLKIT_BIN);
  return folders;
}

Result<std::filesystem::path> find_toolkit_program(const ToolkitProgram& program) {
  if (const char* chosen = std::getenv(program.variable.c_str()); chosen != nullptr && *chosen != '\0') {
    if (is_executable(chosen)) return chosen;
    return fail(ErrorKind::kEnvironment,
                fmt::format("no {}: {} is '{}', which is no program; give {}'s path, or unset it to search for one",
                            program.purpose, program.variable, chosen, program.name));
  }
  for (const auto& folder : toolkit_folders()) {
    if (folder.is_absolute() && is_executable(folder / program.name)) return folder / program.name;
  }
  return fail(ErrorKind::kEnvironment,
              fmt::format("no {}: {} is neither on PATH nor in a CUDA toolkit; install the toolkit's {}, or name it "
                          "in {}",
                          program.purpose, program.name, program.name, program.variable));
}

}  // namespace pgtune::tool
