// SPDX-License-Identifier: MIT
#include "db/sqlite/table_shapes.hpp"

#include <algorithm>
#include <set>

#include "db/sqlite/statement.hpp"

namespace pgtune::db {
namespace {

std::vector<std::string> texts(const Database& database, const std::string& sql, const std::string& argument) {
  Statement statement(database, sql);
  statement.bind(argument);
  std::vector<std::string> all;
  while (statement.step()) {
    statement >> all.emplace_back();
  }
  return all;
}

TableShape read_shape(const Database& database, const std::string& name) {
  TableShape shape;
  shape.name = name;
  std::map<std::string, std::string> references;
  Statement keys(database, "SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?1)");
  keys.bind(name);
  while (keys.step()) {
    std::string column;
    keys >> column;
    keys >> references[column];
  }
  Statement columns(database, "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid");
  columns.bind(name);
  while (columns.step()) {
    ColumnShape& column = shape.columns.emplace_back();
    columns >> column.name >> column.type;
    column.refers_to = references[column.name];
  }
  shape.primary_key = texts(database, "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk", name);
  // The table's own UNIQUE constraint; further indexes only serve speed.
  const auto unique = texts(database, "SELECT name FROM pragma_index_list(?1) WHERE origin = 'u' ORDER BY seq", name);
  if (!unique.empty()) {
    shape.unique_key = texts(database, "SELECT name FROM pragma_index_info(?1) ORDER BY seqno", unique.front());
  }
  return shape;
}

}  // namespace

const TableShapes& TableShapes::of_this_program() {
  static const TableShapes shapes = [] {
    const Database database = Database::open_memory();
    TableShapes read;
    for (const auto& name : texts(database, "SELECT name FROM sqlite_schema WHERE type = ?1", "table")) {
      read.tables_[name] = read_shape(database, name);
    }
    read.find_owners();
    read.sort_the_rest();
    return read;
  }();
  return shapes;
}

void TableShapes::find_owners() {
  std::vector<std::string> owners{kSessionTable};
  for (std::size_t next = 0; next < owners.size(); ++next) {
    const std::string owner = owners[next];
    for (auto& [name, shape] : tables_) {
      for (const auto& column : shape.columns) {
        if (shape.owner.empty() && column.refers_to == owner) {
          shape.owner = owner;
          shape.owner_column = column.name;
          owned_[owner].push_back(name);
          owners.push_back(name);
        }
      }
    }
  }
}

void TableShapes::sort_the_rest() {
  std::set<std::string> waiting;
  for (const auto& [name, shape] : tables_) {
    if (name == kSessionTable || !shape.owner.empty()) {
      continue;
    }
    if (references_to(name).empty()) {
      standalone_.push_back(name);
    } else {
      waiting.insert(name);
    }
  }
  while (!waiting.empty()) {
    const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](const std::string& name) {
      const auto& columns = table(name).columns;
      return std::none_of(columns.begin(), columns.end(),
                          [&](const auto& column) { return waiting.contains(column.refers_to); });
    });
    shared_.push_back(*ready);
    waiting.erase(ready);
  }
}

const std::vector<std::string>& TableShapes::owned_by(const std::string& owner) const {
  static const std::vector<std::string> kNone;
  const auto found = owned_.find(owner);
  return found == owned_.end() ? kNone : found->second;
}

std::vector<std::pair<std::string, std::string>> TableShapes::references_to(const std::string& table) const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, shape] : tables_) {
    for (const auto& column : shape.columns) {
      if (column.refers_to == table) {
        all.emplace_back(name, column.name);
      }
    }
  }
  return all;
}

}  // namespace pgtune::db
