// SPDX-License-Identifier: MIT
// Counters of variants and of the baseline: a separate worker launches each once, under the profiler.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/kernel_counters.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::tool {

struct CounterRequest {
  std::string gpu;                   ///< UUID
  protocol::PrepareRequest prepare;  ///< with `known`, the baseline is not searched for again
  std::vector<protocol::BuiltVariant> variants = {};
  bool baseline = false;       ///< and one of the baseline's algorithms
  std::string algorithm = {};  ///< which, as protocol::LaunchRequest::algorithm
};

/// The counters of one contender.
struct LaunchCounters {
  std::vector<KernelCounters> kernels;  ///< in the order of launches; if empty, `missing` has the reason
  std::string missing;
};

struct CounterReadings {
  std::vector<LaunchCounters> variants;    ///< in the request's order
  std::optional<LaunchCounters> baseline;  ///< if requested
  std::string algorithm;                   ///< the baseline's, with its library: "cuBLASLt 13.1.0: algorithm 66, ..."
};

/// The worker gets the problem with its operation. Precondition: no other worker of this process holds the GPU, as its
/// memory may be needed. Errors (environment): there is no profiler, it may not read counters, it takes too long; the
/// worker cannot prepare the problem. Also those of operation::with_operation().
[[nodiscard]] Result<CounterReadings> read_counters(const std::filesystem::path& worker, CounterRequest request,
                                                    const std::atomic<bool>& stop);

}  // namespace pgtune::tool
