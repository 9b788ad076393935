// SPDX-License-Identifier: MIT
// The measuring half of pgtune-worker: one GPU, one current problem; checks, screens and times variants on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class Measurer {
 public:
  /// `gpu`: ordinal, UUID or the unique beginning of one. Errors (environment) carry the remedy. Must be the process's
  /// first use of CUDA: it removes environment variables that would let cuBLAS leave strict float32.
  [[nodiscard]] static Result<std::unique_ptr<Measurer>> open(const std::string& gpu);
  ~Measurer();

  [[nodiscard]] const DeviceInfo& info() const;

  /// Frees the old problem, makes the request's current: operand copies with data as its conditions say, float64
  /// baseline, and cuBLASLt's algorithms checked and screened. Errors: usage where the problem does not fit the GPU's
  /// memory, internal where CUDA or cuBLASLt fails. With `known` the baseline is taken over instead of looked for.
  [[nodiscard]] Result<BaselineReport> prepare(const protocol::PrepareRequest& request);
  /// Of the prepared problem's baseline, as KnownBaseline::opaque.
  [[nodiscard]] std::vector<std::string> opaque_algorithms() const;

  /// Checks one built variant and, if it is right, screens it. Failures are the report's outcome.
  [[nodiscard]] TrialReport trial(const protocol::TrialRequest& request);

  /// Launches one built variant, or one algorithm of the baseline, twice on the first copy of the operands: the second
  /// launch alone is in a range that profilers know (cuProfilerStart, cuProfilerStop). Nothing is checked or timed.
  [[nodiscard]] protocol::LaunchReport launch(const protocol::LaunchRequest& request);

  /// One sample of equal duration for each contender, in the given order, timed as the regime of the prepared
  /// conditions says; the same contender may be in it twice. A contender that fails has its outcome; one that was not
  /// reached because another lost the context has no sample and outcome kOk with the reason.
  [[nodiscard]] Result<protocol::RoundReport> round(const protocol::RoundRequest& request);

  /// Checks a finalist again under its timing conditions (tuner/gpu/measure/check/verification.hpp). Failures are the
  /// report's outcome.
  [[nodiscard]] Result<protocol::VerifyReport> verify(const protocol::VerifyRequest& request);

  /// One energy window: of a contender on the prepared problem, running back to back whatever the regime, or of the
  /// idle GPU, which needs no problem. Errors: usage where the window is too short for what was asked, with the length
  /// that would do; environment where the GPU has no energy counter; internal where the contender fails.
  [[nodiscard]] Result<EnergyWindow> energy(const protocol::EnergyRequest& request);

  /// Whether kernels give rows the same bits at every M. Frees the prepared problem: another must be prepared before
  /// what needs one. Errors: internal if CUDA fails or a kernel cannot be loaded; usage if too little memory is free.
  [[nodiscard]] Result<protocol::RowsReport> rows(const protocol::RowsRequest& request);

  /// This GPU's ceilings, in about a second; needs no problem. Errors: usage if too little memory is free, internal if
  /// CUDA fails.
  [[nodiscard]] Result<Ceilings> ceilings();

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
