// SPDX-License-Identifier: MIT
// Facts that travel between worker, search and database: devices, builds, samples, baselines, trials, rounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/named_value.hpp"
#include "tuner/model/outcome.hpp"
#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

/// The GPU, or instance of one (MIG), and the software under it. What is measured counts for its device_class(); the
/// UUID says which board it was.
struct DeviceInfo {
  std::string uuid;  ///< "GPU-..." as nvidia-smi prints it, "MIG-..." of an instance
  std::string name;
  std::string architecture;  ///< NVRTC target, e.g. "sm_90a"
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::int64_t smem_per_block_bytes = 0;  ///< opt-in maximum of one CTA
  std::int64_t smem_per_sm_bytes = 0;
  int registers_per_sm = 0, threads_per_sm = 0;
  double max_sm_clock_hz = 0;
  double power_limit_w = 0;    ///< enforced; 0 where NVML does not say
  std::string mig_profile;     ///< "1g.18gb" of an instance; empty: the whole GPU
  std::string driver_version;  ///< "580.159.04" from NVML; "CUDA 13.0" from the driver API where there is no NVML
  std::string nvrtc_version, cublaslt_version;

  PGTUNE_FIELDS(uuid, name, architecture, compute_major, compute_minor, sm_count, memory_bytes, l2_bytes,
                smem_per_block_bytes, smem_per_sm_bytes, registers_per_sm, threads_per_sm, max_sm_clock_hz,
                power_limit_w, (mig_profile, kUnlessDefault), driver_version, nvrtc_version, cublaslt_version)
  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;

  /// First number of driver_version ("580"): results are comparable within a branch.
  [[nodiscard]] std::string driver_branch() const;
  /// Compute capability times ten: 90 for sm_90a.
  [[nodiscard]] std::int64_t arch_number() const { return std::int64_t{compute_major} * 10 + compute_minor; }
  /// Checks an untrusted record. Errors (database): a negative number, or one that is not finite.
  [[nodiscard]] Result<void> validate() const;
};

/// A kernel that a template names by a C++ expression, and what it is called in the cubin.
struct LoweredName {
  std::string expression, symbol;

  PGTUNE_FIELDS(expression, symbol)
  friend bool operator==(const LoweredName&, const LoweredName&) = default;
};

/// What the cubin calls the kernel that a template calls `name`.
[[nodiscard]] const std::string& symbol_of(const std::vector<LoweredName>& lowered, const std::string& name);

/// The cubin of a kernel that was built in a module of its own.
struct ModuleFile {
  std::string cubin_path, cubin_hash;  ///< as BuildInfo's

  PGTUNE_FIELDS(cubin_path, cubin_hash)
  friend bool operator==(const ModuleFile&, const ModuleFile&) = default;
};

/// A compiled variant.
struct BuildInfo {
  std::string cubin_path;  ///< in the cubin cache
  std::string cubin_hash;  ///< of the cubin's bytes: variants with equal cubins are the same kernel
  std::string key_hash;    ///< cache key: source, headers, options, NVRTC version, architecture
  int registers = 0;       ///< per thread, the largest over the variant's kernels
  std::int64_t static_smem_bytes = 0;
  std::int64_t local_bytes = 0;  ///< stack frame per thread
  std::int64_t spill_bytes = 0;  ///< spill stores + loads per thread
  double compile_s = 0;          ///< NVRTC time; of the first compile when `cached`
  bool cached = false;
  std::vector<LoweredName> lowered = {};  ///< names that are no symbols
  std::vector<ModuleFile> modules = {};   ///< beside its own

  PGTUNE_FIELDS(cubin_path, cubin_hash, key_hash, registers, static_smem_bytes, local_bytes, spill_bytes, compile_s,
                cached, (lowered, kUnlessDefault), (modules, kUnlessDefault))
  friend bool operator==(const BuildInfo&, const BuildInfo&) = default;
  [[nodiscard]] const std::string& symbol_of(const std::string& name) const { return pgtune::symbol_of(lowered, name); }
  /// Errors (database): a number that no compiler gives.
  [[nodiscard]] Result<void> validate() const;
};

/// Part of a session a sample was timed in.
enum class Stage {
  kScreen,
  kFloor,  ///< the baseline against itself: the session's noise
  kRace,
  kFinal,
  kSteady,   ///< one settled sample of the baseline, first of all: whether the problem meets the power cap
  kConfirm,  ///< the choice of a final of settled samples, measured again in rounds that did not choose
};
/// "screen", "floor", "race", "final", "steady", "confirm".
[[nodiscard]] EnumTable<Stage> enum_table(Stage stage);

/// Whether a sample can have this number of launches, and this duration.
[[nodiscard]] bool is_launch_count(std::int64_t launches);
[[nodiscard]] bool is_sample_time(double time_s);

/// Contenders whose launches take this long are launched one by one beside others in graphs: they are cut, and to put
/// them into graphs takes long.
inline constexpr double kNoGraph_s = 100e-6;

