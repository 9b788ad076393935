// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "tuner/search/shuffle.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

/// The final leaves the GPU hot and its clocks up; the idle's lead-in lets both come down, and that of the load after
/// it brings the board back to the temperature it keeps under load.
constexpr double kIdleLeadIn_s = 5, kFirstLoadLeadIn_s = 10;

/// One window of the plan.
struct Step {
  enum class Load { kIdle, kBaseline, kVariant };
  Load load = Load::kIdle;
  std::size_t variant = 0;  ///< kVariant only
  int index = 0;            ///< of this contender's windows
};

std::vector<Step> plan(std::size_t variants, std::uint64_t seed) {
  std::vector<Step> steps{{Step::Load::kIdle, 0, 0}, {Step::Load::kBaseline, 0, 0}};
  for (int pass = 0; pass < kEnergyPasses; ++pass) {
    for (const std::size_t i : search::shuffled_indices(variants, seed + static_cast<std::uint64_t>(pass))) {
      steps.push_back({Step::Load::kVariant, i, pass});
    }
    steps.push_back({Step::Load::kBaseline, 0, pass + 1});
  }
  return steps;
}

/// Lead-in and length of a step's window; the contender is the caller's to add.
protocol::EnergyRequest timing(const Step& step) {
  protocol::EnergyRequest request;
  request.index = step.index;
  if (step.load == Step::Load::kIdle) request.lead_in_s = kIdleLeadIn_s;
  if (step.load == Step::Load::kBaseline && step.index == 0) request.lead_in_s = kFirstLoadLeadIn_s;
  return request;
}

double planned_s(const Step& step) {
  const protocol::EnergyRequest request = timing(step);
  return request.lead_in_s + request.window_s;
}

class EnergyStage {
 public:
  EnergyStage(const SessionContext& context, ProgressReporter& progress,
              const std::vector<protocol::BuiltVariant>& variants, BaselineAlgorithm baseline)
      : context_(context),
        progress_(progress),
        built_(variants),
        baseline_algorithm_(baseline),
        steps_(plan(variants.size(), context.options.seed)),
        variants_(variants.size()),
        failed_(variants.size(), false) {}

  Result<EnergyResult> run();

 private:
  enum class End { kGoOn, kEnded };

  [[nodiscard]] protocol::EnergyRequest request(const Step& step) const;
  [[nodiscard]] bool failed(const Step& step) const;
  [[nodiscard]] bool out_of_time(const Step& step) const;
  [[nodiscard]] double pace() const;
  [[nodiscard]] double remaining_s(std::size_t done) const;
  [[nodiscard]] std::int64_t alive() const;
  Result<End> measure(const Step& step);
  End take_error(const Step& step, const Error& error);
  void take(const Step& step, const EnergyWindow& window);
  void summarise();
  void add_notes();

  const SessionContext& context_;
  ProgressReporter& progress_;
  const std::vector<protocol::BuiltVariant>& built_;
  BaselineAlgorithm baseline_algorithm_;
  std::vector<Step> steps_;
  EnergyResult result_;
  std::array<std::optional<EnergyWindow>, kEnergyPasses + 1> baseline_;
  std::vector<std::array<std::optional<EnergyWindow>, kEnergyPasses>> variants_;
  std::vector<bool> failed_;
  bool baseline_failed_ = false;
  std::map<std::string, std::vector<std::string>> failures_;  ///< by reason: variants' keys
  int measured_ = 0, suspect_ = 0, throttled_ = 0;            ///< windows
  double spent_s_ = 0, planned_done_s_ = 0;                   ///< wall time of the measured ones, and as planned
};

protocol::EnergyRequest EnergyStage::request(const Step& step) const {
  protocol::EnergyRequest request = timing(step);
  if (step.load == Step::Load::kBaseline) request.contender = baseline_algorithm_;
  if (step.load == Step::Load::kVariant) request.contender = built_[step.variant];
  return request;
}

bool EnergyStage::failed(const Step& step) const {
  if (step.load == Step::Load::kBaseline) return baseline_failed_;
  return step.load == Step::Load::kVariant && failed_[step.variant];
}

