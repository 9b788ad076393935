// SPDX-License-Identifier: MIT
#include "db/sqlite/statement.hpp"

#include <sqlite3.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "db/database.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::db {

bool is_measured(double value) { return std::isfinite(value) && value >= 0; }

void execute(const Database& database, const std::string& sql) {
  if (sqlite3_exec(database.handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw_sqlite_error(database.handle(), database.origin());
  }
}

Statement::Statement(const Database& database, std::string_view sql) : database_(database) {
  check(sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind_all(const std::vector<Value>& values) {
  rewind();
  int index = 0;
  for (const auto& value : values) {
    ++index;
    std::visit([&](const auto& held) { bind_value(index, held); }, value);
  }
  return *this;
}

bool Statement::step() {
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code != SQLITE_DONE) {
    throw_sqlite_error(database_.handle(), database_.origin());
  }
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

Statement& Statement::operator>>(std::int64_t& value) {
  value = sqlite3_column_int64(statement_, column_++);
  return *this;
}

Statement& Statement::operator>>(std::uint64_t& value) {
  value = static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column_++));
  return *this;
}

Statement& Statement::operator>>(int& value) {
  const std::int64_t wide = sqlite3_column_int64(statement_, column_++);
  if (!std::in_range<int>(wide)) {
    throw_impossible(std::to_string(wide), column_ - 1);
  }
  value = static_cast<int>(wide);
  return *this;
}

Statement& Statement::operator>>(bool& value) {
  value = sqlite3_column_int(statement_, column_++) != 0;
  return *this;
}

Statement& Statement::operator>>(double& value) {
  value = measured(column_++);
  return *this;
}

Statement& Statement::operator>>(std::optional<double>& value) {
  value.reset();
  if (!next_is_null()) {
    value = measured(column_);
  }
  ++column_;
  return *this;
}

Statement& Statement::operator>>(std::string& value) {
  const auto* text = sqlite3_column_text(statement_, column_);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_));
  if (text == nullptr) {
    value.clear();
  } else {
    value = as_utf8({reinterpret_cast<const char*>(text), size});
  }
  ++column_;
  return *this;
}

Statement& Statement::operator>>(Value& value) {
  switch (sqlite3_column_type(statement_, column_)) {
    case SQLITE_NULL:
      value = std::monostate();
      ++column_;
      break;
    case SQLITE_INTEGER:
      *this >> value.emplace<std::int64_t>();
      break;
    case SQLITE_FLOAT:
      value = sqlite3_column_double(statement_, column_++);
      break;
    default:
      *this >> value.emplace<std::string>();
  }
  return *this;
}

bool Statement::next_is_null() const { return sqlite3_column_type(statement_, column_) == SQLITE_NULL; }

double Statement::measured(int column) const {
  const double value = sqlite3_column_double(statement_, column);
  if (!is_measured(value)) {
    throw_impossible(std::to_string(value), column);
  }
  return value;
}

void Statement::throw_impossible(const std::string& value, int column) const {
  throw Error("database " + database_.origin() + " is damaged: it holds " + value + " as a " +
                  sqlite3_column_name(statement_, column) +
                  ". Restore it from a copy, or move it aside and search again",
              0);
}

void Statement::rewind() {
  // The return code repeats the error of the last step, which was reported already.
  sqlite3_reset(statement_);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) {
    throw_sqlite_error(database_.handle(), database_.origin());
  }
}

void Statement::bind_value(int index, std::int64_t value) { check(sqlite3_bind_int64(statement_, index, value)); }

void Statement::bind_value(int index, double value) { check(sqlite3_bind_double(statement_, index, value)); }