/// One event-timed sample of back-to-back launches: the unit of all statistics.
struct Sample {
  Stage stage = Stage::kScreen;
  int round = 0;     ///< counts from 1 inside its stage; 0 for screening
  int position = 0;  ///< order inside its round
  std::int64_t launches = 0;
  double time_s = 0;       ///< the whole sample
  double sm_clock_hz = 0;  ///< mean over the sample as measured on the GPU; 0 where it was not
  bool graph = false;      ///< the launches came from CUDA graphs
  /// From NVML: the temperature at the sample's end, and the time within the sample and its lead-in during which the
  /// driver reduced the clocks for the power cap, and for heat or power brake. Absent if NVML does not report it, and
  /// in screening, whose samples are too short for its counters.
  std::optional<double> temperature_c = {}, power_cap_s = {}, thermal_s = {};
  /// For a settled sample: the time that the same launches ran right before it, until the clock was stable, and its
  /// mean power if the energy counter steps often enough. Absent from other samples.
  std::optional<double> lead_in_s = {}, power_w = {};

  PGTUNE_FIELDS(stage, round, position, launches, time_s, sm_clock_hz, graph, temperature_c, power_cap_s, thermal_s,
                lead_in_s, power_w)
  friend bool operator==(const Sample&, const Sample&) = default;
  /// Errors (database): no launches, no time or more than a day, or another number that no measurement gives.
  [[nodiscard]] Result<void> validate() const;
  [[nodiscard]] double per_launch_s() const { return launches > 0 ? time_s / static_cast<double>(launches) : 0; }
};

/// One cuBLASLt algorithm on the problem, screened on the same buffers as the variants.
struct AlgorithmReport {
  int rank = 0;             ///< place in cuBLASLt's heuristic list; 0 is its first choice, -1: not in the list
  std::string description;  ///< id, tile, stages, split-K and the like
  std::int64_t workspace_bytes = 0;
  double time_s = 0;     ///< median per launch
  double max_error = 0;  ///< as CheckReport::max_error

  PGTUNE_FIELDS(rank, description, workspace_bytes, time_s, max_error)
  friend bool operator==(const AlgorithmReport&, const AlgorithmReport&) = default;
};

/// The suffix of a library's name if only its product was timed, with operands in its layout.
inline constexpr std::string_view kLaidOutBefore = ", operands laid out before";

/// What a problem could be compared with beside the baseline that it is compared with.
struct OtherBaseline {
  std::string library;    ///< as BaselineReport's
  std::string algorithm;  ///< its best; empty: it is not available
  double time_s = 0;      ///< median per launch, screened as AlgorithmReport's; 0 where it is not available
  std::string unavailable = {};

  PGTUNE_FIELDS(library, algorithm, time_s, (unavailable, kUnlessDefault))
  [[nodiscard]] bool is_laid_out_before() const { return library.ends_with(kLaidOutBefore); }
  friend bool operator==(const OtherBaseline&, const OtherBaseline&) = default;
};

/// What the baseline offers. `first` and `best` index `algorithms`; only algorithms that pass the check are listed.
struct BaselineReport {
  std::string library;  ///< "cuBLASLt 13.0.2"; "copy"
  std::vector<AlgorithmReport> algorithms;
  int first = 0, best = 0;
  std::int64_t buffer_copies = 1;  ///< operand sets the samples rotate over
  bool in_graphs = false;          ///< launches of all contenders are in CUDA graphs from the start
  std::uint64_t data_seed = 0;
  /// "1008x1008x1008" where cuBLASLt has no algorithm for the problem's own extents and was timed on these, with zeros
  /// added; else empty.
  std::string enlarged_shape = {};
  /// "A, B, D": the operands that cuBLASLt does not take as they are stored, so that launches copy them and are timed
  /// with that; else empty.
  std::string copied = {};
  /// Why variants were checked in memory with other memory around it, so that not every far access out of bounds
  /// faults; else empty.
  std::string unguarded = {};
  /// For an operation with several baselines: the index of this one, in their order with the copy last, and the others.
  /// For a GEMM with copied operands: the product alone.
  int place = 0;
  std::vector<OtherBaseline> others = {};
  /// An operation's counts in the data, as the mean over the copies.
  std::vector<NamedScalar> counts = {};

  PGTUNE_FIELDS(library, algorithms, first, best, buffer_copies, (in_graphs, kUnlessDefault), data_seed,
                (enlarged_shape, kUnlessDefault), (copied, kUnlessDefault), (unguarded, kUnlessDefault),
                (place, kUnlessDefault), (others, kUnlessDefault), (counts, kUnlessDefault))
  /// "cuBLASLt 13.1.0: algorithm 66, tile 128x256": an algorithm's name outside of this report; empty where the index
  /// is none of it.
  [[nodiscard]] std::string title(int algorithm) const;
  /// The library without its version, "cuBLASLt" or "copy"; "cuBLASLt" where there is no report.
  [[nodiscard]] std::string name() const;
  friend bool operator==(const BaselineReport&, const BaselineReport&) = default;
};

/// Result of the gate every variant passes before it is timed.
struct CheckReport {
  double max_error = 0;   ///< largest |D-R| / (bound of that element); the variant passes when <= 1
  double norm_error = 0;  ///< ||D-R||_F / ||R||_F

  PGTUNE_FIELDS(max_error, norm_error)
  friend bool operator==(const CheckReport&, const CheckReport&) = default;
};

/// A variant is cut in screening if its samples take at least this many times as long as the best one's so far.
inline constexpr double kClearlySlower = 1.5;

/// Check and screening of one variant.
struct TrialReport {
  Outcome outcome;
  bool cut = false;  ///< right but dropped early as clearly slow: samples hold what was measured
  std::optional<CheckReport> check;
  std::vector<Sample> samples;

  PGTUNE_FIELDS(outcome, cut, check, samples)
  friend bool operator==(const TrialReport&, const TrialReport&) = default;
};

}  // namespace pgtune
