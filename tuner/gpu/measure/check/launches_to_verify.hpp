// SPDX-License-Identifier: MIT
// What a verification asks of a launchable and its operand copies. Tests have one of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

/// A failure is the launchable's fault. Copies are those that timed launches rotate over.
class LaunchesToVerify {
 public:
  virtual ~LaunchesToVerify() = default;

  [[nodiscard]] virtual std::size_t copies() const = 0;
  /// Launches read what they write, so that each needs its data anew.
  [[nodiscard]] virtual bool has_inout() const = 0;
  /// What the operation's cases are called.
  [[nodiscard]] virtual std::vector<std::string> cases() const = 0;

  /// Fills every copy with data under `seed`: copy `i` as copy `i` % `sets`.
  [[nodiscard]] virtual CudaResult<> fill(std::uint64_t seed, std::size_t sets) = 0;
  /// Fills `copy` with the data of the case of that index.
  [[nodiscard]] virtual CudaResult<> fill_case(std::size_t index, std::size_t copy) = 0;
  /// Data of all copies, and the reference, as they were before the first fill().
  [[nodiscard]] virtual CudaResult<> restore() = 0;

  /// Overwrites D of `copy`; what launches read and write gets its data.
  [[nodiscard]] virtual CudaResult<> poison(std::size_t copy, std::uint32_t pattern) = 0;
  /// Writes D of `copy` as it is, so that caches are as after poison().
  [[nodiscard]] virtual CudaResult<> rewrite(std::size_t copy) = 0;
  /// One launch, which is waited for; seconds, where the host enqueued it before the GPU could wait for it.
  [[nodiscard]] virtual CudaResult<std::optional<double>> launch(std::size_t copy) = 0;
  /// Launches as they are timed, back to back, `turns` times over the copies, and waits for them.
  [[nodiscard]] virtual CudaResult<> launch_as_timed(std::int64_t turns) = 0;

  /// Computes the reference of what `copy` holds.
  [[nodiscard]] virtual CudaResult<> refer_to(std::size_t copy) = 0;
  /// What is wrong with the result in `copy`, whose D held `poison` before, by the present reference, and what else was
  /// written to; empty where nothing is.
  [[nodiscard]] virtual CudaResult<std::string> fault(std::size_t copy, std::uint32_t poison) = 0;
  /// Guards of `copy` that changed; empty where none did.
  [[nodiscard]] virtual CudaResult<std::string> guard_fault(std::size_t copy) = 0;
  /// Checksums of the results in copy `first` and in every `step`-th after it, of what the present reference judges.
  [[nodiscard]] virtual CudaResult<std::vector<std::uint64_t>> sums(std::size_t first, std::size_t step) = 0;
};

}  // namespace pgtune::gpu
