// SPDX-License-Identifier: MIT
#include "simulate/program/foreign_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "simulate/program/foreign_queries.hpp"
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

/// A problem's size as other tools write it, as JSON text.
std::string size_of(const Problem& problem) {
  return problem.batch > 1 ? fmt::format("[{},{},{},{}]", problem.m, problem.n, problem.k, problem.batch)
                           : fmt::format("[{},{},{}]", problem.m, problem.n, problem.k);
}

/// Adds what the template states of the space: values of parameters, and rules.
void add_space(const space::TemplateDefinition& definition, ForeignTable& table) {
  for (ForeignTable::Parameter& parameter : table.parameters) {
    const auto own = std::find_if(definition.parameters.begin(), definition.parameters.end(),
                                  [&](const space::Parameter& known) { return known.name == parameter.name; });
    if (own != definition.parameters.end()) parameter.values = own->values;
  }
  for (const auto* rules : {&definition.constraints, &definition.policy, &definition.legality}) {
    for (const space::Rule& rule : *rules) table.constraints.push_back({rule.expression.text(), rule.reason});
  }
}

}  // namespace

RecordedTable simulated_table(const ForeignTable& table, const std::string& origin) {
  RecordedTable out;
  out.origin = origin;
  out.name = table.problem.empty() ? table.kernel : fmt::format("{} {}", table.kernel, table.problem);
  out.imported = std::make_shared<const ForeignTable>(table);
  out.device.name = table.device;
  out.measured_at = table.measured_at;
  out.templates = {table.kernel};
  for (const ForeignTable::Row& row : table.rows) {
    Variant variant{table.kernel, {}};
    for (std::size_t i = 0; i < row.values.size(); ++i)
      variant.parameters.push_back({table.parameters[i].name, row.values[i]});
    out.table.variants.push_back(std::move(variant));
    out.table.costs.emplace_back();
    out.table.observations.push_back({row.outcome.kind, row.cut, row.time_s});
    out.details.push_back({row.outcome.reason, row.times_s, row.compile_s});
  }
  out.table.template_sizes = {out.table.variants.size()};
  return out;
}

std::vector<ForeignTable> foreign_tables_of(const RecordedTable& table, const KnownTemplates& templates) {
  if (table.imported) return {*table.imported};
  std::vector<ForeignTable> out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < table.templates.size(); ++i) {
    const std::size_t end = begin + table.table.template_sizes[i];
    ForeignTable own;
    own.kernel = table.templates[i];
    own.device = table.device.name;
    own.problem = size_of(table.problem);
    own.measured_at = table.measured_at;
    for (const Assignment& parameter : table.table.variants[begin].parameters)
      own.parameters.push_back({parameter.name, {}});
    const space::TemplateDefinition* const definition = templates.find(own.kernel);
    if (definition != nullptr) add_space(*definition, own);
    ForeignTableMaker maker(std::move(own));
    for (; begin < end; ++begin) {
      const search::Observation& seen = table.table.observations[begin];
      const RecordedTable::Detail& detail = table.details[begin];
      ForeignTable::Row row{{}, {seen.outcome, detail.reason}, seen.cut, seen.time_s, detail.compile_s, detail.times_s};
      for (const Assignment& parameter : table.table.variants[begin].parameters) row.values.push_back(parameter.value);
      static_cast<void>(value_or_throw(maker.add(std::move(row)).map([] { return true; })));
    }
    if (auto made = std::move(maker).finish()) out.push_back(std::move(*made));
  }
  return out;
}

std::vector<RecordedTable> imported_tables(const db::Database& database) {
  std::vector<RecordedTable> out;
  for (const db::ForeignTableRow& row : db::foreign_tables(database)) {
    const auto table = foreign_table_of(row.table_json);
    if (!table)
      throw CommandError(
          ErrorKind::kDatabase,
          fmt::format("the table imported from {} cannot be read ({}). Restore the database from a copy.", row.origin,
                      table.error().message));
    out.push_back(simulated_table(*table, row.origin));
  }
  return out;
}

}  // namespace pgtune::tool
