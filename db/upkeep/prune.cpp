// SPDX-License-Identifier: MIT
#include "db/upkeep/prune.hpp"

#include <map>
#include <set>
#include <tuple>

#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"
#include "db/sqlite/table_shapes.hpp"
#include "db/sqlite/timestamp.hpp"

namespace pgtune::db {
namespace {

/// Unfinished sessions that may still run.
std::set<RowId> recently_active(const Database& database) {
  Statement statement(database,
                      "SELECT id FROM sessions WHERE finished_at IS NULL AND"
                      " max(1000 * ifnull(CAST(strftime('%s', started_at) AS INTEGER), 0),"
                      "     ifnull((SELECT max(recorded_at) FROM trials WHERE session = sessions.id), 0)) > ?1");
  statement.bind(unix_time_ms() - std::chrono::milliseconds(kQuietTime).count());
  std::set<RowId> active;
  while (statement.step()) {
    RowId id = 0;
    statement >> id;
    active.insert(id);
  }
  return active;
}

/// By session: the earlier sessions that tried its finalists. A search continues from the trials of an interrupted one.
std::map<RowId, std::set<RowId>> lenders(const Database& database) {
  Statement statement(database,
                      // CROSS JOIN keeps the order: with the variant first, one that many problems share would be
                      // joined with itself.
                      "SELECT DISTINCT borrowing.id, lending.id FROM contenders"
                      " JOIN sessions AS borrowing ON borrowing.id = contenders.session"
                      " CROSS JOIN sessions AS lending ON lending.problem = borrowing.problem"
                      " AND lending.id <> borrowing.id"
                      " CROSS JOIN trials ON trials.session = lending.id AND trials.variant = contenders.variant"
                      " WHERE NOT EXISTS (SELECT 1 FROM trials AS own WHERE own.session = borrowing.id"
                      " AND own.variant = contenders.variant)");
  std::map<RowId, std::set<RowId>> lenders;
  while (statement.step()) {
    RowId borrower = 0, lender = 0;
    statement >> borrower >> lender;
    lenders[borrower].insert(lender);
  }
  return lenders;
}

/// Decides for each session; sessions come newest first.
class Judge {
 public:
  Judge(const PruneRules& rules, const Database& database)
      : rules_(rules), active_(recently_active(database)), lenders_(lenders(database)) {}

  /// Why the session is dropped; empty if it stays.
  std::string reason(const SessionRow& session) {
    std::string reason = broken_rule(session);
    if (reason.empty()) needed_.merge(std::set(lenders_[session.id]));
    return reason;
  }

 private:
  std::string broken_rule(const SessionRow& session) {
    if (session.recorded) return rules_.recorded ? "recorded on another machine" : "";
    const bool needed = needed_.contains(session.id);
    if (session.finished_at.empty()) {
      return rules_.unfinished && !needed && !active_.contains(session.id) ? "never finished" : "";
    }
    if (rules_.keep_newest) {
      const std::string& device = rules_.any_board ? session.device_class : session.device_uuid;
      const std::int64_t newer = finished_[std::tie(session.problem_key, device, session.template_name,
                                                    session.conditions_key, session.kind)]++;
      if (newer >= *rules_.keep_newest && !needed) {
        return std::to_string(newer) + (newer == 1 ? " newer one" : " newer ones");
      }
    }
    return "";
  }

  using Question = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  PruneRules rules_;
  std::set<RowId> active_;
  std::map<RowId, std::set<RowId>> lenders_;
  std::set<RowId> needed_;  ///< answers of sessions that stay use their trials
  std::map<Question, std::int64_t> finished_;
};

/// Deletes what belongs to rows of `owner`; `ids` is SQL that gives their ids, from the session's id as ?1.
void delete_owned(const Database& database, const TableShapes& shapes, const std::string& owner, const std::string& ids,
                  RowId session) {
  for (const auto& name : shapes.owned_by(owner)) {
    const std::string of_these = " FROM " + name + " WHERE " + shapes.table(name).owner_column + " IN (" + ids + ")";
    delete_owned(database, shapes, name, "SELECT id" + of_these, session);
    Statement(database, "DELETE" + of_these).bind(session).run();
  }
}

void delete_session(const Database& database, const TableShapes& shapes, RowId session) {
  delete_owned(database, shapes, kSessionTable, "?1", session);
  Statement(database, "DELETE FROM sessions WHERE id = ?1").bind(session).run();
}

/// Shared rows that nothing refers to; what they refer to comes after them.
void delete_unused(const Database& database, const TableShapes& shapes) {
  const auto& shared = shapes.shared();
  for (auto table = shared.rbegin(); table != shared.rend(); ++table) {
    std::string used;
    for (const auto& [name, column] : shapes.references_to(*table)) {
      used +=
          (used.empty() ? "SELECT " : " UNION SELECT ") + column + " FROM " + name + " WHERE " + column + " NOTNULL";
    }
    execute(database, "DELETE FROM " + *table + " WHERE id NOT IN (" + used + ")");
  }
}

}  // namespace

std::vector<PrunedSession> sessions_to_prune(const Database& database, const PruneRules& rules) {
  Judge judge(rules, database);
  std::vector<PrunedSession> pruned;
  for (auto& session : list_sessions(database)) {
    const std::string reason = judge.reason(session);
    if (!reason.empty()) {
      pruned.push_back({std::move(session), reason});
    }
  }
  return pruned;
}

std::vector<PrunedSession> prune(Database& database, const PruneRules& rules) {
  const TableShapes& shapes = TableShapes::of_this_program();
  Transaction transaction(database, TransactionKind::kWrite);
  auto pruned = sessions_to_prune(database, rules);
  for (const auto& dropped : pruned) {
    delete_session(database, shapes, dropped.session.id);
  }
  delete_unused(database, shapes);
  transaction.commit();
  return pruned;
}

}  // namespace pgtune::db
