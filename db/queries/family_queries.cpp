// SPDX-License-Identifier: MIT
// Families: kernels for a range of M.
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "db/queries/queries.hpp"
#include "db/queries/row_lookup.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {
namespace {

RowId kernel_row(const Database& database, const FamilyKernel& kernel) {
  return variant_row(database, {.key = kernel.variant.key(),
                                .parameters_json = parameters_to_json(kernel.variant).dump(),
                                .origin = {kernel.variant.template_name, kernel.template_hash}});
}

/// The variant with the parameters of `text` in the order of its key, "BM=128,COPY=tma". Throws Error.
Variant variant_of(const std::string& template_name, const std::string& key, const std::string& text) {
  const auto parameters = record_of<nlohmann::json::object_t>(text, "the database holds a variant that");
  Variant variant{.template_name = template_name, .parameters = {}};
  for (std::size_t begin = 0; begin < key.size();) {
    const std::size_t end = std::min(key.find(',', begin), key.size());
    const std::string name = key.substr(begin, std::min(key.find('=', begin), end) - begin);
    const auto found = parameters.find(name);
    if (found != parameters.end() && found->second.is_string())
      variant.parameters.push_back({name, found->second.get<std::string>()});
    if (found != parameters.end() && found->second.is_number_integer())
      variant.parameters.push_back({name, found->second.get<std::int64_t>()});
    begin = end + 1;
  }
  return known_word(variant.key() == key ? std::optional(variant) : std::nullopt, key, "variant");
}

/// Columns for read_kernel(), of a table that refers to variants.
constexpr std::string_view kKernelColumns = " templates.name, variants.key, parameters_json, content_hash";
constexpr std::string_view kKernelJoins =
    " JOIN variants ON variants.id = variant JOIN templates ON templates.id = variants.template";

FamilyKernel read_kernel(Statement& statement) {
  std::string name, key, parameters, hash;
  statement >> name >> key >> parameters >> hash;
  return {variant_of(name, key, parameters), hash};
}

void read_contents(const Database& database, RowId session, Family& family) {
  Statement kernels(database, fmt::format("SELECT {} FROM family_kernels {} WHERE session = ?1 ORDER BY ordinal",
                                          kKernelColumns, kKernelJoins));
  kernels.bind(session);
  while (kernels.step()) family.kernels.push_back(read_kernel(kernels));
  Statement intervals(database,
                      "SELECT last_m, kernel, spare, time_s, basis FROM family_intervals WHERE session = ?1"
                      " ORDER BY last_m");
  intervals.bind(session);
  while (intervals.step()) {
    FamilyInterval& interval = family.intervals.emplace_back();
    intervals >> interval.last_m >> interval.kernel;
    if (intervals.next_is_null())
      intervals.skip(1);
    else
      intervals >> interval.spare.emplace();
    intervals >> interval.time_s >> interval.basis;
  }
  Statement probes(database,
                   fmt::format("SELECT m, family_s, best_s, baseline_first_s, baseline_best_s, {} FROM family_probes {}"
                               " WHERE session = ?1 ORDER BY m",
                               kKernelColumns, kKernelJoins));
  probes.bind(session);
  while (probes.step()) {
    FamilyProbe& probe = family.probes.emplace_back();
    probes >> probe.m >> probe.family_s >> probe.best_s >> probe.baseline_first_s >> probe.baseline_best_s;
    probe.best = read_kernel(probes);
  }
}

}  // namespace

TemplateRow family_template(const Family& family, const std::string& content_hash) {
  const char* const order = family.sum_order.empty() ? "" : " batch-invariant";
  return {fmt::format("family {}..{}{}", family.first_m, family.last_m(), order), content_hash};
}

void finish_family(Database& database, RowId session, const Family& family) {
  Transaction transaction(database, TransactionKind::kWrite);
  end_session(database, session);
  Statement(database, "INSERT INTO families (session, first_m, sum_order, compared_m) VALUES (?1, ?2, ?3, ?4)")
      .bind(session, family.first_m, family.sum_order, family.compared_m)
      .run();
  std::int64_t ordinal = 0;
  for (const FamilyKernel& kernel : family.kernels) {
    Statement(database, "INSERT INTO family_kernels (session, ordinal, variant) VALUES (?1, ?2, ?3)")
        .bind(session, ordinal++, kernel_row(database, kernel))
        .run();
  }
  for (const FamilyInterval& interval : family.intervals) {
    Statement(database,
              "INSERT INTO family_intervals (session, last_m, kernel, spare, time_s, basis)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        .bind(session, interval.last_m, interval.kernel, interval.spare, interval.time_s, interval.basis)
        .run();
  }
  for (const FamilyProbe& probe : family.probes) {
    Statement(database,
              "INSERT INTO family_probes (session, m, family_s, best_s, baseline_first_s, baseline_best_s, variant)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        .bind(session, probe.m, probe.family_s, probe.best_s, probe.baseline_first_s, probe.baseline_best_s,
              kernel_row(database, probe.best))
        .run();
  }
  transaction.commit();
}

std::vector<FamilyRow> list_families(const Database& database, const FamilyFilter& filter) {
  Transaction transaction(database, TransactionKind::kRead);
  Statement statement(
      database,
      "SELECT families.session, first_m, sum_order, compared_m, keys.device_uuid, device_class, devices.name, "
      "architecture,"
      " keys.driver_branch, info_json, template_hash, keys.hardware, finished_at, keys.source <> 'gpu', problem_json,"
      " conditions_key"
      " FROM families JOIN session_keys AS keys ON keys.session = families.session"
      " JOIN sessions ON sessions.id = families.session JOIN devices ON devices.id = keys.device"
      " JOIN problems ON problems.id = keys.problem"
      " WHERE finished_at IS NOT NULL AND (?1 IS NULL OR device_class = ?1) AND (?2 IS NULL OR device_uuid = ?2)"
      "  AND (?3 IS NULL OR template_hash = ?3) AND (?4 IS NULL OR conditions_key = ?4)"
      "  AND (?5 IS NULL OR (keys.source <> 'gpu') = ?5) AND (?6 IS NULL OR (sum_order <> '') = ?6)"
      " ORDER BY families.session DESC");
  statement.bind(filter.device_class, filter.device_uuid, filter.template_hash, filter.conditions_key, filter.recorded,
                 filter.one_order);
  std::vector<FamilyRow> rows;
  std::set<std::tuple<std::string, std::string, std::string, bool, std::string>> known;
  while (statement.step()) {
    FamilyRow row;
    std::string hardware, problem, conditions;
    statement >> row.session >> row.family.first_m >> row.family.sum_order >> row.family.compared_m >>
        row.device_uuid >> row.device_class >> row.device_name >> row.architecture >> row.driver_branch >>
        row.device_json >> row.template_hash >> hardware >> row.finished_at >> row.recorded >> problem >> conditions;
    row.family.problem = record_of<Problem>(problem, "the database holds a problem that");
    if (filter.problem && !row.family.covers(*filter.problem)) continue;
    const std::string name = family_template(row.family, {}).name + ' ' + row.family.problem.key();
    if (!known.emplace(name, hardware, row.template_hash, row.recorded, conditions).second) continue;  // an older one
    row.family.conditions = conditions_of(conditions);
    read_contents(database, row.session, row.family);
    require_valid(row.family);
    rows.push_back(std::move(row));
  }
  transaction.commit();
  return rows;
}

}  // namespace pgtune::db
