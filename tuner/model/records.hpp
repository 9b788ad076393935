// SPDX-License-Identifier: MIT
// Facts that travel between worker, search and database: devices, builds, samples, baselines, trials, rounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/outcome.hpp"

namespace pgtune {

/// The GPU and the software under it. Reuse of stored results needs uuid, driver branch and architecture to match.
struct DeviceInfo {
  std::string uuid;  ///< "GPU-..." as nvidia-smi prints it
  std::string name;
  std::string architecture;  ///< NVRTC target, e.g. "sm_90a"
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::int64_t smem_per_block_bytes = 0;  ///< opt-in maximum of one CTA
  std::int64_t smem_per_sm_bytes = 0;
  int registers_per_sm = 0, threads_per_sm = 0;
  double max_sm_clock_hz = 0;
  double power_limit_w = 0;    ///< 0 where NVML does not say
  std::string driver_version;  ///< "580.159.04" from NVML; "CUDA 13.0" from the driver API where there is no NVML
  std::string nvrtc_version, cublaslt_version;
  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;

  /// First number of driver_version ("580"): results are comparable within a branch.
  [[nodiscard]] std::string driver_branch() const;
  /// Compute capability times ten: 90 for sm_90a.
  [[nodiscard]] int arch_number() const { return compute_major * 10 + compute_minor; }
};

/// A compiled variant.
struct BuildInfo {
  std::string cubin_path;  ///< in the cubin cache; empty in a replay
  std::string cubin_hash;  ///< of the cubin's bytes: variants with equal cubins are the same kernel
  std::string key_hash;    ///< cache key: source, headers, options, NVRTC version, architecture
  int registers = 0;       ///< per thread, the largest over the variant's kernels
  std::int64_t static_smem_bytes = 0;
  std::int64_t local_bytes = 0;  ///< stack frame per thread
  std::int64_t spill_bytes = 0;  ///< spill stores + loads per thread
  double compile_s = 0;          ///< NVRTC time; of the first compile when `cached`
  bool cached = false;
  friend bool operator==(const BuildInfo&, const BuildInfo&) = default;
};

/// Part of a session a sample was timed in.
enum class Stage {
  kScreen,
  kFloor,  ///< the baseline against itself: the session's noise
  kRace,
  kFinal,
};
[[nodiscard]] std::string_view to_string(Stage stage);
[[nodiscard]] std::optional<Stage> parse_stage(std::string_view text);

/// One event-timed sample of back-to-back launches: the unit of all statistics.
struct Sample {
  Stage stage = Stage::kScreen;
  int round = 0;     ///< counts from 1 inside its stage; 0 for screening
  int position = 0;  ///< order inside its round
  std::int64_t launches = 0;
  double time_s = 0;       ///< the whole sample
  double sm_clock_hz = 0;  ///< mean over the sample as measured on the GPU; 0 where it was not
  bool graph = false;      ///< the launches came from CUDA graphs
  /// From NVML, absent where it does not say (and in screening, whose samples are too short for its counters): the
  /// temperature at the sample's end, and for how long of the sample with its lead-in the driver held the clocks down
  /// for the power cap, and for heat or power brake.
  std::optional<double> temperature_c = {}, power_cap_s = {}, thermal_s = {};
  friend bool operator==(const Sample&, const Sample&) = default;
  [[nodiscard]] double per_launch_s() const { return launches > 0 ? time_s / static_cast<double>(launches) : 0; }
};

/// One cuBLASLt algorithm on the problem, screened on the same buffers as the variants.
struct BaselineAlgorithm {
  int rank = 0;             ///< place in cuBLASLt's heuristic list; 0 is its first choice, -1: not in the list
  std::string description;  ///< id, tile, stages, split-K and the like
  std::int64_t workspace_bytes = 0;
  double time_s = 0;     ///< median per launch
  double max_error = 0;  ///< as CheckReport::max_error
  friend bool operator==(const BaselineAlgorithm&, const BaselineAlgorithm&) = default;
};

/// What cuBLASLt offers. `first` and `best` index `algorithms`; only algorithms that pass the check are listed.
struct BaselineReport {
  std::string library;  ///< "cuBLASLt 13.0.2"
  std::vector<BaselineAlgorithm> algorithms;
  int first = 0, best = 0;
  std::int64_t buffer_copies = 1;  ///< operand sets the samples rotate over
  std::uint64_t data_seed = 0;
  /// "1008x1008x1008" where cuBLASLt has no algorithm for the problem's own extents and was timed on these, with zeros
  /// added; else empty.
  std::string enlarged_shape = {};
  friend bool operator==(const BaselineReport&, const BaselineReport&) = default;
};

/// Result of the gate every variant passes before it is timed.
struct CheckReport {
  double max_error = 0;   ///< largest |D-R| / (bound of that element); the variant passes when <= 1
  double norm_error = 0;  ///< ||D-R||_F / ||R||_F
  friend bool operator==(const CheckReport&, const CheckReport&) = default;
};

/// Check and screening of one variant.
struct TrialReport {
  Outcome outcome;
  bool cut = false;  ///< right but dropped early as clearly slow: samples hold what was measured
  std::optional<CheckReport> check;
  std::vector<Sample> samples;
  friend bool operator==(const TrialReport&, const TrialReport&) = default;
};

}  // namespace pgtune
