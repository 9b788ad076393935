// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/session/pipeline/builds.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

constexpr int kVoidsThatEnd = 5;
constexpr double kFirstPause_s = 5, kLongestPause_s = 60;
/// How often a pause looks at the stop flag.
constexpr double kPauseSlice_s = 0.1;

constexpr double kJump = 0.10;
constexpr std::size_t kRoundsBeforeJump = 3;
/// A jump seen this often in a row is no accident but the clock's new level.
constexpr int kJumpsInARow = 2;

constexpr double kOffLock = 0.01;

std::uint64_t seed_of(const SessionContext& context, Stage stage) {
  const std::string session =
      fmt::format("{} {} {}", context.device.info().uuid, context.clock.utc_iso8601(), context.start_s);
  return order_seed(context.options.seed, fmt::format("{} {}", session, static_cast<int>(stage)));
}

std::string rounds_text(int count) {
  return count == 1 ? "1 round was void and repeated" : fmt::format("{} rounds were void and repeated", count);
}

}  // namespace

RoundEntry baseline_entry(int index) { return {BaselineAlgorithm{index}}; }

std::vector<std::string> RoundTroubles::notes() const {
  std::vector<std::string> out;
  if (heat_voids > 0) {
    out.push_back(fmt::format("{}: heat or power brake held the clocks down; better cooling avoids the waits",
                              rounds_text(heat_voids)));
  }
  if (clock_voids > 0) {
    out.push_back(fmt::format("{}: a clock jumped by more than {:.0f} %; something else may use this GPU",
                              rounds_text(clock_voids), 100 * kJump));
  }
  if (graph_voids > 0) {
    out.push_back(
        fmt::format("{}: the host fell behind with launches one by one, and all have come in CUDA graphs since",
                    rounds_text(graph_voids)));
  }
  if (new_levels > 0) {
    out.push_back(fmt::format("the clock settled on a new level {}: times before and after differ, ratios hold",
                              new_levels == 1 ? "once" : fmt::format("{} times", new_levels)));
  }
  if (off_lock_hz > 0) {
    out.push_back(fmt::format(
        "the clock ran at {:.0f} MHz though locked to {:.0f} MHz: power or heat allow no more; lock a lower one",
        off_lock_hz / 1e6, locked_hz / 1e6));
  }
  if (gave_up) {
    out.push_back(
        fmt::format("ended early: {} rounds in a row were spoilt by heat, power brake or jumping clocks; run "
                    "it again once the GPU is cool and idle",
                    kVoidsThatEnd));
  }
  return out;
}

RoundRunner::RoundRunner(const SessionContext& context, Stage stage, SampleTiming timing, std::vector<RoundEntry> field,
                         RoundTroubles& troubles, OnFailure on_failure)
    : context_(context),
      stage_(stage),
      timing_(timing),
      field_(std::move(field)),
      troubles_(troubles),
      on_failure_(std::move(on_failure)),
      order_(field_.size(), seed_of(context, stage)),
      since_s_(context.clock.now_s()),
      clocks_hz_(field_.size()) {}

RoundRunner::RoundRunner(RoundContext& rounds, Stage stage, SampleTiming timing, std::vector<RoundEntry> field)
    : RoundRunner(rounds.context, stage, timing, std::move(field), rounds.troubles, [&rounds](const RoundEntry& entry) {
        if (entry.index) record_failure(rounds.context, rounds.state, *entry.index, entry.outcome);
      }) {}

bool RoundRunner::all_out() const {
  return std::all_of(field_.begin(), field_.end(), [](const RoundEntry& entry) { return entry.out; });
}

