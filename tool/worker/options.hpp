// SPDX-License-Identifier: MIT
// The worker's command line. Only pgtune writes it, so it is plain: no CLI11 in this program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/result.hpp"

namespace pgtune::worker {

enum class Role { kCompile, kMeasure, kList, kHelp };

struct Options {
  Role role = Role::kHelp;
  std::string cache_folder;  ///< compile: where cubins go
  std::string gpu;           ///< measure: ordinal or UUID
};

inline constexpr std::string_view kUsage =
    "usage: pgtune-worker --role compile --cache-dir DIR\n"
    "       pgtune-worker --role measure --gpu ORDINAL-OR-UUID\n"
    "       pgtune-worker --role list\n"
    "\n"
    "The CUDA half of pgtune, which starts it as a child process. compile and measure read one JSON request a line\n"
    "from standard input and answer each with one line until the input ends; list prints the GPUs as one JSON line.\n";

/// Errors (usage) name the option and what it needs.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& arguments);

}  // namespace pgtune::worker
