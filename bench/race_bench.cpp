// SPDX-License-Identifier: MIT
#include "bench/race_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/replay/recording_loader.hpp"
#include "tuner/device/replay_device.hpp"
#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/paired.hpp"

namespace pgtune::bench {
namespace {

using session::SampleTimes;

/// A store that remembers nothing, so that every search measures.
class NoStore final : public session::Store {
 public:
  std::optional<session::Answer> answer(const session::StoreKey& /*key*/, session::Boards /*boards*/) override {
    return std::nullopt;
  }
  std::map<std::string, session::StoredTrial> trials(const session::StoreKey& /*key*/) override { return {}; }
  std::vector<FatalTrial> fatal_trials(const DeviceInfo& /*device*/) override { return {}; }
  void begin(const session::StoreKey& /*key*/, session::SessionKind /*kind*/, std::uint64_t /*seed*/,
             const std::string& /*command_line*/) override {}
  void save_baseline(const BaselineReport& /*baseline*/) override {}
  void save_trial(const Variant& /*variant*/, const BuildInfo& /*build*/, const TrialReport& /*report*/) override {}
  void save_rounds(Stage /*stage*/, const std::vector<session::ContenderSamples>& /*samples*/) override {}
  void save_energy(const session::EnergyRecord& /*record*/) override {}
  std::optional<Ceilings> ceilings(const DeviceInfo& /*device*/, Source /*source*/) override { return std::nullopt; }
  void save_ceilings(const Ceilings& /*ceilings*/) override {}
  void finish(const std::optional<session::Answer>& /*answer*/) override {}
};

/// Samples of the race by round.
std::map<int, Sample> race_samples(const std::vector<Sample>& samples) {
  std::map<int, Sample> out;
  for (const Sample& sample : samples) {
    if (sample.stage == Stage::kRace) out[sample.round] = sample;
  }
  return out;
}

/// A problem of which every variant that was right has all rounds of the race.
struct FullRecording {
  space::TemplateSet templates;
  device::Recording recording;  ///< one problem
  std::vector<int> rounds;      ///< of the race
  std::vector<std::string> names;
  std::vector<SampleTimes> times_s;  ///< beside `names`, by `rounds`
  double fixed_s = 0;                ///< device time of every variant in all rounds, with the baseline

