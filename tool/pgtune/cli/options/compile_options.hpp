// SPDX-License-Identifier: MIT
// What compiling may cost: --jobs, --compile-limit, --compile-memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/device/device.hpp"

namespace pgtune::tool {

struct CompileLimits {
  std::size_t jobs = 0;                                            ///< compile workers, 0 for one a core
  std::chrono::milliseconds time{60'000};                          ///< of one build
  std::int64_t memory_bytes = device::kDefaultCompileMemoryBytes;  ///< of one worker
};

class CompileOptions {
 public:
  void add_to(CommandLine& app, const std::string& group);
  /// Options, else the configuration file's, else the defaults. Throws CommandError (usage) naming the option.
  [[nodiscard]] CompileLimits limits(const Context& context) const;

 private:
  std::string jobs_, time_, memory_mib_;
};

}  // namespace pgtune::tool
