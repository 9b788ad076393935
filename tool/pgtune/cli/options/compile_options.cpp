// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/compile_options.hpp"

#include <algorithm>

#include "tool/pgtune/cli/options/number_options.hpp"

namespace pgtune::tool {

void CompileOptions::add_to(CommandLine& app, const std::string& group) {
  app.add_option("--jobs", jobs_, "Compile workers (default: the configuration file's, else one a core)")
      .option_text("N")
      .group(group);
  app.add_option("--compile-limit", time_, "How long one variant may compile before it is given up (default: 60s)")
      .option_text("TIME")
      .group(group);
  app.add_option("--compile-memory", memory_mib_, "Memory one compile worker may take, in MiB (default: 2048)")
      .option_text("MIB")
      .group(group);
}

CompileLimits CompileOptions::limits(const Context& context) const {
  constexpr std::int64_t kLeastMib = 128;  // NVRTC itself takes about 90
  CompileLimits limits;
  limits.jobs = jobs_.empty() ? static_cast<std::size_t>(context.config().jobs.value_or(0))
                              : static_cast<std::size_t>(parse_count("--jobs", jobs_, 0));
  if (!time_.empty())
    limits.time = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>(parse_seconds("--compile-limit", time_)));
  if (!memory_mib_.empty()) {
    constexpr std::int64_t kMostMib = std::int64_t{1} << 30;
    limits.memory_bytes = std::min(parse_count("--compile-memory", memory_mib_, kLeastMib), kMostMib) << 20;
  }
  return limits;
}

}  // namespace pgtune::tool
