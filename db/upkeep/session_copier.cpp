// SPDX-License-Identifier: MIT
#include "db/upkeep/session_copier.hpp"

#include <sqlite3.h>

#include "db/sqlite/transaction.hpp"

namespace pgtune::db {
namespace {

template <typename Made, typename Make>
Made& made_once(std::map<std::string, std::unique_ptr<Made>>& all, const std::string& table, Make make) {
  auto& place = all[table];
  if (!place) {
    place = make();
  }
  return *place;
}

std::string insert_sql(const TableShape& shape, const std::string& verb) {
  std::string columns, places;
  int place = 0;
  for (const auto& column : shape.columns) {
    if (column.name != kIdColumn) {
      columns += (place == 0 ? "" : ", ") + column.name;
      places += (place == 0 ? "?" : ", ?") + std::to_string(place + 1);
      ++place;
    }
  }
  return verb + " INTO " + shape.name + " (" + columns + ") VALUES (" + places + ")";
}

std::string find_sql(const TableShape& shape) {
  std::string where;
  int place = 0;
  for (const auto& column : shape.unique_key) {
    where += (place == 0 ? "" : " AND ") + column + " = ?" + std::to_string(place + 1);
    ++place;
  }
  return "SELECT id FROM " + shape.name + " WHERE " + where;
}

}  // namespace

RowId SessionCopier::shared_row(const std::string& table, RowId id) {
  const auto known = shared_.find({table, id});
  if (known != shared_.end()) {
    return known->second;
  }
  const TableShape& shape = shapes_.table(table);
  const Row source_row = row_by_id(source_, shape, id);
  if (source_row.empty()) {
    throw Error("database " + source_.origin() + " is damaged: it refers to a missing row of " + table, 0);
  }
  const Row row = translated(shape, source_row, 0);
  std::vector<Value> key;
  for (const auto& name : shape.unique_key) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (shape.columns[i].name == name) {
        key.push_back(row[i]);
      }
    }
  }
  auto& find = made_once(finds_, table, [&] { return std::make_unique<Statement>(target_, find_sql(shape)); });
  RowId target_id = 0;
  if (find.bind_all(key).step()) {
    find >> target_id;
    find.run();
  } else {
    target_id = insert(shape, row, "INSERT");
  }
  shared_[{table, id}] = target_id;
  return target_id;
}

Row SessionCopier::translated(const TableShape& shape, const Row& row, RowId owner) {
  Row result = row;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const ColumnShape& column = shape.columns[i];
    if (column.name == shape.owner_column) {
      result[i] = owner;
    } else if (const auto* const id = std::get_if<RowId>(&row[i]); id != nullptr && !column.refers_to.empty()) {
      result[i] = shared_row(column.refers_to, *id);
    }
  }
  return result;
}

RowId SessionCopier::insert(const TableShape& shape, const Row& row, const std::string& verb) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (shape.columns[i].name != kIdColumn) {
      values.push_back(row[i]);
    }
  }
  made_once(inserts_, shape.name, [&] { return std::make_unique<Statement>(target_, insert_sql(shape, verb)); })
      .bind_all(values)
      .run();
  return sqlite3_last_insert_rowid(target_.handle());
}

void SessionCopier::copy_children(const TableShape& shape, RowId old_id, RowId new_id) {
  for (const auto& name : shapes_.owned_by(shape.name)) {
    const TableShape& child = shapes_.table(name);
    auto& rows = made_once(owned_, name, [&] { return std::make_unique<OwnedRows>(source_, shapes_, name); });
    rows.begin(old_id);
    for (Row row; rows.next(row);) {
      const RowId child_id = insert(child, translated(child, row, new_id), "INSERT");
      if (child.has_id()) {
        copy_children(child, std::get<RowId>(row.front()), child_id);
      }
    }
  }
}

void SessionCopier::copy(RowId session) {
  const TableShape& sessions = shapes_.table(kSessionTable);
  const RowId id = insert(sessions, translated(sessions, row_by_id(source_, sessions, session), 0), "INSERT");
  copy_children(sessions, session, id);
}

void SessionCopier::copy_standalone(const std::string& table, RowId id) {
  const TableShape& shape = shapes_.table(table);
  insert(shape, translated(shape, row_by_id(source_, shape, id), 0), "INSERT OR REPLACE");
}

void store_recorded(const Database& recording, RowId session, Database& target) {
  const TableShapes& shapes = TableShapes::of_this_program();
  Transaction writing(target, TransactionKind::kWrite);
  Transaction reading(recording, TransactionKind::kRead);
  std::string uid;
  Statement find_uid(recording, "SELECT uid FROM sessions WHERE id = ?1");
  if (find_uid.bind(session).step()) find_uid >> uid;
  if (Statement(target, "SELECT 1 FROM sessions WHERE uid = ?1").bind(uid).step()) return;
  SessionCopier(recording, target, shapes).copy(session);
  Statement(target, "UPDATE sessions SET source = 'replay' WHERE uid = ?1").bind(uid).run();
  writing.commit();
}

}  // namespace pgtune::db
