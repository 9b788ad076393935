// SPDX-License-Identifier: MIT
// What pgtune asks of a worker, and what the worker answers. codec.hpp puts it into lines of JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/contender.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/source.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::protocol {

/// Ticket by which an event names its request; chosen by the caller, unique per device object.
using RequestId = std::int64_t;

struct BuildRequest {
  RequestId id = 0;
  Variant variant;
  std::shared_ptr<const TemplateSource> source;
  std::vector<Define> defines;
  std::string architecture;                ///< NVRTC target, e.g. "sm_90a"
  std::vector<KernelCall> calls = {};      ///< what its kernels will be launched with: a build that has others fails
  std::vector<KernelModule> modules = {};  ///< kernels of `calls` that are built apart from the others
  /// In the variant's place: the operation's own kernels, which a measure worker then finds in the cubin cache.
  std::optional<OperationProblem> reference = {};

  PGTUNE_FIELDS(id, variant, source, defines, architecture, calls, (modules, kUnlessDefault), reference)
};

struct BuildDone {
  RequestId id = 0;
  Outcome outcome;  ///< kOk, kCompileFailed, kTimeout or kCrashed
  BuildInfo build;  ///< filled when outcome is kOk

  PGTUNE_FIELDS(id, outcome, build)
};

/// A variant as it is launched.
struct BuiltVariant {
  Variant variant;
  LaunchPlan plan;
  BuildInfo build;

  PGTUNE_FIELDS(variant, plan, build)
};

/// Check and screen one built variant on the prepared problem.
struct TrialRequest {
  RequestId id = 0;
  BuiltVariant built;
  /// Median time per launch of the best variant so far; the trial stops early when clearly slower. 0: no limit yet.
  double incumbent_s = 0;
  /// How long the first, checked launch may take before it counts as hanging. 0: no limit. Set by WorkerDevice.
  double launch_limit_s = 0;

  PGTUNE_FIELDS(id, built, incumbent_s, launch_limit_s)
};

struct TrialDone {
  RequestId id = 0;
  TrialReport report;

  PGTUNE_FIELDS(id, report)
};

using Event = std::variant<BuildDone, TrialDone>;

/// A contender, which gets a sample in every round. Its JSON is a BuiltVariant's, or {"baseline_algorithm": index}.
using BuiltContender = std::variant<BuiltVariant, BaselineAlgorithm>;
[[nodiscard]] Contender contender_of(const BuiltContender& built);

/// One round: a sample for each contender in the given order. The same contender may be in it twice.
struct RoundRequest {
  std::vector<BuiltContender> contenders;
  std::vector<int> order;  ///< permutation of contender indices
  int round = 0;
  Stage stage = Stage::kFinal;
  /// Duration of each sample without its lead-in; least_sample_s() of the slowest contender where that is longer.
  double sample_s = 20e-3;
  /// Each sample begins once its contender has run at least so long, and until its clock no longer moves
  /// (gpu/measure/sample_timer.hpp). 0: after a short lead-in.
  double settle_s = 0;

  PGTUNE_FIELDS(contenders, order, round, stage, sample_s, settle_s)
};

/// samples[i] belongs to contender i (not to position i); empty optional: that contender failed, with the outcome
/// beside it.
struct RoundReport {
  std::vector<std::optional<Sample>> samples;
  std::vector<Outcome> outcomes;

  PGTUNE_FIELDS(samples, outcomes)
};

/// Check a finalist again, after it was timed and as it was timed: on every operand copy, with other data.
struct VerifyRequest {
  BuiltVariant built;
  std::int64_t launches = 1;    ///< over a D poisoned anew, each compared; beside a first one on every operand copy
  std::uint64_t data_seed = 0;  ///< of the other data
  double launch_s = 0;          ///< about what a launch takes
  /// How long one launch may take before it counts as hanging. 0: no limit. Set by WorkerDevice.
  double launch_limit_s = 0;

  PGTUNE_FIELDS(built, launches, data_seed, launch_s, launch_limit_s)
};

struct VerifyReport {
  Outcome outcome;
  std::int64_t launches = 0;  ///< over a freshly poisoned D, with compared results
  std::int64_t copies = 0;    ///< operand copies they went over
  /// Launches on the same operands gave the same bits. Otherwise results differ inside the error bound.
  bool deterministic = true;
  /// Medians of single launches between events, over a D poisoned just before and over one that holds the result.
  double poisoned_s = 0, held_s = 0;

  PGTUNE_FIELDS(outcome, launches, copies, deterministic, poisoned_s, held_s)
};

/// Launch something once, for a profiler to watch.
struct LaunchRequest {
  std::optional<BuiltVariant> variant = {};  ///< nothing: an algorithm of the baseline
  std::string algorithm = {};                ///< as LaunchReport::algorithm; empty: the best

