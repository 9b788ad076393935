// SPDX-License-Identifier: MIT
#include "db/upkeep/dump.hpp"

#include <set>

#include "db/sqlite/statement.hpp"
#include "tuner/util/hash_text.hpp"

namespace pgtune::db {
namespace {

constexpr const char* kUidColumn = "uid";

void append_name(std::string& out, const std::string& name) {
  if (out.back() != '{') {
    out += ',';
  }
  append_json(out, std::string_view(name));
  out += ':';
}

std::string line_begin(const std::string& table) {
  std::string line = "{";
  append_name(line, "table");
  append_json(line, std::string_view(table));
  return line;
}

/// The first column named for a time, "measured_at".
std::string time_in(const TableShape& shape, const Row& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (shape.columns[i].name.ends_with("_at")) {
      std::string time;
      append_json(time, row[i]);
      return time;
    }
  }
  return "";
}

RowId id_of(const Value& value) {
  const auto* const id = std::get_if<std::int64_t>(&value);
  return id == nullptr ? 0 : *id;
}

}  // namespace

Dump::Dump(const Database& database, const TableShapes& shapes) : database_(database), shapes_(shapes) {}

TableRows& Dump::rows_of(const std::string& table) {
  return owned_.try_emplace(table, database_, shapes_, table).first->second;
}

const std::string& Dump::shared_row(const std::string& table, RowId id) {
  const auto [place, is_new] = shared_.try_emplace({table, id});
  if (is_new) {
    const TableShape& shape = shapes_.table(table);
    const Row row = row_by_id(database_, shape, id);
    std::string text = row.empty() ? "null" : "{";
    if (!row.empty()) {
      append_columns(text, shape, row);
      text += '}';
    }
    place->second = std::move(text);
  }
  return place->second;
}

void Dump::append_columns(std::string& out, const TableShape& shape, const Row& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const ColumnShape& column = shape.columns[i];
    if (column.name == kIdColumn || column.name == shape.owner_column || column.name == kUidColumn) {
      continue;
    }
    append_name(out, column.name);
    if (column.refers_to.empty() || std::holds_alternative<std::monostate>(row[i])) {
      append_json(out, row[i]);
    } else {
      out += shared_row(column.refers_to, id_of(row[i]));
    }
  }
}

void Dump::append_children(std::string& out, const TableShape& shape, const Row& row) {
  for (const auto& name : shapes_.owned_by(shape.name)) {
    const TableShape& child = shapes_.table(name);
    append_name(out, name);
    out += '[';
    TableRows& rows = rows_of(name);
    rows.begin(id_of(row.front()));
    for (Row child_row; rows.next(child_row);) {
      out += out.back() == '[' ? "{" : ",{";
      append_columns(out, child, child_row);
      append_children(out, child, child_row);
      out += '}';
    }
    out += ']';
  }
}

void Dump::session(const std::string& uid, RowId id, const LineSink& sink) {
  shared_.clear();
  const auto line_of = [&](const TableShape& shape, const Row& row) {
    std::string line = line_begin(shape.name);
    append_name(line, "session");
    append_json(line, std::string_view(uid));
    append_columns(line, shape, row);
    return line;
  };
  const TableShape& sessions = shapes_.table(kSessionTable);
  sink(line_of(sessions, row_by_id(database_, sessions, id)) + '}');
  for (const auto& name : shapes_.owned_by(kSessionTable)) {
    const TableShape& shape = shapes_.table(name);
    TableRows& rows = rows_of(name);
    rows.begin(id);
    for (Row row; rows.next(row);) {
      std::string line = line_of(shape, row);
      append_children(line, shape, row);
      sink(line + '}');
    }
  }
}

void Dump::standalone(const std::string& table, const StandaloneSink& sink) {
  shared_.clear();
  const TableShape& shape = shapes_.table(table);
  Statement ids(database_, "SELECT id FROM " + table);
  while (ids.step()) {
    RowId id = 0;
    ids >> id;
    const Row row = row_by_id(database_, shape, id);
    std::string line = line_begin(table);
    append_columns(line, shape, row);
    sink(id, time_in(shape, row), line + '}');
  }
}

std::string Dump::session_digest(const std::string& uid, RowId id) {
  std::string lines;
  session(uid, id, [&](const std::string& line) { lines.append(line).push_back('\0'); });
  return hash_text(lines);
}

void dump(const Database& database, const LineSink& sink) {
  const TableShapes& shapes = TableShapes::of_this_program();
  Transaction transaction(database, TransactionKind::kRead);
  sink("{\"pgtune_dump\":1,\"schema_version\":" + std::to_string(database.schema_version()) + "}");
  Dump lines(database, shapes);
  for (const auto& [uid, id] : sessions_by_uid(database)) {
    lines.session(uid, id, sink);
  }
  for (const auto& table : shapes.standalone()) {
    std::set<std::pair<std::string, std::string>> rows;
    lines.standalone(table,
                     [&](RowId /*id*/, const std::string& time, const std::string& line) { rows.emplace(time, line); });
    for (const auto& [time, line] : rows) {
      sink(line);
    }
  }
  transaction.commit();
}

}  // namespace pgtune::db
