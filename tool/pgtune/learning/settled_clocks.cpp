// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/settled_clocks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/learning/learned_expectation.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {
namespace {

struct Screened {
  double time_s = 0, cycles = 0;
};

Screened screened(const TrialReport& report) {
  std::vector<double> times, cycles;
  for (const Sample& sample : report.samples) {
    times.push_back(sample.per_launch_s());
    if (sample.sm_clock_hz > 0) cycles.push_back(sample.per_launch_s() * sample.sm_clock_hz);
  }
  return {times.empty() ? 0 : stats::median(times), cycles.empty() ? 0 : stats::median(cycles)};
}

/// By template and variant key.
using Screening = std::map<std::pair<std::string, std::string>, Screened>;

Screening screening_of(const db::Database& database, db::RowId session) {
  Screening out;
  db::for_each_history(database, {session}, [&](db::RowId, const std::vector<db::PastTrialRow>& past) {
    for (const db::PastTrialRow& row : past) {
      const db::VariantRow& variant = row.trial.variant;
      out[{variant.origin.name, variant.key}] = screened(row.trial.report);
    }
  });
  return out;
}

std::optional<Sample> settled_sample(const std::vector<Sample>& samples) {
  const auto found = std::find_if(samples.begin(), samples.end(), [](const Sample& sample) {
    return sample.stage == Stage::kRace && sample.lead_in_s && sample.sm_clock_hz > 0;
  });
  return found != samples.end() ? std::optional(*found) : std::nullopt;
}

}  // namespace

std::vector<SettledRace> settled_races(const db::Database& database, const KnownTemplates& templates,
                                       std::span<const db::SessionRow> sessions) {
  std::vector<SettledRace> out;
  for (const db::SessionRow& session : sessions) {
    if (session.recorded || session.kind != "search") continue;
    const auto problem = db::find_problem(database, session.problem_key);
    const auto device = db::find_session_device(database, session.id);
    if (!problem || !device) continue;
    SettledRace race{*problem, *device, {}};
    std::optional<Screening> screening;
    for (const db::ContenderSamplesRow& row : db::session_rounds(database, session.id)) {
      const db::VariantRow* const variant_row = variant_of(row.contender);
      const auto sample = settled_sample(row.samples);
      if (variant_row == nullptr || !sample) continue;
      const space::TemplateDefinition* const definition = templates.find(variant_row->origin.name);
      if (definition == nullptr) continue;
      auto variant = space::recorded_variant(*definition, variant_row->key);
      if (!variant) continue;
      if (!screening) screening = screening_of(database, session.id);
      const Screened before = (*screening)[{variant_row->origin.name, variant_row->key}];
      race.entrants.push_back(
          {std::move(*variant), before.time_s, before.cycles, sample->per_launch_s(), sample->sm_clock_hz});
    }
    if (!race.entrants.empty()) out.push_back(std::move(race));
  }
  return out;
}

std::vector<search::Experience> clock_experiences(const SettledRace& race, const KnownTemplates& templates,
                                                  std::size_t number) {
  double highest_hz = 0;
  std::map<std::string, std::vector<const SettledRace::Entrant*>> by_template;
  for (const SettledRace::Entrant& entrant : race.entrants) {
    highest_hz = std::max(highest_hz, entrant.clock_hz);
    by_template[entrant.variant.template_name].push_back(&entrant);
  }
  std::vector<search::Experience> out;
  for (const auto& [name, entrants] : by_template) {
    std::vector<Variant> variants;
    for (const SettledRace::Entrant* const entrant : entrants) variants.push_back(entrant->variant);
    search::Experience own{
        value_or_throw(session::described(*templates.find(name), race.problem, race.device, variants)),
        {},
        shape_of(race.problem),
        device_class(race.device).hardware(),
        name,
        number};
    own.variants.offsets.assign(variants.size(), 0.0);  // a template's cost does not predict clocks
    for (const SettledRace::Entrant* const entrant : entrants)
      own.log_times.push_back(std::log(highest_hz / entrant->clock_hz));
    out.push_back(std::move(own));
  }
  return out;
}

}  // namespace pgtune::tool
