// SPDX-License-Identifier: MIT
// A table of another tool.
#include "simulate/program/foreign_file.hpp"

#include <cstdlib>

#include "simulate/program/foreign_conversion.hpp"
#include "tests/fuzz/targets.hpp"

namespace pgtune::fuzz {

void foreign_table(std::string_view bytes) {
  const auto table = tool::parse_foreign_table(bytes, "table.json");
  if (!table) {
    if (table.error().text().empty()) std::abort();
    return;
  }
  if (tool::foreign_table_of(tool::stored_text(*table)) != *table) std::abort();
  const tool::RecordedTable simulated = tool::simulated_table(*table, "table.json");
  const search::MeasuredTable& rows = simulated.table;
  if (!rows.best_s() || rows.variants.size() != rows.observations.size() || rows.variants.size() != rows.costs.size())
    std::abort();
  for (const Variant& variant : rows.variants) {
    if (variant.parameters.size() != rows.variants.front().parameters.size()) std::abort();
  }
  const std::size_t budgets[] = {2};
  for (const char* name : {"guided", "model", "random"}) {
    if (!search::simulated_search(rows, rows.space(), *search::find_strategy(name), 1, budgets, 0.003)) std::abort();
  }
}

}  // namespace pgtune::fuzz
