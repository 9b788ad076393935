// SPDX-License-Identifier: MIT
#include "db/sqlite/statement.hpp"

#include <sqlite3.h>

#include <cmath>
#include <utility>

#include "db/sqlite/sqlite_error.hpp"
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
  // Its code repeats the error of the last step, which was reported then.
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

}  // namespace pgtune::db
