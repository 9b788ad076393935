// SPDX-License-Identifier: MIT
// Something that computes the current problem: a variant or an algorithm of the baseline. Both are checked and timed
// through this one interface, so that neither is treated better.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/operand_set.hpp"

namespace pgtune::gpu {

class Launchable {
 public:
  Launchable() = default;
  Launchable(const Launchable&) = delete;
  Launchable& operator=(const Launchable&) = delete;
  virtual ~Launchable() = default;

  /// Enqueues one computation of the whole problem on operand copy `copy`.
  [[nodiscard]] virtual CudaResult<> launch(std::size_t copy, cudaStream_t stream) = 0;

  /// The same right behind another launch of this launchable, which it may overlap where the problem is chained.
  [[nodiscard]] virtual CudaResult<> launch_next(std::size_t copy, cudaStream_t stream) { return launch(copy, stream); }

  /// Enqueues what brings the result of the launch on operand copy `copy` to that copy's D, where launches leave it in
  /// private memory. Part of checking, not of the computation, so it is never timed.
  [[nodiscard]] virtual CudaResult<> deliver(std::size_t /*copy*/, cudaStream_t /*stream*/) { return {}; }

  /// The operand copies on which it is checked before it is timed.
  [[nodiscard]] virtual std::vector<std::size_t> checked_copies() const { return {0}; }
  /// Enqueues what brings private memory into the state the first launch of a process on operand copy `copy` finds,
  /// guards included.
  [[nodiscard]] virtual CudaResult<> reset(std::size_t /*copy*/, cudaStream_t /*stream*/) { return {}; }
  /// Private memory that launches on operand copy `copy` must leave alone, filled with kPoison by reset(): before the
  /// workspace and after it, or nothing.
  [[nodiscard]] virtual std::vector<DeviceSpan> guards(std::size_t /*copy*/) const { return {}; }
  /// A launch may depend on what the one before it left behind, so one right launch proves too little.
  [[nodiscard]] virtual bool keeps_state() const { return false; }
  [[nodiscard]] virtual bool wants_persisting_l2() const { return false; }
};

}  // namespace pgtune::gpu
