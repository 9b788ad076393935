// SPDX-License-Identifier: MIT
#include "simulate/program/room.hpp"

#include "simulate/program/foreign_table.hpp"

namespace pgtune::tool {
namespace {

std::optional<std::string> no_foreign_table(const db::Value& value) {
  const auto table = foreign_table_of(std::get<std::string>(value));
  if (table) return std::nullopt;
  return table.error().message;
}

}  // namespace

void register_simulate(Rooms& rooms) {
  rooms.commands.push_back(make_simulate_command());
  rooms.commands.push_back(make_import_command());
  for (const ForeignFormat format : {ForeignFormat::kT4, ForeignFormat::kKernelTuner})
    rooms.exports.push_back(make_table_export(format));
  rooms.record_checks.emplace("foreign_tables.table_json", no_foreign_table);
}

}  // namespace pgtune::tool