  [[nodiscard]] const device::RecordedProblem& problem() const { return recording.problems.front(); }
};

/// Nothing where this problem was not recorded in full.
std::optional<FullRecording> full_recording(space::TemplateSet templates, device::Recording recording) {
  FullRecording out{std::move(templates), std::move(recording), {}, {}, {}, 0};
  const device::RecordedBaseline& baseline = out.problem().baseline;
  const auto best = baseline.rounds.find(baseline.report.best);
  if (best == baseline.rounds.end()) return std::nullopt;
  for (const auto& [round, sample] : race_samples(best->second)) {
    out.rounds.push_back(round);
    out.fixed_s += sample.time_s;
  }
  for (const auto& [name, variant] : out.problem().variants) {
    if (variant.trial.outcome.kind != OutcomeKind::kOk) continue;
    SampleTimes times_s;
    for (const auto& [round, sample] : race_samples(variant.rounds)) {
      times_s.push_back(sample.per_launch_s());
      out.fixed_s += sample.time_s;
    }
    if (times_s.empty() || times_s.size() != out.rounds.size()) return std::nullopt;
    out.names.push_back(name);
    out.times_s.push_back(std::move(times_s));
  }
  if (out.names.size() < 2) return std::nullopt;
  return out;
}

/// The recording as another session might have gone: rounds of the race in another order, rounds of the final and
/// samples of the screening drawn with replacement. Rounds stay whole, so that pairs do.
device::Recording shuffled(const FullRecording& full, const session::SessionOptions& options, std::mt19937_64& random) {
  const auto draw = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  std::vector<int> race = full.rounds;
  for (std::size_t i = race.size(); i > 1; --i) std::swap(race[i - 1], race[draw(i)]);
  std::vector<int> final;
  for (int i = 0; i < options.max_final_rounds; ++i) final.push_back(full.rounds[draw(full.rounds.size())]);

  const auto replay = [&](const std::vector<Sample>& recorded) {
    const auto samples = race_samples(recorded);
    std::vector<Sample> out;
    const auto add = [&](Stage stage, const std::vector<int>& rounds) {
      for (std::size_t i = 0; i < rounds.size(); ++i) {
        Sample sample = samples.at(rounds[i]);
        sample.stage = stage;
        sample.round = static_cast<int>(i) + 1;
        out.push_back(sample);
      }
    };
    add(Stage::kRace, race);
    add(Stage::kFinal, final);
    for (const Sample& sample : recorded) {
      if (sample.stage == Stage::kFloor) out.push_back(sample);
    }
    return out;
  };
  device::Recording out = full.recording;
  device::RecordedProblem& problem = out.problems.front();
  for (auto& [algorithm, samples] : problem.baseline.rounds) {
    if (race_samples(samples).size() == full.rounds.size()) samples = replay(samples);
  }
  for (auto& [name, variant] : problem.variants) {
    if (variant.trial.outcome.kind != OutcomeKind::kOk) continue;
    variant.rounds = replay(variant.rounds);
    const std::vector<Sample> screening = variant.trial.samples;
    for (Sample& sample : variant.trial.samples) sample = screening[draw(screening.size())];
  }
  return out;
}

struct Tally {
  int found = 0;    ///< the best over all rounds won
  int tied = 0;     ///< it won, or a variant that all rounds do not tell apart from it
  int reached = 0;  ///< it was in the final
  int within = 0;   ///< its median ratio to it is inside the session's tie margin
  std::vector<double> regret, race_s, entrants;
};

void replay_once(const FullRecording& full, std::uint64_t seed, Tally& tally) {
  session::SessionOptions options;
  options.seed = seed;
  options.conditions = full.problem().conditions;
  std::mt19937_64 random(seed);
  device::ReplayDevice device(shuffled(full, options, random));
  NoStore store;
  const std::atomic<bool> stop{false};
  const auto result = tool::value_or_throw(
      session::run_search(full.problem().problem, full.templates, device, store, options, stop, {}));
  if (!result.answer) throw std::runtime_error("a replayed search found nothing");
  const session::Answer& answer = *result.answer;

  const std::size_t best = session::race_order(full.times_s).front();
  const auto name = [](const Variant& variant) { return variant.id(); };
  const auto won = std::find(full.names.begin(), full.names.end(), name(answer.best().variant));
  const auto winner = static_cast<std::size_t>(std::distance(full.names.begin(), won));
  const auto ratio = stats::paired_log_ratio(full.times_s.at(winner), full.times_s[best]);
  const double margin = std::log1p(answer.floor.margin);
  const bool inside = ratio.interval.low >= -margin && ratio.interval.high <= margin;
  tally.found += winner == best ? 1 : 0;
  tally.tied += winner == best || inside || ratio.interval.contains(0) ? 1 : 0;
  tally.within += ratio.mean <= margin ? 1 : 0;
  tally.reached += std::any_of(answer.ranking.begin(), answer.ranking.end(),
                               [&](const auto& row) { return name(row.variant) == full.names[best]; });
  tally.regret.push_back(std::expm1(ratio.mean));
  tally.race_s.push_back(answer.stages.race_s);
  tally.entrants.push_back(static_cast<double>(answer.raced));
}

/// What a session may have searched: the named template, or the built-in ones together and each alone.
std::vector<space::TemplateSet> template_sets(const std::string& selector) {
  const tool::Catalogue catalogue;
  if (!selector.empty()) return {catalogue.load(selector)};
  std::vector<space::TemplateSet> sets{catalogue.select("", Problem{})};
  for (const std::string& name : catalogue.names()) sets.emplace_back(catalogue.load(name));
  return sets;
}

std::vector<FullRecording> full_recordings(const std::string& file, const std::string& template_selector) {
  const std::vector<db::Database> databases = tool::open_recordings(file);
  const db::Database& database = databases.front();  // a file is one
  const std::vector<space::TemplateSet> known = template_sets(template_selector);
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<FullRecording> out;
  for (const db::SessionRow& row : db::list_sessions(database)) {
    const space::TemplateId searched{row.template_name, row.template_hash};
    const auto templates =
        std::find_if(known.begin(), known.end(), [&](const space::TemplateSet& set) { return set.id() == searched; });
    if (templates == known.end() || !seen.emplace(row.template_name, row.problem_key).second) continue;
    const auto problem = db::find_problem(database, row.problem_key);
    if (!problem) continue;
    const device::Recording recording = tool::load_recording(databases, *templates, *problem);
    for (const device::RecordedProblem& recorded : recording.problems) {
      if (auto full = full_recording(*templates, {recording.origin, recording.device, {}, {recorded}})) {
        out.push_back(std::move(*full));
      }
    }
  }
  return out;
}

}  // namespace

void bench_race(const std::string& file, int seeds, const std::string& template_selector) {
  const auto recordings = full_recordings(file, template_selector);
  if (recordings.empty()) {
    throw std::runtime_error(file + " holds no full recording of these templates; make one with pgtune search --full");
  }
  using tool::Align;
  for (const FullRecording& full : recordings) {
    Tally tally;
    for (int seed = 1; seed <= seeds; ++seed) replay_once(full, static_cast<std::uint64_t>(seed), tally);
    const auto percent = [](double ratio) { return fmt::format("{:.2f} %", 100 * ratio); };
    const auto of_seeds = [&](int count) { return fmt::format("{} of {}", count, seeds); };
    const double race_s = stats::median(tally.race_s);
    fmt::print("{}, {}: {} variants, {} rounds, {} replays\n", full.problem().problem.title(),
               full.problem().conditions.key(), full.names.size(), full.rounds.size(), seeds);
    tool::TextTable table({{"what"}, {"value", Align::kRight}});
    table.add_row({"winner is the best over all rounds", of_seeds(tally.found)});
    table.add_row({"winner is it or tied with it", of_seeds(tally.tied)});
    table.add_row({"winner is within the tie margin of it", of_seeds(tally.within)});
    table.add_row({"the best over all rounds reached the final", of_seeds(tally.reached)});
    table.add_row({"regret, median", percent(stats::median(tally.regret))});
    table.add_row({"regret, p95", percent(stats::quantile(tally.regret, 0.95))});
    table.add_row({"regret, largest", percent(stats::quantile(tally.regret, 1))});
    table.add_row({"entrants of the race, median", fmt::format("{:.0f}", stats::median(tally.entrants))});
    table.add_row({"GPU time of the race, median", fmt::format("{:.2f} s", race_s)});
    table.add_row({"GPU time of fixed repeats", fmt::format("{:.2f} s", full.fixed_s)});
    table.add_row({"fixed repeats over race", race_s > 0 ? fmt::format("{:.1f}", full.fixed_s / race_s) : "no race"});
    fmt::print("{}\n", table.text());
  }
}

}  // namespace pgtune::bench
