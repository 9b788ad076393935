// SPDX-License-Identifier: MIT
#include "db/upkeep/row_queries.hpp"

#include <algorithm>

namespace pgtune::db {
namespace {

std::string column_list(const TableShape& shape, const std::string& prefix) {
  std::string list;
  for (const auto& column : shape.columns) {
    list += (list.empty() ? "" : ", ") + prefix + column.name;
  }
  return list;
}

std::string owned_rows_sql(const TableShapes& shapes, const TableShape& shape) {
  std::string joins, order;
  for (const auto& key : shape.primary_key) {
    const auto column = std::find_if(shape.columns.begin(), shape.columns.end(),
                                     [&](const ColumnShape& candidate) { return candidate.name == key; });
    const std::string separator = order.empty() ? "" : ", ";
    if (column->refers_to.empty() || key == shape.owner_column) {
      order += separator + "own." + key;
      continue;
    }
    joins += " LEFT JOIN " + column->refers_to + " AS of_" + key + " ON of_" + key + "." + kIdColumn + " = own." + key;
    std::string parts;
    for (const auto& part : shapes.table(column->refers_to).unique_key) {
      parts += (parts.empty() ? "of_" : ", of_") + key + "." + part;
    }
    order += separator + parts;
  }
  return "SELECT " + column_list(shape, "own.") + " FROM " + shape.name + " AS own" + joins + " WHERE own." +
         shape.owner_column + " = ?1 ORDER BY " + order;
}

void read_row(Statement& statement, std::size_t columns, Row& row) {
  row.resize(columns);
  for (auto& value : row) {
    statement >> value;
  }
}

}  // namespace

Row row_by_id(const Database& database, const TableShape& shape, RowId id) {
  Statement statement(database, "SELECT " + column_list(shape, "") + " FROM " + shape.name + " WHERE id = ?1");
  Row row;
  if (statement.bind(id).step()) {
    read_row(statement, shape.columns.size(), row);
  }
  return row;
}

TableRows::TableRows(const Database& database, const TableShape& shape)
    : statement_(database, "SELECT " + column_list(shape, "") + " FROM " + shape.name),
      columns_(shape.columns.size()) {}

TableRows::TableRows(const Database& database, const TableShapes& shapes, const std::string& table)
    : statement_(database, owned_rows_sql(shapes, shapes.table(table))), columns_(shapes.table(table).columns.size()) {}

bool TableRows::next(Row& row) {
  if (!statement_.step()) {
    return false;
  }
  read_row(statement_, columns_, row);
  return true;
}

std::map<std::string, RowId> sessions_by_uid(const Database& database) {
  Statement statement(database, "SELECT uid, id FROM sessions");
  std::map<std::string, RowId> sessions;
  while (statement.step()) {
    std::string uid;
    statement >> uid;
    statement >> sessions[uid];
  }
  return sessions;
}

}  // namespace pgtune::db
