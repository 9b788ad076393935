// SPDX-License-Identifier: MIT
// What a family search measures, one M after another: each measurement is a session of SessionKind::kFamily. Variants
// are built once for all M for which their template compiles the same, by the cubin cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/model/family.hpp"
#include "tuner/session/family/family_plan.hpp"
#include "tuner/session/pipeline/quarantine.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::session {

struct Tried {
  Variant variant;
  double time_s = 0;    ///< of a launch, median of its screening
  double clock_hz = 0;  ///< the SM's meanwhile; 0: not measured
};

struct Settled {
  Variant variant;
  double time_s = 0;  ///< of a launch, in a settled sample
  bool capped = false;
};

/// Right variants and their times at one M, fastest first. Without the variants that are much slower.
struct MeasuredM {
  std::vector<Tried> tried = {};
  std::vector<Settled> settled = {};
  std::vector<Variant> failed = {};  ///< not built, wrong, or lost with its launch
};

/// A probe before it is known which kernel of the family serves it.
struct ProbeRequest {
  std::int64_t m = 0;
  Variant family;                 ///< the family's kernel
  std::vector<Variant> searched;  ///< what the search chose among, each once
  bool settled = false;           ///< the search took settled samples
  /// Of the search, for which the device is still prepared; nothing: it is not.
  std::optional<BaselineReport> prepared = {};
};

class FamilyMeasurements {
 public:
  /// References must outlive it. Only problem, first M and conditions of `family` matter, but for compare_rows(). With
  /// options.force trials of earlier commands do not count, nor any stored settled sample.
  FamilyMeasurements(const Family& family, const space::TemplateSet& templates, device::Device& device, Store& store,
                     const SessionOptions& options, const std::atomic<bool>& stop, const ProgressCallback& progress,
                     const Clock& clock);

  /// Builds variants for one M each, as many at a time as there are compile workers, so that later they are taken from
  /// the cubin cache. What could not be built is nothing in the result, which is beside `wanted`. Errors: those of the
  /// device.
  [[nodiscard]] Result<std::vector<std::optional<BuildInfo>>> build(
      const std::vector<std::pair<std::int64_t, Variant>>& wanted);
  /// Tries `count` admitted variants that the options' strategy proposes, and if it `settles`, the fastest gets a
  /// settled sample, unless the store has one. Errors: those of the device; a problem for which no variant is legal.
  [[nodiscard]] Result<MeasuredM> explore(std::int64_t m, std::int64_t count, const VariantFilter& admits,
                                          bool settles);
  /// Tries these legal variants; what the store knows is not tried again. Errors: those of the device.
  [[nodiscard]] Result<MeasuredM> screen(std::int64_t m, const std::vector<Variant>& variants);
  /// The same, and all that are right get a settled sample, unless the store has one.
  [[nodiscard]] Result<MeasuredM> settle(std::int64_t m, const std::vector<Variant>& variants);
  /// Rounds of the family's kernel, of what the search chose among, the fastest of which is the probe's best, and of
  /// the baseline's first and best algorithm. Nothing where the stop flag or too many void rounds ended them. Errors:
  /// those of the device; a contender that fails.
  [[nodiscard]] Result<std::optional<FamilyProbe>> probe(const ProbeRequest& request);

  /// Compares rows of the family's kernels at these M on the GPU, and those of spares beside the ends of intervals.
  /// False where the stop flag ended it. Errors: those of the device; rows that differ (internal).
  [[nodiscard]] Result<bool> compare_rows(const std::vector<std::int64_t>& at);

  [[nodiscard]] bool stopped() const { return stop_.load(); }

 private:
  struct AtM;
  [[nodiscard]] AtM begin(std::int64_t m, space::VariantList list);
  /// Stored settled samples, by Variant::id().
  [[nodiscard]] std::map<std::string, Sample> known_settled(const AtM& at);
  [[nodiscard]] Result<MeasuredM> try_all(std::int64_t m, const std::vector<Variant>& variants, bool settles);

  const Family& family_;
  const space::TemplateSet& templates_;
  device::Device& device_;
  Store& store_;
  SessionOptions plain_, exploring_;
  bool force_;
  const std::atomic<bool>& stop_;
  const ProgressCallback& progress_;
  const Clock& clock_;
  Quarantine quarantine_;
  std::set<std::pair<std::int64_t, std::string>> tried_;  ///< M and ids of this command
};

}  // namespace pgtune::session
