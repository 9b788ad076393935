// SPDX-License-Identifier: MIT
// Maintenance of a database: check, vacuum, compact copy.
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "db/database.hpp"
#include "db/sqlite/compressed_image.hpp"
#include "db/sqlite/file_header.hpp"
#include "db/sqlite/file_system.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;

/// A file's content, or the names in a folder. Throws filesystem_error.
void sync_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const std::error_code error(errno, std::generic_category());
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  // Some file systems cannot sync a folder and need not.
  if (!synced && error != std::errc::invalid_argument) {
    throw fs::filesystem_error("cannot sync", path, error);
  }
}

/// Lifts PRAGMA query_only for a while: it forbids writing even to another file.
class QueryOnlyLifted {
 public:
  explicit QueryOnlyLifted(const Database& database)
      : database_(database), was_on_(query_integer(database, "PRAGMA query_only") != 0) {
    execute(database_, "PRAGMA query_only = off");
  }
  QueryOnlyLifted(const QueryOnlyLifted&) = delete;
  QueryOnlyLifted& operator=(const QueryOnlyLifted&) = delete;
  ~QueryOnlyLifted() {
    if (was_on_) {
      sqlite3_exec(database_.handle(), "PRAGMA query_only = on", nullptr, nullptr, nullptr);
    }
  }

 private:
  const Database& database_;
  bool was_on_;
};

}  // namespace

std::vector<std::string> Database::check() const {
  std::vector<std::string> problems;
  try {
    problems = foreign_objects(*this);
    Statement integrity(*this, "PRAGMA integrity_check");
    for (std::string line; integrity.step();) {
      integrity >> line;
      if (line != "ok") {
        problems.push_back(line);
      }
    }
    Statement foreign(*this, R"(SELECT "table", parent FROM pragma_foreign_key_check)");
    for (std::string table, parent; foreign.step();) {
      foreign >> table >> parent;
      problems.push_back("a row of " + table + " refers to a missing row of " + parent);
    }
  } catch (const Error& error) {
    const int primary_code = error.extended_code() & 0xff;
    if (primary_code != SQLITE_CORRUPT && primary_code != SQLITE_NOTADB) {
      throw;
    }
    problems.emplace_back(error.what());
  }
  return problems;
}

void Database::vacuum() {
  execute(*this, "VACUUM");
  // With a write-ahead log, the new pages are in the log until now.
  execute(*this, "PRAGMA wal_checkpoint(truncate)");
}

void Database::write_compact_copy(const fs::path& path) const {
  const auto absolute = fs::absolute(path);
  create_folder(absolute.parent_path());
  const fs::path temporary = absolute.string() + ".tmp-" + std::to_string(::getpid());
  const auto remove_temporary = [&temporary] {
    std::error_code error;
    fs::remove(temporary, error);
    fs::remove(temporary.string() + "-journal", error);  // SQLite leaves it where the disk is full
  };
  remove_temporary();
  try {
    const QueryOnlyLifted lifted(*this);
    // The copy gets the default journal, a rollback journal, also if this database uses another.
    Statement(*this, "VACUUM INTO ?1").bind(temporary.string()).run();
    if (is_compressed(path)) compress_file(temporary);
    // SQLite does not sync such a copy: without this, a power failure could leave a file with half of its pages.
    sync_to_disk(temporary);
    fs::rename(temporary, absolute);
    sync_to_disk(absolute.parent_path());
  } catch (const fs::filesystem_error& failure) {
    remove_temporary();
    throw Error("cannot write " + path.string() + ": " + failure.code().message() + ". Use another place", 0);
  } catch (const Error& failure) {
    remove_temporary();
    const int code = failure.extended_code() & 0xff;
    const std::string cause = code == SQLITE_CANTOPEN ? "its folder is missing or not writable. Use another place"
                              : code == SQLITE_FULL   ? "its disk is full. Free some space, or use another place"
                                                      : failure.what();
    throw Error("cannot write " + path.string() + ": " + cause, failure.extended_code());
  }
}

}  // namespace pgtune::db
