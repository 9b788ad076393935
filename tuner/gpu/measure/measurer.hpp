// SPDX-License-Identifier: MIT
// The measuring half of pgtune-worker: one GPU, one current problem; checks, screens and times variants on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/device/device.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/result.hpp"

namespace pgtune::gpu {

class Measurer {
 public:
  /// `gpu`: ordinal, UUID or the unique beginning of one. Errors (environment) carry the remedy. Must be the process's
  /// first use of CUDA: it removes environment variables that would let cuBLAS leave strict float32.
  [[nodiscard]] static Result<std::unique_ptr<Measurer>> open(const std::string& gpu);
  ~Measurer();

  [[nodiscard]] const DeviceInfo& info() const;

  /// Frees the old problem, makes `problem` current: operand copies with random data, float64 reference, and cuBLASLt's
  /// algorithms checked and screened. Errors: usage where the problem does not fit the GPU's memory, internal where
  /// CUDA or cuBLASLt fails.
  [[nodiscard]] Result<ReferenceReport> prepare(const Problem& problem);

  /// Checks one built variant and, when it is right, screens it. What goes wrong is the report's outcome.
  [[nodiscard]] TrialReport trial(const device::TrialRequest& request);

  /// One block of equal duration for each contender, in the given order. A contender that fails has its outcome; one
  /// that was not reached because another lost the context has no block and outcome kOk with the reason.
  [[nodiscard]] Result<device::RoundReport> round(const device::RoundRequest& request);

  /// A sticky CUDA error happened: nothing works any more and the process must be replaced.
  [[nodiscard]] bool context_lost() const;

 private:
  struct State;
  explicit Measurer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Every GPU visible to this process. Errors (environment) as open().
[[nodiscard]] Result<std::vector<DeviceInfo>> list_gpus();

}  // namespace pgtune::gpu
