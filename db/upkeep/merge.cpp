// SPDX-License-Identifier: MIT
#include "db/upkeep/merge.hpp"

#include <sqlite3.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "db/sqlite/statement.hpp"
#include "db/sqlite/table_shapes.hpp"
#include "db/upkeep/dump.hpp"
#include "db/upkeep/row_queries.hpp"

namespace pgtune::db {
namespace {

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
  auto find = finds_.find(table);
  if (find == finds_.end()) find = finds_.try_emplace(table, target_, find_sql(shape)).first;
  RowId target_id = 0;
  if (find->second.bind_all(key).step()) {
    find->second >> target_id;
    find->second.run();
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
  auto insert = inserts_.find(shape.name);
  if (insert == inserts_.end()) insert = inserts_.try_emplace(shape.name, target_, insert_sql(shape, verb)).first;
  insert->second.bind_all(values).run();
  return sqlite3_last_insert_rowid(target_.handle());
}

void SessionCopier::copy_children(const TableShape& shape, RowId old_id, RowId new_id) {
  for (const auto& name : shapes_.owned_by(shape.name)) {
    const TableShape& child = shapes_.table(name);
    auto& rows = owned_.try_emplace(name, source_, shapes_, name).first->second;
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
  SessionCopier copier(recording, target, shapes);
  if (!Statement(target, "SELECT 1 FROM sessions WHERE uid = ?1").bind(uid).step()) {
    copier.copy(session);
    Statement(target, "UPDATE sessions SET source = 'replay' WHERE uid = ?1").bind(uid).run();
  }
  Statement find_ceilings(
      recording,
      "SELECT ceilings.id, measured_at, ceilings_json FROM ceilings JOIN devices ON devices.id = ceilings.device"
      " JOIN environments ON environments.id = ceilings.environment"
      " WHERE ceilings.source = 'gpu' AND (uuid, hardware, driver_branch) ="
      "  (SELECT uuid, hardware, driver_branch FROM sessions JOIN devices ON devices.id = sessions.device"
      "   JOIN environments ON environments.id = sessions.environment WHERE sessions.id = ?1)"
      " ORDER BY ceilings.id DESC LIMIT 1");
  if (find_ceilings.bind(session).step()) {
    RowId ceilings = 0;
    std::string measured_at, json;
    find_ceilings >> ceilings >> measured_at >> json;
    if (!Statement(target, "SELECT 1 FROM ceilings WHERE measured_at = ?1 AND ceilings_json = ?2")
             .bind(measured_at, json)
             .step()) {
      copier.copy_standalone("ceilings", ceilings);
      Statement(target, "UPDATE ceilings SET source = 'replay' WHERE id = last_insert_rowid()").run();
    }
  }
  writing.commit();
}

namespace {

namespace fs = std::filesystem;

/// An input, read in one state from first to last.
class Input {
 public:
  Input(const fs::path& path, const TableShapes& shapes, const Database& target, const ColumnChecks& checks)
      : database_(Database::open(path, OpenMode::kReadOnly)),
        transaction_(database_, TransactionKind::kRead),
        dump_(database_, shapes),
        copier_(database_, target, shapes) {
    const auto problems = damage(database_, checks);
    if (!problems.empty()) {
      throw Error("database " + path.string() + " is damaged (" + problems.front() +
                      "). Nothing was merged: restore it from a copy, or leave it out",
                  0);
    }
  }

  [[nodiscard]] const Database& database() const { return database_; }
  Dump& dump() { return dump_; }
  SessionCopier& copier() { return copier_; }

 private:
  Database database_;
  Transaction transaction_;
  Dump dump_;
  SessionCopier copier_;
};

/// How complete an input's copy of a session is.
struct Knowledge {
  bool finished = false;
  std::int64_t rows = 0;
  auto operator<=>(const Knowledge&) const = default;
};

Knowledge knowledge(const Database& database, const TableShapes& shapes, RowId session) {
  Knowledge known;
  Statement finished(database, "SELECT finished_at IS NOT NULL FROM sessions WHERE id = ?1");
  if (finished.bind(session).step()) {
    finished >> known.finished;
  }
  for (const auto& name : shapes.owned_by(kSessionTable)) {
    const TableShape& shape = shapes.table(name);
    std::string sql = "SELECT count(*)";
    for (const auto& below : shapes.owned_by(name)) {
      sql += " + (SELECT count(*) FROM " + below + " WHERE " + shapes.table(below).owner_column +
             " IN (SELECT id FROM " + name + " WHERE " + shape.owner_column + " = ?1))";
    }
    Statement count(database, sql + " FROM " + name + " WHERE " + shape.owner_column + " = ?1");
    std::int64_t rows = 0;
    if (count.bind(session).step()) {
      count >> rows;
    }
    known.rows += rows;
  }
  return known;
}

/// A session as one input has it.
struct Candidate {
  std::size_t input = 0;
  RowId id = 0;
};

class Merge {
 public:
  Merge(const std::vector<fs::path>& paths, const TableShapes& shapes, const ColumnChecks& checks)
      : shapes_(shapes), target_(Database::open_temporary()) {
    for (const auto& path : paths) {
      inputs_.push_back(std::make_unique<Input>(path, shapes, target_, checks));
      report_.inputs.push_back({path});
    }
  }

  MergeReport run(const fs::path& output) {
    Transaction transaction(target_, TransactionKind::kWrite);
    copy_sessions();
    copy_standalone();
    transaction.commit();
    target_.write_compact_copy(output);
    return report_;
  }

 private:
  void copy_sessions() {
    std::map<std::string, std::vector<Candidate>> candidates;
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
      for (const auto& [uid, id] : sessions_by_uid(inputs_[input]->database())) {
        candidates[uid].push_back({input, id});
        ++report_.inputs[input].sessions;
      }
    }
    for (const auto& [uid, of_session] : candidates) {
      const Candidate best = choose(uid, of_session);
      inputs_[best.input]->copier().copy(best.id);
      ++report_.inputs[best.input].taken;
      ++report_.sessions;
    }
  }

  /// Among equals the first input is taken, which then does not differ from the others.
  Candidate choose(const std::string& uid, const std::vector<Candidate>& candidates) {
    Candidate best = candidates.front();
    for (std::size_t i = 1; i < candidates.size(); ++i) {
      const Knowledge known = knowledge_of(best), other = knowledge_of(candidates[i]);
      if (known < other || (known == other && digest_of(uid, best) < digest_of(uid, candidates[i]))) {
        best = candidates[i];
      }
    }
    return best;
  }

  Knowledge knowledge_of(const Candidate& candidate) {
    return knowledge(inputs_[candidate.input]->database(), shapes_, candidate.id);
  }
  std::string digest_of(const std::string& uid, const Candidate& candidate) {
    return inputs_[candidate.input]->dump().session_digest(uid, candidate.id);
  }

  /// Rows without a session, once each, in the order of the time in them.
  void copy_standalone() {
    for (const auto& table : shapes_.standalone()) {
      std::map<std::pair<std::string, std::string>, Candidate> rows;
      for (std::size_t input = 0; input < inputs_.size(); ++input) {
        inputs_[input]->dump().standalone(table, [&](RowId id, const std::string& time, const std::string& line) {
          rows[{time, line}] = {input, id};
        });
      }
      for (const auto& [content, row] : rows) {
        inputs_[row.input]->copier().copy_standalone(table, row.id);
      }
    }
  }

  const TableShapes& shapes_;
  Database target_;
  std::vector<std::unique_ptr<Input>> inputs_;
  MergeReport report_;
};

}  // namespace

MergeReport merge(const std::vector<fs::path>& inputs, const fs::path& output, const ColumnChecks& checks) {
  std::error_code unreadable;
  if (fs::exists(fs::symlink_status(output, unreadable))) {
    throw Error(
        output.string() + " exists already. Merge into a new file, then rename it once nothing uses the old one", 0);
  }
  const TableShapes& shapes = TableShapes::of_this_program();
  return Merge(inputs, shapes, checks).run(output);
}

}  // namespace pgtune::db