Result<RoundRunner::End> RoundRunner::run_round() {
  int jumps = 0;
  double pause_s = kFirstPause_s;
  for (int voids = 0; voids < kVoidsThatEnd; ++voids) {
    if (context_.stop.load()) return End::kStopped;
    if (all_out()) return End::kRan;
    TRY_ASSIGN(const auto tried, attempt());
    if (hot(tried)) {
      ++troubles_.heat_voids;
      jumps = 0;
      if (voids + 1 < kVoidsThatEnd && !pause(pause_s)) return End::kStopped;
      pause_s = std::min(2 * pause_s, kLongestPause_s);
      continue;
    }
    if (clock_jumped(tried)) {
      if (jumps++ < kJumpsInARow) {
        ++troubles_.clock_voids;
        continue;
      }
      ++troubles_.new_levels;
      for (auto& clocks_hz : clocks_hz_) clocks_hz.clear();
    }
    if (launched_otherwise(tried)) {
      start_over();
      continue;
    }
    take(tried);
    return End::kRan;
  }
  troubles_.gave_up = true;
  return End::kGaveUp;
}

/// `active`: the field's indices of the request's contenders.
protocol::RoundRequest RoundRunner::request(std::vector<std::size_t>& active) const {
  protocol::RoundRequest request;
  request.round = rounds_ + 1;
  request.stage = stage_;
  request.sample_s = timing_.sample_s;
  request.settle_s = timing_.settle_s;
  std::vector<std::size_t> place_of(field_.size());
  for (std::size_t i = 0; i < field_.size(); ++i) {
    if (field_[i].out) continue;
    place_of[i] = active.size();
    active.push_back(i);
    request.contenders.push_back(field_[i].contender);
  }
  for (const std::size_t i : order_.order(rounds_)) {
    if (!field_[i].out) request.order.push_back(static_cast<int>(place_of[i]));
  }
  return request;
}

Result<RoundRunner::Attempt> RoundRunner::attempt() {
  std::vector<std::size_t> active;
  const protocol::RoundRequest request = this->request(active);
  TRY_ASSIGN(auto report, context_.device.run_round(request));
  if (report.samples.size() != active.size() || report.outcomes.size() != active.size()) {
    return fail(ErrorKind::kInternal, fmt::format("a round of {} contenders reported {} samples and {} outcomes",
                                                  active.size(), report.samples.size(), report.outcomes.size()));
  }
  Attempt attempt(field_.size());
  for (std::size_t position = 0; position < request.order.size(); ++position) {
    const auto place = static_cast<std::size_t>(request.order[position]);
    RoundEntry& entry = field_[active[place]];
    if (auto& sample = report.samples[place]) {
      sample->stage = stage_;
      sample->round = request.round;
      sample->position = static_cast<int>(position);
      attempt[active[place]] = *sample;
    } else {
      entry.out = true;
      entry.outcome = report.outcomes[place];
      if (on_failure_) on_failure_(entry);
    }
  }
  return attempt;
}

bool RoundRunner::hot(const Attempt& attempt) const {
  return std::any_of(attempt.begin(), attempt.end(),
                     [](const auto& sample) { return sample && sample->thermal_s.value_or(0) > 0; });
}

/// At the power cap the clock of a settled sample is what its contender earns at the GPU's temperature: it moves while
/// the GPU warms up, and says nothing of others who use it. Balanced orders deal with that.
bool RoundRunner::clock_jumped(const Attempt& attempt) const {
  if (timing_.settle_s > 0) return false;
  for (std::size_t i = 0; i < attempt.size(); ++i) {
    if (!attempt[i] || attempt[i]->sm_clock_hz <= 0 || clocks_hz_[i].size() < kRoundsBeforeJump) continue;
    if (std::abs(attempt[i]->sm_clock_hz / stats::median(clocks_hz_[i]) - 1) > kJump) return true;
  }
  return false;
}

/// They go over once and never back (gpu::LaunchMode).
bool RoundRunner::launched_otherwise(const Attempt& attempt) const {
  for (std::size_t i = 0; i < attempt.size(); ++i) {
    if (attempt[i] && !field_[i].samples.empty() && field_[i].samples.back().graph != attempt[i]->graph) return true;
  }
  return false;
}

