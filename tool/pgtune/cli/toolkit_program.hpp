// SPDX-License-Identifier: MIT
// Programs of the CUDA toolkit that pgtune runs if they are installed: the disassembler, the profiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

struct ToolkitProgram {
  std::string name;      ///< of the file: "nvdisasm"
  std::string purpose;   ///< for messages: "disassembler"
  std::string variable;  ///< environment variable that may name another: "PGTUNE_NVDISASM"
};

/// The variable's program, else one on PATH, else in CUDA_HOME/bin, CUDA_PATH/bin, /usr/local/cuda/bin or the toolkit
/// of the build. Error (environment) if there is none, with the remedy.
[[nodiscard]] Result<std::filesystem::path> find_toolkit_program(const ToolkitProgram& program);

/// The folders of the search: those of PATH, then a toolkit's.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_folders();

}  // namespace pgtune::tool
