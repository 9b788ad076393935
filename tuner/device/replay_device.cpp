// SPDX-License-Identifier: MIT
#include "tuner/device/replay_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace pgtune::device {
namespace {

/// A variant that got as far as a build has its cubin's hash, whatever became of it later.
bool was_built(const RecordedVariant& variant) {
  return variant.trial.outcome.kind == OutcomeKind::kOk || !variant.build.cubin_hash.empty();
}

std::string name(const protocol::BuiltContender& contender) {
  if (const auto* const algorithm = algorithm_of(contender)) return fmt::format("baseline {}", algorithm->index);
  return variant_of(contender)->variant.id();
}

std::string joined(const std::set<std::string>& texts) {
  return texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

ReplayDevice::ReplayDevice(Recording recording) : recording_(std::move(recording)) {}

Result<BaselineReport> ReplayDevice::prepare(const protocol::PrepareRequest& request) {
  std::set<std::string> titles, conditions;
  for (const RecordedProblem& recorded : recording_.problems) {
    titles.insert(recorded.problem.title());
    if (recorded.problem.key() != request.problem.key()) continue;
    conditions.insert(fmt::format("'{}'", recorded.conditions.key()));
    if (recorded.conditions != request.conditions) continue;
    problem_ = &recorded;
    return problem_->baseline.report;
  }
  if (conditions.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("{} is not in the recording ({}). It holds: {}. Choose one of these, or run on a GPU",
                            request.problem.title(), recording_.origin, joined(titles)));
  return fail(ErrorKind::kUsage,
              fmt::format("{} was not recorded under the conditions '{}' ({}). The recording has it under: {}. Ask for "
                          "these (--regime, --l2, --data, --data-seed), or run on a GPU",
                          request.problem.title(), request.conditions.key(), recording_.origin, joined(conditions)));
}

std::vector<Variant> ReplayDevice::recorded_variants(const Problem& problem) const {
  std::vector<Variant> all;
  for (const RecordedProblem& recorded : recording_.problems) {
    if (recorded.problem.key() != problem.key()) continue;
    for (const auto& [id, known] : recorded.variants) {
      if (known.variant) all.push_back(*known.variant);
    }
  }
  return all;
}

const RecordedVariant* ReplayDevice::find(const Variant& variant) const {
  if (problem_ == nullptr) return nullptr;
  const auto it = problem_->variants.find(variant.id());
  return it != problem_->variants.end() ? &it->second : nullptr;
}

const RecordedVariant* ReplayDevice::find(const protocol::BuiltContender& contender) const {
  const protocol::BuiltVariant* const built = variant_of(contender);
  return built != nullptr ? find(built->variant) : nullptr;
}

Outcome ReplayDevice::not_recorded(const std::string& what) const {
  return {OutcomeKind::kNotRecorded, fmt::format("{} is not in the recording ({})", what, recording_.origin)};
}

void ReplayDevice::submit_build(protocol::BuildRequest request) {
  protocol::BuildDone done{request.id, {}, {}};
  if (const RecordedVariant* const recorded = find(request.variant); recorded == nullptr) {
    done.outcome = not_recorded("the variant");
  } else if (was_built(*recorded)) {
    done.build = recorded->build;
    done.build.cubin_path.clear();
  } else {
    done.outcome = recorded->trial.outcome;
  }
  done_.emplace_back(std::move(done));
}

void ReplayDevice::submit_trial(protocol::TrialRequest request) {
  protocol::TrialDone done{request.id, {}};
  if (const RecordedVariant* const recorded = find(request.built.variant)) {
    done.report = recorded->trial;
  } else {
    done.report.outcome = not_recorded("the variant");
  }
  done_.emplace_back(std::move(done));
}

Result<std::vector<protocol::Event>> ReplayDevice::wait(std::chrono::milliseconds /*timeout*/) {
  return std::exchange(done_, {});
}

const std::vector<Sample>* ReplayDevice::rounds_of(const Contender& contender) const {
  const BaselineAlgorithm* const algorithm = algorithm_of(contender);
  if (algorithm == nullptr) {
    const RecordedVariant* const recorded = find(*variant_of(contender));
    return recorded != nullptr ? &recorded->rounds : nullptr;
  }
  if (problem_ == nullptr) return nullptr;
  const auto found = problem_->baseline.rounds.find(algorithm->index);
  return found != problem_->baseline.rounds.end() ? &found->second : nullptr;
}

Result<protocol::RoundReport> ReplayDevice::run_round(const protocol::RoundRequest& request) {
  const std::size_t count = request.contenders.size();
  protocol::RoundReport report{std::vector<std::optional<Sample>>(count), std::vector<Outcome>(count)};
  std::map<std::string, int> seen;
  for (std::size_t position = 0; position < request.order.size(); ++position) {
    const auto index = static_cast<std::size_t>(request.order[position]);
    const protocol::BuiltContender& contender = request.contenders.at(index);
    const RoundPlace place{request.stage, request.round, seen[name(contender)]++};
    const std::vector<Sample>* const rounds = rounds_of(protocol::contender_of(contender));
    auto sample = rounds != nullptr ? recorded_sample(*rounds, place) : std::nullopt;
    if (!sample) {
      report.outcomes[index] = not_recorded(
          fmt::format("{} in round {} of the {}", name(contender), request.round, to_string(request.stage)));
      continue;
    }
    sample->position = static_cast<int>(position);
    report.samples[index] = sample;
  }
  return report;
}

std::optional<int> ReplayDevice::recorded_rounds(Stage stage) const {
  int rounds = 0;
  const auto look_at = [&](const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) {
      if (sample.stage == stage) rounds = std::max(rounds, sample.round);
    }
  };
  if (problem_ == nullptr) return 0;
  for (const auto& [id, recorded] : problem_->variants) look_at(recorded.rounds);
  for (const auto& [algorithm, samples] : problem_->baseline.rounds) look_at(samples);
  return rounds;
}

bool ReplayDevice::is_recorded(Stage stage, const Contender& contender) const {
  const std::vector<Sample>* const rounds = rounds_of(contender);
  return rounds != nullptr &&
         std::any_of(rounds->begin(), rounds->end(), [&](const Sample& sample) { return sample.stage == stage; });
}

Result<protocol::VerifyReport> ReplayDevice::verify(const protocol::VerifyRequest& /*request*/) {
  return protocol::VerifyReport{.outcome = not_recorded("whether the finalists were verified")};
}

const std::vector<EnergyWindow>* ReplayDevice::energy_of(const protocol::EnergyRequest& request) const {
  if (problem_ == nullptr) return nullptr;
  if (!request.contender) return &problem_->idle_energy;
  const BaselineAlgorithm* const algorithm = algorithm_of(*request.contender);
  if (algorithm == nullptr) {
    const RecordedVariant* const recorded = find(*request.contender);
    return recorded != nullptr ? &recorded->energy : nullptr;
  }
  const auto found = problem_->baseline.energy.find(algorithm->index);
  return found != problem_->baseline.energy.end() ? &found->second : nullptr;
}

Result<EnergyWindow> ReplayDevice::measure_energy(const protocol::EnergyRequest& request) {
  const std::vector<EnergyWindow>* const windows = energy_of(request);
  const auto index = static_cast<std::size_t>(std::max(request.index, 0));
  if (windows == nullptr || index >= windows->size())
    return fail(ErrorKind::kEnvironment,
                fmt::format("{} energy is not in the recording ({}); record it with --power, or run on a GPU",
                            request.contender ? "its" : "the idle GPU's", recording_.origin));
  return windows->at(index);
}

Result<Ceilings> ReplayDevice::measure_ceilings() {
  if (recording_.ceilings) return *recording_.ceilings;
  return fail(ErrorKind::kEnvironment,
              fmt::format("the GPU's ceilings are not in the recording ({})", recording_.origin));
}

}  // namespace pgtune::device