  PGTUNE_FIELDS(variant, algorithm)
};

struct LaunchReport {
  Outcome outcome;
  std::string algorithm;  ///< the baseline's that was launched, with its library: "cuBLASLt 13.1.0: algorithm 66, ..."

  PGTUNE_FIELDS(outcome, algorithm)
};

/// Whether the kernel of an exported header's entry, called as a program calls it, is the one that was measured.
struct ConsumerRequest {
  int entry = 0;  ///< of the header: GEMMs, then each operation's in a type
  Problem problem;
  BuiltVariant built;
  double launch_s = 0;  ///< about what a launch takes
  /// Duration of samples at the power cap, in which the program's calls are timed again; 0: they are not.
  double sample_s = 0, settle_s = 0;

  PGTUNE_FIELDS(entry, problem, built, launch_s, sample_s, settle_s)
};

struct ConsumerReport {
  std::string wrong;  ///< empty: the same bits wherever it ran
  /// What a call in the program took, and the worker's own launch beside it, round by round, in short samples.
  std::vector<double> run_s, bare_s;
  std::vector<double> settled_run_s;  ///< what a call took in each settled sample
  std::int64_t workspace_bytes = 0;

  PGTUNE_FIELDS(wrong, run_s, bare_s, settled_run_s, workspace_bytes)
};

/// Whether an exported family of one order gives rows the same bits at every M, called as a program calls it.
struct ExportedRowsRequest {
  int family = 0;   ///< of the header
  Problem problem;  ///< with the largest M, of one matrix
  std::int64_t first_m = 1;
  std::vector<std::int64_t> ends;  ///< last M of each interval

  PGTUNE_FIELDS(family, problem, first_m, ends)
};

/// Whether kernels give rows the same bits at every M.
struct RowsRequest {
  struct Product {
    std::int64_t m = 0;
    bool moved = false;  ///< compared from other rows on, and among NaN, too
    int kernel = 0;
    LaunchPlan plan;

    PGTUNE_FIELDS(m, (moved, kUnlessDefault), kernel, plan)
  };
  Problem problem;  ///< with the largest M, of one matrix
  std::vector<BuildInfo> kernels;
  std::vector<Product> products;  ///< the last of all rows, with which the others' are compared

  PGTUNE_FIELDS(problem, kernels, products)
};

struct RowsReport {
  std::string wrong;          ///< empty: rows were equal bit for bit
  std::int64_t launches = 0;  ///< that were compared

  PGTUNE_FIELDS(wrong, launches)
};

/// What an earlier measure worker found out about the baseline, for the one that takes its place.
struct KnownBaseline {
  BaselineReport report;
  std::vector<std::string> opaque;  ///< beside report.algorithms: the library's own description of each, in hex

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    BaselineReport::visit_fields(self.report, visit);
    visit("opaque", self.opaque);
  }
};

/// A template among what an operation is compared with, as its variant was built.
struct BaselineBuild {
  std::string title;                  ///< as BaselineReport::library: "stencil2d_plain 3f2a9c1d"
  std::optional<BuiltVariant> built;  ///< nothing: it is not available
  std::string unavailable = {};       ///< why

  PGTUNE_FIELDS(title, built, (unavailable, kUnlessDefault))
};

/// What becomes current with prepare().
struct PrepareRequest {
  Problem problem;
  Conditions conditions;
  /// Set by WorkerDevice alone, where it replaces a worker: the baseline is taken over and not looked for again.
  std::optional<KnownBaseline> known = {};
  /// Builds of the operation's template baselines, in their order; a baseline without one is not available.
  std::vector<BaselineBuild> builds = {};
  /// Without a baseline, whose algorithms take longest to prepare: the report has none.
  bool alone = false;

  PGTUNE_FIELDS(problem, conditions, known, builds, (alone, kUnlessDefault))
};

/// One energy window of a steady load, or of the idle GPU.
struct EnergyRequest {
  std::optional<BuiltContender> contender;  ///< nothing: idle
  double lead_in_s = 2;                     ///< untimed load before the window, for clocks and averages to settle
  double window_s = 5;
  double max_uncertainty = 0.01;  ///< relative, of the energy; a window too short for it is refused
  int index = 0;                  ///< which window of this contender, from 0

  PGTUNE_FIELDS(contender, lead_in_s, window_s, max_uncertainty, index)
};

/// Reason of a build that the memory limit ended; `said`: the compiler's own words.
[[nodiscard]] std::string out_of_compile_memory(std::int64_t limit_bytes, const std::string& said);

}  // namespace pgtune::protocol