/// A window that would run past the budget is not begun.
bool EnergyStage::out_of_time(const Step& step) const {
  const auto left_s = context_.time_left_s();
  return left_s && (*left_s <= 0 || *left_s < pace() * planned_s(step));
}

/// Wall time per planned second.
double EnergyStage::pace() const { return planned_done_s_ > 0 ? spent_s_ / planned_done_s_ : 1; }

double EnergyStage::remaining_s(std::size_t done) const {
  double sum_s = 0;
  for (std::size_t i = done; i < steps_.size(); ++i) {
    if (!failed(steps_[i])) sum_s += planned_s(steps_[i]);
  }
  return pace() * sum_s;
}

std::int64_t EnergyStage::alive() const { return std::count(failed_.begin(), failed_.end(), false); }

Result<EnergyResult> EnergyStage::run() {
  const auto total = static_cast<int>(steps_.size());
  progress_.enter_rounds(Progress::Phase::kEnergy, total, alive(), remaining_s(0));
  for (std::size_t done = 0; done < steps_.size(); ++done) {
    if (context_.stop.load()) {
      result_.interrupted = true;
      break;
    }
    if (failed(steps_[done])) continue;
    if (out_of_time(steps_[done])) {
      result_.notes.push_back(
          fmt::format("energy has {} of its {} windows: the time budget was over; a longer --budget gives all of them",
                      measured_, total));
      break;
    }
    TRY_ASSIGN(const auto end, measure(steps_[done]));
    if (end == End::kEnded) break;
    progress_.round(static_cast<int>(done) + 1, total, alive(), remaining_s(done + 1));
  }
  summarise();
  add_notes();
  return std::move(result_);
}

Result<EnergyStage::End> EnergyStage::measure(const Step& step) {
  const double start_s = context_.clock.now_s();
  const protocol::EnergyRequest request = this->request(step);
  auto window = context_.device.measure_energy(request);
  if (!window) {
    // A stop may reach the worker too, and then says nothing about the contender.
    if (context_.stop.load()) {
      result_.interrupted = true;
      return End::kEnded;
    }
    if (window.error().kind == ErrorKind::kUsage) return fail(std::move(window.error()), "measuring energy");
    return take_error(step, window.error());
  }
  spent_s_ += context_.clock.now_s() - start_s;
  planned_done_s_ += planned_s(step);
  ++measured_;
  EnergyRecord record{std::nullopt, step.index, *window};
  if (request.contender) record.contender = protocol::contender_of(*request.contender);
  context_.store.save_energy(record);
  take(step, *window);
  return End::kGoOn;
}

/// A variant's environment error may be its own. Where it is the machine's, the next window of the baseline has it too
/// and ends the stage.
EnergyStage::End EnergyStage::take_error(const Step& step, const Error& error) {
  if (step.load == Step::Load::kVariant) {
    failed_[step.variant] = true;
    failures_[error.text()].push_back(built_[step.variant].variant.key());
    return End::kGoOn;
  }
  if (error.kind == ErrorKind::kEnvironment) {
    result_.notes.push_back(
        fmt::format("energy was {}measured: {}", measured_ > 0 ? "not wholly " : "not ", error.text()));
    return End::kEnded;
  }
  const bool idle = step.load == Step::Load::kIdle;
  if (!idle) baseline_failed_ = true;
  result_.notes.push_back(fmt::format("the energy of the {} was not measured{}: {}", idle ? "idle GPU" : "baseline",
                                      idle ? "" : " to the end, so variants may lack their ratio to it", error.text()));
  return End::kGoOn;
}

void EnergyStage::take(const Step& step, const EnergyWindow& window) {
  if (window.suspect()) ++suspect_;
  if (step.load == Step::Load::kIdle) {
    result_.idle_power_w = window.power_w();
    return;
  }
  if (window.thermal_share.value_or(0) > 0) ++throttled_;
  const auto index = static_cast<std::size_t>(step.index);
  (step.load == Step::Load::kBaseline ? baseline_.at(index) : variants_[step.variant].at(index)) = window;
}

