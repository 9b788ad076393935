// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tuner/space/plan.hpp"

namespace pgtune::session {
namespace {

/// Failures of the machine that hit whichever variant happened to run.
constexpr std::array<std::string_view, 4> kHardware{"cudaErrorECCUncorrectable", "cudaErrorNvlinkUncorrectable",
                                                    "cudaErrorContained", "cudaErrorExternalDevice"};

std::string_view verb(const Outcome& outcome) { return outcome.kind == OutcomeKind::kTimeout ? "hung" : "crashed"; }

Outcome quarantined(const Outcome& killer, const std::string& where) {
  return {OutcomeKind::kQuarantined, fmt::format("{} {}: {}", verb(killer), where, killer.reason)};
}

Outcome quarantined(const KnownKiller& killer) {
  return quarantined(killer.outcome, fmt::format("in session {} of {} on {} as {} {}", killer.session, killer.date,
                                                 killer.problem.title(), killer.template_name, killer.variant_key));
}

}  // namespace

bool is_killer(const Outcome& outcome) {
  if (outcome.kind != OutcomeKind::kCrashed && outcome.kind != OutcomeKind::kTimeout) return false;
  return std::none_of(kHardware.begin(), kHardware.end(),
                      [&](std::string_view name) { return outcome.reason.find(name) != std::string::npos; });
}

std::map<std::string, StoredTrial> resumable(std::map<std::string, StoredTrial> trials, bool retry_failed) {
  std::erase_if(trials, [&](const auto& entry) {
    const OutcomeKind kind = entry.second.report.outcome.kind;
    const bool killer = kind == OutcomeKind::kCrashed || kind == OutcomeKind::kTimeout;
    return kind == OutcomeKind::kQuarantined || (retry_failed && killer);
  });
  return trials;
}

bool has_killers(const CountsRecord& counts) {
  constexpr std::array kKinds{OutcomeKind::kCrashed, OutcomeKind::kTimeout, OutcomeKind::kQuarantined};
  return std::any_of(kKinds.begin(), kKinds.end(), [&](OutcomeKind kind) { return counts.failed.count(kind) > 0; });
}

Quarantine::Quarantine(const std::vector<KnownKiller>& killers) {
  for (const KnownKiller& killer : killers) {
    if (!is_killer(killer.outcome)) continue;
    if (killer.cubin_hash.empty()) {
      compilers_.push_back(killer);
    } else {
      runs_.insert_or_assign(killer.cubin_hash, quarantined(killer));
    }
  }
}

std::optional<Outcome> Quarantine::of_build(const Context& context, const Variant& variant,
                                            const std::vector<Define>& defines) const {
  const space::TemplateDefinition& definition = context.templates.of(variant);
  for (const KnownKiller& killer : compilers_) {
    if (killer.template_hash != definition.content_hash || killer.variant_key != variant.key()) continue;
    // Macros may depend on the problem: another problem's build is the same one where they came out alike.
    const auto then = space::make_defines(definition, variant, killer.problem, context.device.info());
    if (then && *then == defines) return quarantined(killer);
  }
  return std::nullopt;
}

std::optional<Outcome> Quarantine::of_run(const BuildInfo& build) const {
  const auto found = runs_.find(build.cubin_hash);
  if (build.cubin_hash.empty() || found == runs_.end()) return std::nullopt;
  return found->second;
}

void Quarantine::note(const Problem& problem, const Variant& variant, const BuildInfo& build, const Outcome& outcome) {
  if (build.cubin_hash.empty() || !is_killer(outcome)) return;
  runs_.insert_or_assign(build.cubin_hash,
                         quarantined(outcome, fmt::format("in this search on {} as {} {}", problem.title(),
                                                          variant.template_name, variant.key())));
}

Quarantine load_quarantine(const Context& context) {
  if (context.device.source() != "gpu" || context.options.retry_failed) return {};
  return Quarantine(context.store.killers(context.device.info()));
}

}  // namespace pgtune::session
