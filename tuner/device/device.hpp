// SPDX-License-Identifier: MIT
// The device behind a search: what compiles variants, checks them and times them. Implementations: WorkerDevice (real
// GPU through worker processes), ReplayDevice (a recording), and a scripted fake in the tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/result.hpp"
#include "tuner/model/source.hpp"
#include "tuner/model/variant.hpp"

namespace pgtune::device {

/// Ticket by which an event names its request; chosen by the caller, unique per device object.
using RequestId = std::int64_t;

struct BuildRequest {
  RequestId id = 0;
  Variant variant;
  std::shared_ptr<const TemplateSource> source;
  std::vector<Define> defines;
  std::string architecture;  ///< NVRTC target, e.g. "sm_90a"
};

struct BuildDone {
  RequestId id = 0;
  Outcome outcome;  ///< kOk, kCompileFailed, kTimeout, kCrashed or kNotRecorded
  BuildInfo build;  ///< filled when outcome is kOk
};

/// Check and screen one built variant on the prepared problem.
struct TrialRequest {
  RequestId id = 0;
  Variant variant;
  LaunchPlan plan;
  BuildInfo build;
  /// Median time per launch of the best variant so far; the trial stops early when clearly slower. 0: no limit yet.
  double incumbent_s = 0;
  /// How long the first, checked launch may take before it counts as hanging. 0: no limit. Set by WorkerDevice.
  double launch_limit_s = 0;
};

struct TrialDone {
  RequestId id = 0;
  TrialReport report;
};

using Event = std::variant<BuildDone, TrialDone>;

/// Somebody who gets a block in every round: a variant, or one of the reference's algorithms.
struct Contender {
  Variant variant;  ///< ignored when reference_algorithm >= 0
  LaunchPlan plan;
  BuildInfo build;
  int reference_algorithm = -1;  ///< index into ReferenceReport::algorithms, or -1
};

/// One round: a block for each contender in the given order. The same contender may be in it twice.
struct RoundRequest {
  std::vector<Contender> contenders;
  std::vector<int> order;  ///< permutation of contender indices
  int round = 0;
  Stage stage = Stage::kFinal;
  /// Duration of each block without its lead-in; least_block_s() of the slowest contender where that is longer.
  double block_s = 20e-3;
};

/// blocks[i] belongs to contender i (not to position i); empty optional: that contender failed, with the outcome beside
/// it.
struct RoundReport {
  std::vector<std::optional<Block>> blocks;
  std::vector<Outcome> outcomes;
};

/// What an earlier measure worker found out about the reference, for the one that takes its place.
struct KnownReference {
  ReferenceReport report;
  std::vector<std::string> opaque;  ///< beside report.algorithms: the library's own description of each, in hex
};

/// What becomes current with prepare().
struct PrepareRequest {
  Problem problem;
  Conditions conditions;
  /// Set by WorkerDevice alone, where it replaces a worker: the reference is taken over and not looked for again.
  std::optional<KnownReference> known = {};
};

/// One energy window of a steady load, or of the idle GPU.
struct EnergyRequest {
  std::optional<Contender> contender;  ///< nothing: idle
  double lead_in_s = 2;                ///< untimed load before the window, for clocks and averages to settle
  double window_s = 5;
  double max_uncertainty = 0.01;  ///< relative, of the energy; a window too short for it is refused
  int index = 0;                  ///< which window of this contender, from 0: tells a replay which one is meant
};

class Device {
 public:
  virtual ~Device() = default;

  /// Facts about the GPU (in a replay: the recorded one's).
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  /// "gpu" or "replay": stored with every result for ever.
  [[nodiscard]] virtual std::string source() const = 0;

  /// Makes the problem current: buffers, random data, float64 reference, cuBLASLt's algorithms. Must be called before
  /// submit_trial and run_round; a later call replaces the problem.
  [[nodiscard]] virtual Result<ReferenceReport> prepare(const PrepareRequest& request) = 0;

  /// How many builds may be in flight at once; more are the caller's mistake.
  [[nodiscard]] virtual std::size_t build_slots() const = 0;
  virtual void submit_build(BuildRequest request) = 0;
  /// At most one trial may be in flight.
  virtual void submit_trial(TrialRequest request) = 0;
  /// Returns what has finished; waits up to `timeout` for the first event. Empty on timeout or when a signal arrived.
  /// An error ends the session (for example: no worker can be started any more).
  [[nodiscard]] virtual Result<std::vector<Event>> wait(std::chrono::milliseconds timeout) = 0;

  /// Runs one round; nothing else may be in flight. Contenders that fail get an outcome, the others their blocks.
  [[nodiscard]] virtual Result<RoundReport> run_round(const RoundRequest& request) = 0;

  /// Measures one energy window; nothing else may be in flight. Errors: usage where the window is too short for the
  /// uncertainty (the message has the length that would do); environment where this GPU or its NVML has no energy
  /// counter; a contender that fails.
  [[nodiscard]] virtual Result<EnergyWindow> measure_energy(const EnergyRequest& request) = 0;
  /// Measures the GPU's ceilings, in about a second; nothing else may be in flight.
  [[nodiscard]] virtual Result<Ceilings> measure_ceilings() = 0;
};

}  // namespace pgtune::device
