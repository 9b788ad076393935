// SPDX-License-Identifier: MIT
#include "tool/pgtune/replay/recorded_problem.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "db/queries/queries.hpp"
#include "db/queries/stored_records.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {
namespace {

/// What one session measured in rounds, and its baseline.
struct Measured {
  BaselineReport baseline;
  std::vector<db::ContenderSamplesRow> rounds;
  std::vector<db::EnergyWindowRow> energy;
};

Measured measured(const db::Database& database, const db::SessionRow& session) {
  Measured out;
  out.baseline = db::find_baseline(database, session.id).value_or(BaselineReport());
  out.rounds = db::session_rounds(database, session.id);
  out.energy = db::energy_windows(database, session.id);
  return out;
}

/// Contenders with samples of a stage; variants only where they are what the stage is about.
std::ptrdiff_t contenders(const Measured& session, Stage stage) {
  return std::count_if(session.rounds.begin(), session.rounds.end(), [&](const db::ContenderSamplesRow& row) {
    if (variant_of(row.contender) == nullptr && stage != Stage::kFloor) return false;
    return std::any_of(row.samples.begin(), row.samples.end(),
                       [&](const Sample& sample) { return sample.stage == stage; });
  });
}

using Place = std::vector<Measured>::const_iterator;

/// The first session with any contender in a stage; the first of all where there is none.
Place first_with(const std::vector<Measured>& sessions, Stage stage) {
  const auto found = std::find_if(sessions.begin(), sessions.end(),
                                  [&](const Measured& session) { return contenders(session, stage) > 0; });
  return found != sessions.end() ? found : sessions.begin();
}

Place largest_race(const std::vector<Measured>& sessions) {
  return std::max_element(sessions.begin(), sessions.end(), [](const Measured& a, const Measured& b) {
    return contenders(a, Stage::kRace) < contenders(b, Stage::kRace);
  });
}

/// The index in `to` of the algorithm that `from` has at `index`.
std::optional<int> same_algorithm(const BaselineReport& from, int index, const BaselineReport& to) {
  if (index < 0 || static_cast<std::size_t>(index) >= from.algorithms.size()) return std::nullopt;
  const AlgorithmReport& wanted = from.algorithms[static_cast<std::size_t>(index)];
  const auto same = [&](const AlgorithmReport& other) {
    return from.library == to.library && other.description == wanted.description &&
           other.workspace_bytes == wanted.workspace_bytes;
  };
  // In one session descriptions need not be unique.
  if (static_cast<std::size_t>(index) < to.algorithms.size() && same(to.algorithms[static_cast<std::size_t>(index)]))
    return index;
  const auto found = std::find_if(to.algorithms.begin(), to.algorithms.end(), same);
  if (found == to.algorithms.end()) return std::nullopt;
  return static_cast<int>(found - to.algorithms.begin());
}

class Assembly {
 public:
  Assembly(device::RecordedProblem& problem, const space::TemplateSet& templates)
      : problem_(problem), templates_(templates.ids()), definitions_(templates) {}

  void add_trials(const db::Database& database, const db::SessionRow& like) {
    for (const space::TemplateId& id : templates_) {
      const db::ResultKey key{like.device_class, like.problem_key, id.name,
                              id.content_hash,   like.source,      like.conditions_key};
      for (const auto& [variant_key, row] : db::find_trials_for(database, key, like.device_uuid)) {
        // Beside rounds of one board, what another one was timed at would mislead; that it failed there does not.
        const bool right = row.report.outcome.kind == OutcomeKind::kOk && !row.report.cut;
        if (right && row.device_uuid != like.device_uuid) continue;
        auto variant = space::recorded_variant(definition_of(id.name), variant_key);
        const std::string here = variant ? variant->id() : id_here(id.name, variant_key);
        problem_.variants[here] = {row.report, row.build.value_or(BuildInfo()), {}, {}, std::move(variant)};
      }
    }
  }

