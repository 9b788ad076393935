// SPDX-License-Identifier: MIT
#include "tool/worker/memory_limit.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

namespace pgtune::worker {
namespace {

/// What failed was the next piece, so the peak stays below the limit; a table that doubles leaves half of it.
constexpr double kNear = 0.5;

/// Bytes; 0 where /proc does not say.
std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

Result<MemoryLimit> MemoryLimit::set(std::int64_t bytes) {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_DATA, &limit) == 0;
  const auto wanted = static_cast<rlim_t>(bytes);
  // A stricter limit of the user's own stays.
  if (known && limit.rlim_max != RLIM_INFINITY && limit.rlim_max <= wanted)
    return MemoryLimit(static_cast<std::int64_t>(limit.rlim_max));
  limit.rlim_cur = wanted;
  if (known && ::setrlimit(RLIMIT_DATA, &limit) == 0) return MemoryLimit(bytes);
  return fail(ErrorKind::kEnvironment,
              fmt::format("cannot limit the compiler's memory: {}", std::generic_category().message(errno)));
}

void MemoryLimit::forget_peak() const { std::ofstream("/proc/self/clear_refs") << "5"; }

bool MemoryLimit::nearly_reached() const {
  return static_cast<double>(peak_bytes()) > kNear * static_cast<double>(bytes_);
}

}  // namespace pgtune::worker