void Statement::bind_value(int index, std::string_view value) {
  // An empty view may have no data, which SQLite would take for NULL.
  const char* text = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(statement_, index, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_null(int index) { check(sqlite3_bind_null(statement_, index)); }

std::int64_t query_integer(const Database& database, std::string_view sql) {
  Statement statement(database, sql);
  std::int64_t value = 0;
  if (statement.step()) {
    statement >> value;
  }
  return value;
}

std::string query_text(const Database& database, std::string_view sql) {
  Statement statement(database, sql);
  std::string value;
  if (statement.step()) {
    statement >> value;
  }
  return value;
}

namespace {

/// Whether the file's name leads to it no longer.
bool has_moved(sqlite3* handle) {
  const char* const name = sqlite3_db_filename(handle, "main");
  int moved = 0;
  return name != nullptr && *name != 0 &&
         sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

std::string detail(sqlite3* handle, int extended_code) {
  std::string text = sqlite3_errmsg(handle);
  if (const int system_error = sqlite3_system_errno(handle); system_error != 0) {
    text += std::string(", ") + std::strerror(system_error);
  }
  return text + ", SQLite error " + std::to_string(extended_code);
}

bool is_disk_full(sqlite3* handle, int primary_code) {
  const int system_error = sqlite3_system_errno(handle);
  // Growing the shared-memory file of the write-ahead log reports a full disk as an input/output error.
  return primary_code == SQLITE_FULL ||
         (primary_code == SQLITE_IOERR && (system_error == ENOSPC || system_error == EDQUOT));
}

/// After a failed COMMIT, SQLite may have lost the system's error.
bool hit_file_size_limit(sqlite3* handle, int extended_code) {
  const int system_error = sqlite3_system_errno(handle);
  rlimit limit{};
  return extended_code == SQLITE_IOERR_WRITE &&
         (system_error == EFBIG ||
          (system_error == 0 && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY));
}

/// SQLite reports a journal that it cannot create as an input/output error or as "unable to open".
bool lacks_descriptors(sqlite3* handle, int primary_code) {
  const int system_error = sqlite3_system_errno(handle);
  return (primary_code == SQLITE_CANTOPEN || primary_code == SQLITE_IOERR) &&
         (system_error == EMFILE || system_error == ENFILE);
}

std::string explain(sqlite3* handle, const std::string& origin, int extended_code) {
  const int primary_code = extended_code & 0xff;
  const std::string because = " (" + detail(handle, extended_code) + ")";
  if (is_disk_full(handle, primary_code)) {
    return "the disk is full, cannot write to database " + origin +
           ". Everything saved before is kept: free some space and run the same command again" + because;
  }
  if (hit_file_size_limit(handle, extended_code)) {
    return "database " + origin +
           " may not grow (limit on the size of files). Everything saved before is kept: raise the limit (ulimit -f) "
           "and"
           " run the same command again" +
           because;
  }
  if (lacks_descriptors(handle, primary_code)) {
    return "this process has no file descriptors left for database " + origin +
           ". Everything saved before is kept: raise the limit (ulimit -n) or use fewer --jobs, and run the same "
           "command"
           " again" +
           because;
  }
  switch (primary_code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "database " + origin +
             " stayed locked by another process. Wait for that process or stop it, then run the same command again" +
             because;
    case SQLITE_READONLY:
      return "database " + origin +
             " cannot be written. Make the file and its folder writable or use another with --db" + because;
    case SQLITE_NOTADB:
      return origin + " is not a pgtune database. Name another file with --db" + because;
    case SQLITE_CORRUPT:
      return "database " + origin + " is damaged. Restore it from a copy, or move it aside and search again" + because;
    case SQLITE_TOOBIG:
      return "database " + origin +
             " holds a text or row that is larger than any pgtune writes. Restore it from a copy, or name another with"
             " --db" +
             because;
    case SQLITE_NOMEM:
      return "out of memory for database " + origin +
             ". Everything saved before is kept: free some memory and run the same command again" + because;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "cannot open database " + origin +
             ". Check the permissions of the file and its folder or use another with --db" + because;
    case SQLITE_IOERR:
      return "cannot read or write database " + origin +
             ". Check the disk; where it is a network share, keep the database on a local disk with --db" + because;
    default:
      return "database " + origin + " failed" + because;
  }
}

}  // namespace

void throw_sqlite_error(sqlite3* handle, const std::string& origin) {
  const int extended_code = sqlite3_extended_errcode(handle);
  throw Error(explain(handle, origin, extended_code), extended_code);
}

void append_json(std::string& out, std::string_view text) { out += nlohmann::json(as_utf8(text)).dump(); }

void append_json(std::string& out, const Value& value) {
  const auto append = [&](const auto& content) {
    using Content = std::decay_t<decltype(content)>;
    if constexpr (std::is_same_v<Content, std::string>) {
      append_json(out, std::string_view(content));
    } else if constexpr (std::is_same_v<Content, std::monostate>) {
      out += "null";
    } else if (std::isinf(static_cast<double>(content))) {
      out += content > 0 ? "1e999" : "-1e999";
    } else {
      out += nlohmann::json(content).dump();
    }
  };
  std::visit(append, value);
}

Transaction::Transaction(const Database& database, TransactionKind kind) : database_(database) {
  if (kind == TransactionKind::kWrite && has_moved(database_.handle()))
    throw Error("database " + database_.origin() +
                    " was removed or replaced while it was written to, and what is stored now would be lost. Replace "
                    "a database only while nothing uses it, and remove the old one's log, " +
                    database_.origin() + "-wal, with it",
                0);
  execute(database_, kind == TransactionKind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
  open_ = true;
  // The lock is held, so the file cannot change until the end.
  if (kind == TransactionKind::kWrite && database_.schema_version() > kSchemaVersion) {
    execute(database_, "ROLLBACK");
    open_ = false;
    throw Error("database " + database_.origin() + " was brought to schema version " +
                    std::to_string(database_.schema_version()) +
                    " by a newer pgtune while this one was using it. Go on with the newer one; what was stored is kept",
                0);
  }
}

Transaction::~Transaction() {
  // SQLite ends the transaction itself after some errors, such as a full disk.
  if (open_ && sqlite3_get_autocommit(database_.handle()) == 0) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  execute(database_, "COMMIT");
  open_ = false;
}

}  // namespace pgtune::db