  void add_rounds(const Measured& session, Stage stage) {
    const auto of_stage = [&](const Sample& sample) { return sample.stage == stage; };
    for (const db::ContenderSamplesRow& row : session.rounds) {
      // An algorithm has its place in the recording once it has samples.
      if (std::none_of(row.samples.begin(), row.samples.end(), of_stage)) continue;
      if (std::vector<Sample>* const rounds = rounds_of(session, row.contender))
        std::copy_if(row.samples.begin(), row.samples.end(), std::back_inserter(*rounds), of_stage);
    }
  }

  void add_energy(const Measured& session) {
    for (const db::EnergyWindowRow& row : session.energy) {
      if (std::vector<EnergyWindow>* const windows = windows_of(session, row.contender)) windows->push_back(row.window);
    }
  }

 private:
  device::RecordedVariant* recorded(const db::VariantRow& variant) {
    const space::TemplateId id{variant.origin.name, variant.origin.content_hash};
    if (std::find(templates_.begin(), templates_.end(), id) == templates_.end()) return nullptr;
    const auto found = problem_.variants.find(id_here(id.name, variant.key));
    return found != problem_.variants.end() ? &found->second : nullptr;
  }

  std::vector<Sample>* rounds_of(const Measured& session, const db::ContenderRow& contender) {
    if (const db::VariantRow* const variant = variant_of(contender)) {
      device::RecordedVariant* const known = recorded(*variant);
      return known != nullptr ? &known->rounds : nullptr;
    }
    const auto index = index_here(session, *algorithm_of(contender));
    return index ? &problem_.baseline.rounds[*index] : nullptr;
  }

  std::vector<EnergyWindow>* windows_of(const Measured& session, const std::optional<db::ContenderRow>& contender) {
    if (!contender) return &problem_.idle_energy;
    if (const db::VariantRow* const variant = variant_of(*contender)) {
      device::RecordedVariant* const known = recorded(*variant);
      return known != nullptr ? &known->energy : nullptr;
    }
    const auto index = index_here(session, *algorithm_of(*contender));
    return index ? &problem_.baseline.energy[*index] : nullptr;
  }

  /// Where the recording's baseline has the session's algorithm.
  std::optional<int> index_here(const Measured& session, BaselineAlgorithm algorithm) const {
    return same_algorithm(session.baseline, algorithm.index, problem_.baseline.report);
  }

  std::string id_here(const std::string& template_name, const std::string& key) const {
    return template_name + '/' + key;
  }

  const space::TemplateDefinition& definition_of(const std::string& template_name) const {
    return definitions_.of({template_name, {}});
  }

  device::RecordedProblem& problem_;
  std::vector<space::TemplateId> templates_;
  space::TemplateSet definitions_;
};

}  // namespace

device::RecordedProblem recorded_problem(const db::Database& database, const std::vector<db::SessionRow>& sessions,
                                         const Problem& problem, const space::TemplateSet& templates) {
  std::vector<Measured> all;
  all.reserve(sessions.size());
  for (const db::SessionRow& session : sessions) all.push_back(measured(database, session));
  const Place final = first_with(all, Stage::kFinal);

  device::RecordedProblem recorded;
  recorded.problem = problem;
  recorded.conditions = db::conditions_of(sessions.front().conditions_key);
  recorded.baseline.report = final->baseline;
  Assembly assembly(recorded, templates);
  assembly.add_trials(database, sessions.front());
  assembly.add_rounds(*final, Stage::kFinal);
  assembly.add_rounds(*final, Stage::kConfirm);
  assembly.add_rounds(*final, Stage::kSteady);  // it says what the final's samples are
  assembly.add_rounds(*first_with(all, Stage::kFloor), Stage::kFloor);
  assembly.add_rounds(*largest_race(all), Stage::kRace);
  const auto with_energy =
      std::find_if(all.begin(), all.end(), [](const Measured& session) { return !session.energy.empty(); });
  if (with_energy != all.end()) assembly.add_energy(*with_energy);
  return recorded;
}

}  // namespace pgtune::tool
