// SPDX-License-Identifier: MIT
// Keeps a compiler from eating the machine's memory, and tells afterwards whether it tried to.
#pragma once

#include <cstdint>

#include "tuner/util/result.hpp"

namespace pgtune::worker {

/// A limit on this process' own memory (RLIMIT_DATA: heap and private mappings, not the libraries' code). Beyond it
/// allocations fail, which NVRTC's front end reports and its optimizer aborts on ("LLVM ERROR: out of memory").
class MemoryLimit {
 public:
  /// A stricter limit this process was started with stays. Errors (environment): the kernel refuses.
  [[nodiscard]] static Result<MemoryLimit> set(std::int64_t bytes);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Starts a new peak.
  void forget_peak() const;
  /// The process has come so near the limit since forget_peak() that a failure may be put down to it. Where the kernel
  /// does not let a process forget, since its start.
  [[nodiscard]] bool nearly_reached() const;

 private:
  explicit MemoryLimit(std::int64_t bytes) : bytes_(bytes) {}
  std::int64_t bytes_;
};

}  // namespace pgtune::worker