/// Entries that are out keep the samples they were judged by.
void RoundRunner::start_over() {
  troubles_.graph_voids += rounds_ + 1;
  for (RoundEntry& entry : field_) {
    if (!entry.out) entry.samples.clear();
  }
  for (auto& clocks_hz : clocks_hz_) clocks_hz.clear();
  rounds_ = 0;
  since_s_ = context_.clock.now_s();
}

/// False when the stop flag was set meanwhile.
bool RoundRunner::pause(double seconds) const {
  for (double slept_s = 0; slept_s < seconds; slept_s += kPauseSlice_s) {
    if (context_.stop.load()) return false;
    context_.clock.sleep_s(kPauseSlice_s);
  }
  return true;
}

void RoundRunner::take(const Attempt& attempt) {
  ++rounds_;
  const double locked_hz = context_.options.conditions.locked_sm_clock_hz;
  for (std::size_t i = 0; i < attempt.size(); ++i) {
    if (!attempt[i]) continue;
    field_[i].samples.push_back(*attempt[i]);
    const double clock_hz = attempt[i]->sm_clock_hz;
    if (clock_hz <= 0) continue;
    clocks_hz_[i].push_back(clock_hz);
    if (locked_hz > 0 && troubles_.off_lock_hz <= 0 && std::abs(clock_hz / locked_hz - 1) > kOffLock) {
      troubles_.off_lock_hz = clock_hz;
      troubles_.locked_hz = locked_hz;
    }
  }
}

std::vector<ContenderSamples> contender_samples(const std::vector<RoundEntry>& field) {
  std::vector<ContenderSamples> out;
  for (const RoundEntry& entry : field) {
    if (entry.samples.empty()) continue;
    out.push_back({protocol::contender_of(entry.contender), entry.samples});
  }
  return out;
}

Result<std::optional<std::vector<RoundEntry>>> variant_entries(RoundContext& rounds,
                                                               const std::vector<std::size_t>& indices) {
  TRY_ASSIGN(auto finalists, build_finalists(rounds.context, rounds.state, indices));
  if (!finalists) return std::nullopt;
  std::vector<RoundEntry> entries;
  entries.reserve(finalists->size());
  for (BuiltFinalist& finalist : *finalists) entries.push_back({std::move(finalist.built), finalist.index});
  return entries;
}

std::int64_t measured_variants(const std::vector<RoundEntry>& field) {
  return std::count_if(field.begin(), field.end(), [](const RoundEntry& entry) {
    return entry.index && (!entry.samples.empty() || entry.outcome.kind != OutcomeKind::kOk);
  });
}

const RoundEntry* entry_of(const std::vector<RoundEntry>& field, const Variant& variant) {
  for (const RoundEntry& entry : field) {
    const protocol::BuiltVariant* const built = variant_of(entry.contender);
    if (built != nullptr && built->variant == variant) return &entry;
  }
  return nullptr;
}

std::vector<MeasuredVariant> variants_of(const std::vector<RoundEntry>& field) {
  std::vector<MeasuredVariant> out;
  for (const RoundEntry& entry : field) {
    if (!entry.index) continue;
    const auto& [variant, plan, build] = std::get<protocol::BuiltVariant>(entry.contender);
    out.push_back({variant, build, smem_bytes(build, plan), entry.samples});
  }
  return out;
}

std::vector<MeasuredBaseline> baselines_of(const std::vector<RoundEntry>& field) {
  std::vector<MeasuredBaseline> out;
  for (const RoundEntry& entry : field) {
    if (const BaselineAlgorithm* const algorithm = algorithm_of(entry.contender))
      out.push_back({algorithm->index, entry.samples});
  }
  return out;
}

double device_time_s(const std::vector<RoundEntry>& field) {
  double sum_s = 0;
  for (const RoundEntry& entry : field) {
    for (const Sample& sample : entry.samples) sum_s += sample.time_s + sample.lead_in_s.value_or(0);
  }
  return sum_s;
}

}  // namespace pgtune::session