void EnergyStage::summarise() {
  std::vector<NeighbouredWindow> own;
  for (const auto& window : baseline_) {
    if (window) own.push_back({*window});
  }
  if (!baseline_failed_) result_.baseline = summarise_energy(own);
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    std::vector<NeighbouredWindow> placed;
    for (std::size_t pass = 0; pass < variants_[i].size(); ++pass) {
      if (const auto& window = variants_[i].at(pass)) {
        placed.push_back({*window, baseline_.at(pass), baseline_.at(pass + 1)});
      }
    }
    result_.variants.push_back(failed_[i] ? std::nullopt : summarise_energy(placed));
  }
}

void EnergyStage::add_notes() {
  for (const auto& [reason, keys] : failures_) {
    result_.notes.push_back(fmt::format("the energy of {} was not measured: {}", fmt::join(keys, "; "), reason));
  }
  if (suspect_ > 0) {
    result_.notes.push_back(fmt::format(
        "{} of {} energy windows are suspect: the energy counter and the averaged power differ by more than 5 %",
        suspect_, measured_));
  }
  if (throttled_ > 0) {
    result_.notes.push_back(
        fmt::format("heat or power brake held the clocks down in {} of {} energy windows; better cooling avoids it",
                    throttled_, measured_));
  }
  if (measured_ > 1 && context_.options.conditions.regime == Regime::kBurst) {
    result_.notes.emplace_back("energy is that of a steady load, though times were measured in bursts");
  }
}

/// Mean energy of a launch over the neighbours there are; 0 without.
double neighbours_j(const NeighbouredWindow& placed) {
  double sum_j = 0;
  int count = 0;
  for (const auto& neighbour : {placed.before, placed.after}) {
    if (!neighbour || neighbour->energy_per_launch_j() <= 0) continue;
    sum_j += neighbour->energy_per_launch_j();
    ++count;
  }
  return sum_j / std::max(count, 1);
}

double lowest(const std::vector<double>& values) { return stats::quantile(values, 0); }
double highest(const std::vector<double>& values) { return stats::quantile(values, 1); }

}  // namespace

std::optional<EnergySummary> summarise_energy(const std::vector<NeighbouredWindow>& windows) {
  EnergySummary out;
  std::vector<double> energies_j, powers_w, times_s, clocks_hz, cap_shares, ratios;
  for (const NeighbouredWindow& placed : windows) {
    const EnergyWindow& window = placed.window;
    if (window.energy_per_launch_j() <= 0) continue;
    ++out.windows;
    energies_j.push_back(window.energy_per_launch_j());
    powers_w.push_back(window.power_w());
    times_s.push_back(window.per_launch_s);
    if (window.sm_clock_hz > 0) clocks_hz.push_back(window.sm_clock_hz);
    if (window.power_cap_share) cap_shares.push_back(*window.power_cap_share);
    if (const double baseline_j = neighbours_j(placed); baseline_j > 0) {
      ratios.push_back(baseline_j / energies_j.back());
    }
    out.uncertainty = std::max(out.uncertainty, window.uncertainty);
    out.suspect = out.suspect || window.suspect();
  }
  if (out.windows == 0) return std::nullopt;
  out.energy_j = stats::median(energies_j);
  out.low_j = lowest(energies_j);
  out.high_j = highest(energies_j);
  out.power_w = stats::median(powers_w);
  out.time_s = stats::median(times_s);
  out.sm_clock_hz = stats::median(clocks_hz);
  if (!cap_shares.empty()) out.power_cap_share = stats::median(cap_shares);
  out.ratio_to_baseline = stats::median(ratios);
  out.ratio_low = lowest(ratios);
  out.ratio_high = highest(ratios);
  return out;
}

Result<EnergyResult> measure_energy(const SessionContext& context, ProgressReporter& progress,
                                    const std::vector<protocol::BuiltVariant>& variants, BaselineAlgorithm baseline) {
  return EnergyStage(context, progress, variants, baseline).run();
}

double expected_energy_s(std::size_t variants) {
  double sum_s = 0;
  for (const Step& step : plan(variants, 0)) sum_s += planned_s(step);
  return sum_s;
}

}  // namespace pgtune::session
