// SPDX-License-Identifier: MIT
// Measurements of pipelines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/candidate.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::pipeline {

/// Whole runs of a pipeline, each from an idle GPU until the host has all results, timed together.
struct RunSample {
  Stage stage = Stage::kScreen;
  int round = 0;     ///< counts from 1 inside its stage; 0 for screening
  int position = 0;  ///< order inside its round
  std::int64_t runs = 0;
  double host_s = 0;                       ///< by the host's clock, all runs: a program's waiting time
  double device_s = 0;                     ///< between events on the device, all runs
  std::optional<double> sm_clock_hz = {};  ///< mean over the sample; absent if not measured
  std::optional<double> lead_in_s = {};    ///< of a settled sample: the time it ran right before, until the clock was
                                           ///< stable

  PGTUNE_FIELDS(stage, round, position, runs, host_s, device_s, sm_clock_hz, lead_in_s)
  friend bool operator==(const RunSample&, const RunSample&) = default;
  /// Errors (database): impossible numbers of runs or times.
  [[nodiscard]] Result<void> validate() const;
};

/// Check and screening of one candidate.
struct TrialResult {
  Outcome outcome;
  std::optional<CheckReport> check;
  std::vector<RunSample> samples;

  PGTUNE_FIELDS(outcome, check, samples)
  friend bool operator==(const TrialResult&, const TrialResult&) = default;
};

/// The kernel of chunks of one extent, alone on the GPU.
struct ChunkTime {
  Cut cut = Cut::kM;
  std::int64_t extent = 0;
  double time_s = 0;
  std::string kernel;  ///< "cuBLASLt, algorithm 66, ...", or a variant's id

  PGTUNE_FIELDS(cut, extent, time_s, kernel)
  friend bool operator==(const ChunkTime&, const ChunkTime&) = default;
};

/// The kernel for chunks of one extent, launched alone, once the clock was stable.
struct SettledKernel {
  Cut cut = Cut::kM;
  std::int64_t extent = 0;
  Sample sample;

  PGTUNE_FIELDS(cut, extent, sample)
  friend bool operator==(const SettledKernel&, const SettledKernel&) = default;
};

/// The time of each of a candidate's steps alone, over all chunks.
struct StepTimes {
  double copy_in_s = 0, compute_s = 0, copy_out_s = 0;

  PGTUNE_FIELDS(copy_in_s, compute_s, copy_out_s)
  friend bool operator==(const StepTimes&, const StepTimes&) = default;
};

/// A machine's data on itself and the prepared problem.
struct Prepared {
  std::int64_t device_bytes = 0;            ///< free for candidates
  std::int64_t pinned_bytes = 0;            ///< limit for candidates' pinned memory
  std::int64_t checked_rows = 0;            ///< of D, compared with the float64 reference
  std::string library;                      ///< "cuBLASLt 13.0.2"
  std::optional<bool> batched_copies = {};  ///< whether the driver has cudaMemcpyBatchAsync; absent: not known, as no
  std::vector<int> host_nodes = {};         ///< NUMA nodes for host memory, if there are several

  PGTUNE_FIELDS(device_bytes, pinned_bytes, checked_rows, library, batched_copies, (host_nodes, kUnlessDefault))
  friend bool operator==(const Prepared&, const Prepared&) = default;
};

}  // namespace pgtune::pipeline
