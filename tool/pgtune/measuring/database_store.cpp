// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/database_store.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <nlohmann/json.hpp>

#include <string>

#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "db/queries/stored_records.hpp"
#include "tool/pgtune/cli/version.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/session/answer_json.hpp"

namespace pgtune::tool {
namespace {

/// "Linux 6.1 x86_64". The rest of a kernel's release names the provider's own build, which must not be in a database
/// that is shared.
std::string host_system() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  const std::string release = names.release;
  const std::size_t minor = release.find('.');
  const std::size_t end = minor == std::string::npos ? minor : release.find_first_not_of("0123456789", minor + 1);
  return fmt::format("{} {} {}", names.sysname, release.substr(0, end), names.machine);
}

/// Of sessions.kind.
std::string_view kind_word(session::SessionKind kind) {
  switch (kind) {
    case session::SessionKind::kSearch:
      return "search";
    case session::SessionKind::kBench:
      return "bench";
    case session::SessionKind::kFamily:
      return "family";
  }
  return "search";
}

}  // namespace

db::Program this_program() { return {kVersion, host_system()}; }

db::ResultKey result_key(const session::StoreKey& key, const space::TemplateId& searched) {
  return {.device_class = device_class(key.device).text(),
          .problem_key = key.problem.key(),
          .template_name = searched.name,
          .template_hash = searched.content_hash,
          .conditions_key = key.conditions.key(),
          .kind = std::string(kind_word(key.kind))};
}

db::VariantRow variant_row(const Variant& variant, const space::TemplateSet& templates) {
  const space::TemplateDefinition& definition = templates.of(variant);
  return {variant.key(), parameters_to_json(variant).dump(), {definition.name, definition.content_hash}};
}

db::TrialRow trial_row(const Variant& variant, const space::TemplateSet& templates, const BuildInfo& build,
                       const TrialReport& report) {
  db::TrialRow row{.variant = variant_row(variant, templates), .build = {}, .report = report};
  if (!build.key_hash.empty() || !build.cubin_hash.empty()) row.build = build;
  return row;
}

db::ContenderRow contender_row(const Contender& contender, const space::TemplateSet& templates) {
  if (const BaselineAlgorithm* const algorithm = algorithm_of(contender)) return *algorithm;
  return variant_row(*variant_of(contender), templates);
}

namespace {

db::BestRow best_row(const session::StoreKey& key, const session::Answer& answer) {
  const session::RankedVariant& best = answer.best();
  db::BestRow row;
  const db::VariantRow variant = variant_row(best.variant, key.templates);
  row.variant_key = variant.key;
  row.variant_origin = variant.origin;
  row.time_s = best.time_s;
  row.tflops = best.tflops;
  row.ratio = best.ratio_to_baseline;
  row.ratio_low = best.ratio_low;
  row.ratio_high = best.ratio_high;
  row.baseline_first_s = answer.baseline_first_s;
  row.baseline_best_s = answer.baseline_best_s;
  row.complete = answer.complete;
  row.answer_json = nlohmann::json(answer).dump();
  return row;
}

}  // namespace

std::optional<session::Answer> DatabaseStore::answer(const session::StoreKey& key, session::Boards boards) {
  auto wider = answer_of(key, key.templates.whole_grid_id(), boards);
  if (wider && wider->complete) return wider;
  auto own = answer_of(key, key.templates.id(), boards);
  return own ? own : wider;
}

std::optional<session::Answer> DatabaseStore::answer_of(const session::StoreKey& key, const space::TemplateId& searched,
                                                        session::Boards boards) {
  db::ResultKey wanted = result_key(key, searched);
  if (boards == session::Boards::kThisOne) wanted.only_board = key.device.uuid;
  const auto row = db::find_best(database_, wanted);
  if (!row) return std::nullopt;
  auto answer =
      db::record_of<session::Answer>(row->answer_json, database_.origin() + ": a stored answer", kSearchAgainRemedy);
  answer.finished_at = row->finished_at;
  answer.board = row->device_uuid;
  return answer;
}

std::map<std::string, session::StoredTrial> DatabaseStore::trials(const session::StoreKey& key) {
  std::map<std::string, session::StoredTrial> trials;
  for (const space::TemplateId& id : key.templates.ids()) {
    for (const auto& [variant_key, row] : db::find_trials_for(database_, result_key(key, id), key.device.uuid))
      trials.emplace(id.name + '/' + variant_key, session::StoredTrial{row.report, row.build.value_or(BuildInfo()),
                                                                       row.device_uuid == key.device.uuid});
  }
  return trials;
}

