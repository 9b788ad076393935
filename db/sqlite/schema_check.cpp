// SPDX-License-Identifier: MIT
#include "db/sqlite/schema_check.hpp"

#include <array>
#include <map>
#include <string_view>

#include "db/sqlite/digest.hpp"
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

/// Of each schema version; a test compares them with what the migrations make.
constexpr std::array<std::string_view, kSchemaVersion> kDigests{
    "1bac3f6806f97b98bfb53df03cb8c509", "bc609cb3c98c86827406e06f4d2a4143", "024f14c2ff86c90ad65fc440bac709f2",
    "adb08a6db6f90c335432edba769ae637", "9d341e8a0456efc40c67c39e02e2fd7f", "68568d7f9fce2fc94b6410f9ff2bf68c",
    "68568d7f9fce2fc94b6410f9ff2bf68c", "ae455dda893a78f39c4425c194a0017b", "ab8c61c978d70be5a60887c54f0d6987",
    "7e5d37f099da40ad750cba72ec63c545", "ca1591922a5224c322e3fcf44aeb7993"};

}  // namespace

std::string_view noted_schema_digest(int version) { return kDigests.at(static_cast<std::size_t>(version - 1)); }

std::string schema_digest(const Database& database) {
  Digest digest;
  for (const auto& [name, object] : objects(database)) {
    for (const std::string* part : {&name, &object.type, &object.table, &object.sql}) {
      digest.add(*part);
    }
  }
  return digest.text();
}

std::vector<std::string> foreign_objects(const Database& database) {
  std::vector<std::string> problems;
  const int version = database.schema_version();
  // Comparing digests takes a tenth of what making the schema anew takes.
  if (version < 1 || version > kSchemaVersion || schema_digest(database) == noted_schema_digest(version)) {
    return problems;
  }
  const auto own = objects(Database::open_memory(version));
  auto found = objects(database);
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
