// SPDX-License-Identifier: MIT
// The device behind a search: what compiles variants, checks them and times them. Implementations: WorkerDevice (real
// GPU through worker processes), and a scripted fake in the tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/model/clock_beside.hpp"
#include "tuner/model/gpu_process.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::device {

/// NVRTC takes about 100 MB for an ordinary kernel; a template that needs twenty times as much is a mistake.
inline constexpr std::int64_t kDefaultCompileMemoryBytes = std::int64_t{2} << 30;

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Makes the problem current: buffers, random data, float64 reference, cuBLASLt's algorithms. Must be called before
  /// submit_trial and run_round; a later call replaces the problem.
  [[nodiscard]] virtual Result<BaselineReport> prepare(const protocol::PrepareRequest& request) = 0;

  /// The problem last prepared, with what is known of its baseline, for a caller that starts its own worker.
  [[nodiscard]] virtual std::optional<protocol::PrepareRequest> prepared() const { return std::nullopt; }

  /// How many builds may be in flight at once. Precondition of submitting: fewer are.
  [[nodiscard]] virtual std::size_t build_slots() const = 0;
  /// Builds go on during trials, rounds and ceilings; wait() returns them.
  virtual void submit_build(protocol::BuildRequest request) = 0;
  /// At most one trial may be in flight.
  virtual void submit_trial(protocol::TrialRequest request) = 0;
  /// Returns what has finished; waits up to `timeout` for the first event. Empty on timeout or when a signal arrived.
  /// An error ends the session (for example: no worker can be started any more).
  [[nodiscard]] virtual Result<std::vector<protocol::Event>> wait(std::chrono::milliseconds timeout) = 0;

  /// Runs one round; no trial may be in flight. Contenders that fail get an outcome, the others their samples.
  [[nodiscard]] virtual Result<protocol::RoundReport> run_round(const protocol::RoundRequest& request) = 0;

  /// Checks a finalist again under the conditions of its timing; nothing else may be in flight. Failures are in the
  /// report's outcome.
  [[nodiscard]] virtual Result<protocol::VerifyReport> verify(const protocol::VerifyRequest& request) = 0;

  /// Compares rows of a family's products bit for bit. Frees the prepared problem: prepare() must come before trials
  /// and rounds again. Errors: (internal) a kernel that fails.
  [[nodiscard]] virtual Result<protocol::RowsReport> compare_rows(const protocol::RowsRequest& request) = 0;

  /// Measures one energy window; nothing else may be in flight. Errors: usage where the window is too short for the
  /// uncertainty (the message has the length that would do); environment where this GPU or its NVML has no energy
  /// counter; a contender that fails.
  [[nodiscard]] virtual Result<EnergyWindow> measure_energy(const protocol::EnergyRequest& request) = 0;
  /// Measures the GPU's ceilings, in about a second; no trial may be in flight.
  [[nodiscard]] virtual Result<Ceilings> measure_ceilings() = 0;

  /// Other processes that compute on the GPU now, as far as NVML shows them. Nothing else may be in flight.
  [[nodiscard]] virtual OtherProcesses other_processes() { return {}; }
  /// The baseline's clocks since the device was opened, with how many other GPUs of the machine were at work; empty
  /// where that is not known.
  [[nodiscard]] virtual std::vector<ClockBeside> clocks_beside() const { return {}; }
};

}  // namespace pgtune::device
