// SPDX-License-Identifier: MIT
#include "tuner/session/chain/chain_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/operation/gemm_operation.hpp"
#include "tuner/session/answer/session_notes.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/steady_run.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

using protocol::ChainContender;

std::vector<double> per_launch_s(const ChainTimes& times) {
  std::vector<double> out;
  for (const Sample& sample : times.samples) out.push_back(sample.per_launch_s());
  return out;
}

class ChainRun {
 public:
  ChainRun(const Chain& chain, const std::vector<protocol::ChainKernel>& kernels, device::ChainDevice& device,
           const ChainOptions& options, const std::atomic<bool>& stop, const ChainProgressCallback& progress,
           const Clock& clock)
      : chain_(chain),
        kernels_(kernels),
        device_(device),
        options_(options),
        stop_(stop),
        progress_(progress),
        clock_(clock) {}

  Result<ChainResult> run() {
    tell({ChainProgress::Phase::kPrepare});
    Chain chain = chain_;
    for (ChainStep& step : chain.steps) {
      auto problem = operation::with_operation(step.problem);
      if (!problem) return fail(std::move(problem.error()), fmt::format("step '{}'", step.name));
      step.problem = std::move(*problem);
    }
    const auto prepared = device_.prepare({std::move(chain), options_.conditions, kernels_});
    if (!prepared) return tl::unexpected<Error>(prepared.error());
    answer().prepared = *prepared;
    add_check_notes();
    if (auto ok = check(); !ok) return tl::unexpected<Error>(std::move(ok.error()));
    if (result_.outcome.kind != OutcomeKind::kOk || stopped()) return std::move(result_);
    if (auto ok = measure(); !ok) return tl::unexpected<Error>(std::move(ok.error()));
    add_up();
    return std::move(result_);
  }

 private:
  ChainAnswer& answer() { return result_.answer; }

  void add_check_notes() {
    for (const ChainStep& step : chain_.steps) {
      for (const std::string& note : check_notes(step.problem))
        answer().notes.push_back(fmt::format("step '{}': {}", step.name, note));
    }
  }

  void tell(const ChainProgress& progress) const {
    if (progress_) progress_(progress);
  }

  bool stopped() {
    result_.interrupted = stop_.load();
    return result_.interrupted;
  }

  [[nodiscard]] bool can_overlap() const {
    return std::any_of(kernels_.begin(), kernels_.end(),
                       [](const auto& kernel) { return kernel.overlapping.has_value(); });
  }

  Result<void> check() {
    tell({ChainProgress::Phase::kCheck});
    auto plain = device_.check({false});
    if (!plain) return tl::unexpected<Error>(std::move(plain.error()));
    result_.outcome = plain->outcome;
    answer().check = std::move(*plain);
    if (result_.outcome.kind != OutcomeKind::kOk || !can_overlap() || stopped()) return {};
    auto overlapping = device_.check({true});
    if (!overlapping) return tl::unexpected<Error>(std::move(overlapping.error()));
    const protocol::ChainCheck& found = *overlapping;
    if (found.outcome.kind != OutcomeKind::kOk) {
      answer().notes.push_back(
          fmt::format("with overlapping launches the chain is not measured: {}", found.outcome.reason));
    } else if (found.programmatic_edges < found.overlapping_launches) {
      answer().notes.push_back(fmt::format("{} of {} launches that may overlap the one before do in the graph",
                                           found.programmatic_edges, found.overlapping_launches));
    }
    answer().overlapping = std::move(*overlapping);
    return {};
  }

  /// The chain, with overlap where that is right, and each step.
  [[nodiscard]] std::vector<ChainContender> contenders() const {
    std::vector<ChainContender> out{{std::nullopt, false}};
    const auto& overlapping = result_.answer.overlapping;
    if (overlapping && overlapping->outcome.kind == OutcomeKind::kOk) out.push_back({std::nullopt, true});
    for (std::size_t i = 0; i < chain_.steps.size(); ++i) out.push_back({static_cast<int>(i), false});
    return out;
  }

  ChainTimes& times_of(const ChainContender& contender) {
    if (contender.step) return answer().steps[static_cast<std::size_t>(*contender.step)];
    return contender.overlapping ? answer().overlapping_chain : answer().chain;
  }

