// SPDX-License-Identifier: MIT
#include "db/sqlite/schema_check.hpp"

#include <map>
#include <string_view>

#include "db/sqlite/statement.hpp"

namespace pgtune::db {
namespace {

struct Object {
  std::string type, table, sql;
  bool operator==(const Object& other) const = default;
};

/// By name, without SQLite's own.
std::map<std::string, Object> objects(const Database& database) {
  Statement statement(database,
                      "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
                      " ORDER BY name");
  std::map<std::string, Object> found;
  while (statement.step()) {
    std::string name;
    Object object;
    statement >> name >> object.type >> object.table >> object.sql;
    found[name] = std::move(object);
  }
  return found;
}

bool is_harmless(const Object& object, const std::map<std::string, Object>& own) {
  if (object.type == "view") {
    return true;
  }
  constexpr std::string_view kPlainTable = "CREATE TABLE";
  return object.type == "table" ? object.sql.starts_with(kPlainTable)
                                : object.type == "index" && !own.contains(object.table);
}

}  // namespace

std::vector<std::string> foreign_objects(const Database& database) {
  std::vector<std::string> problems;
  static const auto own = objects(Database::open_memory());
  const auto found = objects(database);
  for (const auto& [name, object] : own) {
    const auto same = found.find(name);
    if (same == found.end()) {
      problems.push_back(object.type + " " + name + " is missing");
    } else if (same->second != object) {
      problems.push_back(object.type + " " + name + " is not as pgtune makes it");
    }
  }
  for (const auto& [name, object] : found) {
    if (!own.contains(name) && !is_harmless(object, own)) {
      problems.push_back(object.type + " " + name + " is not pgtune's");
    }
  }
  return problems;
}

void require_own_objects(const Database& database) {
  const auto problems = foreign_objects(database);
  if (problems.empty()) {
    return;
  }
  const std::string more = problems.size() > 1 ? " (and " + std::to_string(problems.size() - 1) + " more)" : "";
  throw Error("database " + database.origin() + " was changed by something else than pgtune: " + problems.front() +
                  more + ". Drop what is not pgtune's, restore the file from a copy, or name another with --db",
              0);
}

}  // namespace pgtune::db