std::map<std::string, Sample> DatabaseStore::raced(const session::StoreKey& key) {
  std::map<std::string, Sample> samples;
  for (const space::TemplateId& id : key.templates.ids()) {
    db::ResultKey wanted = result_key(key, id);
    wanted.only_board = key.device.uuid;
    for (const auto& [variant_key, sample] : db::find_raced(database_, wanted))
      samples.emplace(id.name + '/' + variant_key, sample);
  }
  return samples;
}

std::vector<FatalTrial> DatabaseStore::fatal_trials(const DeviceInfo& device) {
  return db::find_fatal_trials(database_, device.architecture, device.driver_version, device.nvrtc_version);
}

db::RowId DatabaseStore::begin_session(const session::StoreKey& key, const db::TemplateRow& searched,
                                       std::uint64_t seed, const std::string& command_line) {
  db::SessionRow row;
  row.conditions_key = key.conditions.key();
  row.conditions_json = nlohmann::json(key.conditions).dump();
  row.kind = kind_word(key.kind);
  row.seed = seed;
  row.command_line = command_line;
  return db::begin_session(database_, key.device, this_program(), key.problem, searched, row);
}

void DatabaseStore::begin(const session::StoreKey& key, std::uint64_t seed, const std::string& command_line) {
  key_ = key;
  session_ = begin_session(key, {key.templates.id().name, key.templates.id().content_hash}, seed, command_line);
}

void DatabaseStore::save_baseline(const BaselineReport& baseline) { db::save_baseline(database_, session_, baseline); }

void DatabaseStore::save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) {
  db::save_trial(database_, session_, trial_row(variant, key_->templates, build, report));
}

void DatabaseStore::save_rounds(Stage stage, const std::vector<session::ContenderSamples>& samples) {
  std::vector<db::ContenderSamplesRow> rows;
  rows.reserve(samples.size());
  for (const session::ContenderSamples& contender : samples)
    rows.push_back({contender_row(contender.contender, key_->templates), contender.samples});
  db::save_rounds(database_, session_, stage, rows);
}

void DatabaseStore::save_energy(const session::EnergyRecord& record) {
  db::EnergyWindowRow row{std::nullopt, record.index, record.window};
  if (record.contender) row.contender = contender_row(*record.contender, key_->templates);
  db::save_energy(database_, session_, row);
}

std::optional<Ceilings> DatabaseStore::ceilings(const DeviceInfo& device) {
  return db::find_ceilings(database_, device);
}

void DatabaseStore::save_ceilings(const Ceilings& ceilings) {
  db::save_ceilings(database_, key_->device, this_program(), ceilings);
}

void DatabaseStore::finish(const std::optional<session::Answer>& answer) {
  std::optional<db::BestRow> best;
  if (answer) {
    best = best_row(*key_, *answer);
    best->session = session_;
  }
  db::finish_session(database_, session_, best);
}

std::optional<Family> DatabaseStore::family(const session::StoreKey& key, std::int64_t first_m, bool one_order,
                                            session::Boards boards) {
  const bool this_one = boards == session::Boards::kThisOne;
  const auto rows =
      db::list_families(database_, {.problem = key.problem,
                                    .device_class = device_class(key.device).text(),
                                    .device_uuid = this_one ? std::optional(key.device.uuid) : std::nullopt,
                                    .template_hash = key.templates.id().content_hash,
                                    .conditions_key = key.conditions.key(),
                                    .recorded = false,
                                    .one_order = one_order});
  for (const db::FamilyRow& row : rows) {
    if (row.family.first_m == first_m && row.family.problem == key.problem) return row.family;
  }
  return std::nullopt;
}

void DatabaseStore::save_family(const session::StoreKey& key, const Family& family, std::uint64_t seed,
                                const std::string& command_line) {
  const db::RowId session =
      begin_session(key, db::family_template(family, key.templates.id().content_hash), seed, command_line);
  db::finish_family(database_, session, family);
}

std::vector<db::CountersRow> DatabaseStore::counters(const session::StoreKey& key) const {
  return db::find_counters(database_, key.device, key.problem.key(), key.conditions.key());
}

void DatabaseStore::save_counters(const session::StoreKey& key, const std::variant<Variant, std::string>& contender,
                                  const KernelCounters& counters) {
  db::CountersRow row;
  row.counters = counters;
  if (const auto* const algorithm = std::get_if<std::string>(&contender)) row.contender = *algorithm;
  if (const auto* const variant = std::get_if<Variant>(&contender))
    row.contender = variant_row(*variant, key.templates);
  db::save_counters(database_, key.device, this_program(), key.problem, key.conditions, row);
}

}  // namespace pgtune::tool