  /// Samples of all, or of none where somebody failed: then with its outcome.
  Result<bool> round(protocol::ChainRound request, std::vector<Sample>& samples) {
    const auto report = device_.round(request);
    if (!report) return tl::unexpected<Error>(report.error());
    for (std::size_t i = 0; i < request.contenders.size(); ++i) {
      if (!report->samples[i]) {
        result_.outcome = report->outcomes[i];
        if (result_.outcome.kind == OutcomeKind::kOk) result_.outcome.kind = OutcomeKind::kLaunchFailed;
        return false;
      }
      samples.push_back(*report->samples[i]);
    }
    return true;
  }

  Result<bool> measure_steady_run() {
    tell({ChainProgress::Phase::kSteady});
    std::vector<Sample> samples;
    const protocol::ChainRound request{.contenders = {{}},
                                       .order = {0},
                                       .stage = Stage::kSteady,
                                       .sample_s = kSettledSample.sample_s,
                                       .settle_s = kSettledSample.settle_s};
    const auto measured = round(request, samples);
    if (!measured || !*measured) return measured;
    if (met_power_cap(samples.front(), device_.info().max_sm_clock_hz)) answer().sampling = Sampling::kSettled;
    return true;
  }

  Result<void> measure() {
    const auto steady = measure_steady_run();
    if (!steady) return tl::unexpected<Error>(steady.error());
    if (!*steady) return {};
    const bool settled = answer().sampling == Sampling::kSettled;
    const int usual = settled ? kSettledChainRounds : kShortChainRounds;
    const int total = options_.rounds > 0 ? options_.rounds : usual;
    const SampleTiming timing = settled ? kSettledSample : SampleTiming{kFinalSample_s, 0};
    const std::vector<ChainContender> contenders = this->contenders();
    answer().steps.resize(chain_.steps.size());
    const std::string occasion = fmt::format("{} {}", device_.info().uuid, clock_.utc_iso8601());
    const RoundOrder orders(contenders.size(), order_seed(options_.seed, occasion));
    while (answer().rounds < total && !stopped()) {
      tell({ChainProgress::Phase::kRounds, answer().rounds, total});
      protocol::ChainRound request{.contenders = contenders,
                                   .round = answer().rounds + 1,
                                   .sample_s = timing.sample_s,
                                   .settle_s = timing.settle_s};
      for (const std::size_t index : orders.order(answer().rounds)) request.order.push_back(static_cast<int>(index));
      std::vector<Sample> samples;
      const auto measured = round(std::move(request), samples);
      if (!measured) return tl::unexpected<Error>(measured.error());
      if (!*measured) return {};
      for (std::size_t i = 0; i < contenders.size(); ++i) times_of(contenders[i]).samples.push_back(samples[i]);
      ++answer().rounds;
    }
    return {};
  }

  void add_up() {
    ChainAnswer& out = answer();
    const auto rounds = static_cast<std::size_t>(out.rounds);
    std::vector<double> added(rounds, 0);
    for (const ChainTimes& step : out.steps) {
      for (std::size_t i = 0; i < rounds; ++i) added[i] += step.samples[i].per_launch_s();
    }
    out.steps_to_chain = stats::paired_log_ratio(added, per_launch_s(out.chain));
    out.chain_to_overlapping = stats::paired_log_ratio(per_launch_s(out.chain), per_launch_s(out.overlapping_chain));
    const auto hot = [](const Sample& sample) { return sample.thermal_s.value_or(0) > 0; };
    if (std::any_of(out.chain.samples.begin(), out.chain.samples.end(), hot))
      out.notes.push_back("heat or power brake held the clocks down in some rounds; better cooling helps");
  }

  const Chain& chain_;
  const std::vector<protocol::ChainKernel>& kernels_;
  device::ChainDevice& device_;
  const ChainOptions& options_;
  const std::atomic<bool>& stop_;
  const ChainProgressCallback& progress_;
  const Clock& clock_;
  ChainResult result_;
};

}  // namespace

double ChainTimes::time_s() const { return stats::median(per_launch_s(*this)); }

double ChainAnswer::steps_s() const {
  double sum_s = 0;
  for (const ChainTimes& step : steps) sum_s += step.time_s();
  return sum_s;
}

double ChainAnswer::share(std::size_t step) const {
  const double sum_s = steps_s();
  return sum_s > 0 ? steps[step].time_s() / sum_s : 0;
}

Result<ChainResult> run_chain(const Chain& chain, const std::vector<protocol::ChainKernel>& kernels,
                              device::ChainDevice& device, const ChainOptions& options, const std::atomic<bool>& stop,
                              const ChainProgressCallback& progress, const Clock& clock) {
  return ChainRun(chain, kernels, device, options, stop, progress, clock).run();
}

}  // namespace pgtune::session
