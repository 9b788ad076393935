// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::session {
namespace {

/// Failures of the machine that hit whichever variant happened to run.
constexpr std::array<std::string_view, 4> kHardware{"cudaErrorECCUncorrectable", "cudaErrorNvlinkUncorrectable",
                                                    "cudaErrorContained", "cudaErrorExternalDevice"};

std::string_view verb(const Outcome& outcome) { return outcome.kind == OutcomeKind::kTimeout ? "hung" : "crashed"; }

Outcome quarantined(const Outcome& fatal_trial, const std::string& where) {
  return {OutcomeKind::kQuarantined, fmt::format("{} {}: {}", verb(fatal_trial), where, fatal_trial.reason)};
}

Outcome quarantined(const FatalTrial& fatal_trial) {
  return quarantined(fatal_trial.outcome,
                     fmt::format("in session {} of {} on {} as {} {}", fatal_trial.session, fatal_trial.date,
                                 fatal_trial.problem.title(), fatal_trial.template_name, fatal_trial.variant_key));
}

bool is_right_elsewhere(const StoredTrial& trial) {
  return !trial.on_this_board && trial.report.outcome.kind == OutcomeKind::kOk && !trial.report.cut;
}

/// What another board's hardware did says nothing of this one.
bool failed_with_its_board(const StoredTrial& trial) {
  const OutcomeKind kind = trial.report.outcome.kind;
  return !trial.on_this_board && (kind == OutcomeKind::kCrashed || kind == OutcomeKind::kTimeout) &&
         !is_fatal(trial.report.outcome);
}

}  // namespace

bool is_fatal(const Outcome& outcome) {
  if (outcome.kind != OutcomeKind::kCrashed && outcome.kind != OutcomeKind::kTimeout) return false;
  return std::none_of(kHardware.begin(), kHardware.end(),
                      [&](std::string_view name) { return outcome.reason.find(name) != std::string::npos; });
}

std::map<std::string, StoredTrial> resumable(std::map<std::string, StoredTrial> trials, bool retry_failed) {
  std::erase_if(trials, [&](const auto& entry) {
    const OutcomeKind kind = entry.second.report.outcome.kind;
    const bool fatal_trial = kind == OutcomeKind::kCrashed || kind == OutcomeKind::kTimeout;
    return kind == OutcomeKind::kQuarantined || (retry_failed && fatal_trial) || is_right_elsewhere(entry.second) ||
           failed_with_its_board(entry.second);
  });
  return trials;
}

std::vector<std::string> right_elsewhere(const std::map<std::string, StoredTrial>& trials) {
  std::vector<std::pair<double, std::string>> found;
  for (const auto& [id, trial] : trials) {
    if (is_right_elsewhere(trial)) found.emplace_back(median_per_launch_s(trial.report.samples), id);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> ids;
  for (auto& [time_s, id] : found) ids.push_back(std::move(id));
  return ids;
}

bool has_fatal_trials(const CountsRecord& counts) {
  constexpr std::array kKinds{OutcomeKind::kCrashed, OutcomeKind::kTimeout, OutcomeKind::kQuarantined};
  return std::any_of(kKinds.begin(), kKinds.end(), [&](OutcomeKind kind) { return counts.failed.count(kind) > 0; });
}

Quarantine::Quarantine(const std::vector<FatalTrial>& fatal_trials) {
  for (const FatalTrial& fatal_trial : fatal_trials) {
    if (!is_fatal(fatal_trial.outcome)) continue;
    if (fatal_trial.cubin_hash.empty()) {
      compilers_.push_back(fatal_trial);
    } else {
      runs_.insert_or_assign(fatal_trial.cubin_hash, quarantined(fatal_trial));
    }
  }
}

std::optional<Outcome> Quarantine::of_build(const space::TemplateDefinition& definition, const DeviceInfo& device,
                                            const protocol::BuildRequest& request) const {
  for (const FatalTrial& fatal_trial : compilers_) {
    if (fatal_trial.template_hash != definition.content_hash || fatal_trial.variant_key != request.variant.key())
      continue;
    // Macros may depend on the problem: another problem's build is the same one where they came out alike.
    const auto then = space::make_defines(definition, request.variant, fatal_trial.problem, device);
    if (then && *then == request.defines) return quarantined(fatal_trial);
  }
  return std::nullopt;
}

std::optional<Outcome> Quarantine::of_run(const BuildInfo& build) const {
  const auto found = runs_.find(build.cubin_hash);
  if (build.cubin_hash.empty() || found == runs_.end()) return std::nullopt;
  return found->second;
}

void Quarantine::note(const Problem& problem, const Variant& variant, const BuildInfo& build, const Outcome& outcome) {
  if (build.cubin_hash.empty() || !is_fatal(outcome)) return;
  runs_.insert_or_assign(build.cubin_hash,
                         quarantined(outcome, fmt::format("in this search on {} as {} {}", problem.title(),
                                                          variant.template_name, variant.key())));
}

Quarantine load_quarantine(const SessionContext& context) {
  if (context.options.retry_failed) return {};
  return Quarantine(context.store.fatal_trials(context.device.info()));
}

}  // namespace pgtune::session
