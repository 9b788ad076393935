// SPDX-License-Identifier: MIT
// A prepared statement: bind, step, read columns in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/database.hpp"
#include "tuner/util/named_enum.hpp"
#include "tuner/util/utf8.hpp"

struct sqlite3_stmt;
struct sqlite3;

namespace pgtune::db {

/// Any column's value, for code that copies or prints rows of any table.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// Whether a measurement can give the number: it is finite and not negative. (SQLite stores no NaN.)
[[nodiscard]] bool is_measured(double value);

/// Runs one or more statements that return no rows. Throws Error.
void execute(const Database& database, const std::string& sql);

/// Must not outlive its database. All functions throw Error.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  /// Binds all parameters, ?1 first, and rewinds, so that a statement can be run again with other values. A record's
  /// columns (RecordColumns::of()) take as many parameters as there are columns.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    rewind();
    int index = 0;
    const auto bind_next = [&](const auto& value) { bind_value(++index, value); };
    const auto bind_all_of = [&](const auto& value) {
      if constexpr (requires { value.for_each_value(bind_next); }) {
        value.for_each_value(bind_next);
      } else {
        bind_next(value);
      }
    };
    (bind_all_of(values), ...);
    return *this;
  }

  /// The same for as many parameters as there are values.
  Statement& bind_all(const std::vector<Value>& values);

  /// True while there is a row; the next `>>` reads its first column.
  [[nodiscard]] bool step();
  /// For statements without rows.
  void run();

  Statement& operator>>(std::int64_t& value);
  Statement& operator>>(std::uint64_t& value);
  /// Throws Error if the number needs more bits.
  Statement& operator>>(int& value);
  Statement& operator>>(bool& value);
  /// Every real number of pgtune's tables was measured: throws Error for one that is_measured() denies.
  Statement& operator>>(double& value);
  Statement& operator>>(std::optional<double>& value);
  /// Always UTF-8: U+FFFD replaces each invalid byte. NULL reads as an empty string.
  Statement& operator>>(std::string& value);
  /// Throws Error for a word that names no enumerator.
  template <NamedEnum Enum>
  Statement& operator>>(Enum& value) {
    std::string word;
    *this >> word;
    const auto known = enumerator_of<Enum>(word);
    if (!known) throw_impossible("'" + excerpt(word) + "'", column_ - 1);
    value = *known;
    return *this;
  }
  /// Numbers as they are.
  Statement& operator>>(Value& value);
  /// Whether the next column is NULL; does not advance.
  [[nodiscard]] bool next_is_null() const;
  /// Skips columns.
  void skip(int columns) { column_ += columns; }

 private:
  [[nodiscard]] double measured(int column) const;
  [[noreturn]] void throw_impossible(const std::string& value, int column) const;
  void rewind();
  void check(int code) const;
  void bind_value(int index, std::int64_t value);
  void bind_value(int index, int value) { bind_value(index, std::int64_t{value}); }
  void bind_value(int index, bool value) { bind_value(index, std::int64_t{value}); }
  /// SQLite has no unsigned integers: the bits are kept.
  void bind_value(int index, std::uint64_t value) { bind_value(index, static_cast<std::int64_t>(value)); }
  void bind_value(int index, double value);
  void bind_value(int index, std::string_view value);
  template <NamedEnum Enum>
  void bind_value(int index, Enum value) {
    bind_value(index, to_string(value));
  }
  void bind_value(int index, const std::string& value) { bind_value(index, std::string_view(value)); }
  void bind_value(int index, const char* value) { bind_value(index, std::string_view(value)); }
  template <typename Value>
  void bind_value(int index, const std::optional<Value>& value) {
    if (value) {
      bind_value(index, *value);
    } else {
      bind_null(index);
    }
  }
  void bind_null(int index);
  void bind_value(int index, std::monostate /*null*/) { bind_null(index); }

  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int column_ = 0;
};

/// The single integer of a query's first row.
[[nodiscard]] std::int64_t query_integer(const Database& database, std::string_view sql);
/// The single text of a query's first row.
[[nodiscard]] std::string query_text(const Database& database, std::string_view sql);

// Turns SQLite's error codes into messages with cause and remedy.

/// Throws Error for the connection's last failure. `origin` names the database in the message.
[[noreturn]] void throw_sqlite_error(sqlite3* handle, const std::string& origin);

// Column values as JSON, for dumps. Differs from nlohmann's for infinities, which a file from elsewhere may hold.

/// `text` between quotes. Bytes that are no UTF-8 become U+FFFD.
void append_json(std::string& out, std::string_view text);
/// A number in the shortest form that reads back as itself; infinities, which JSON lacks, as 1e999 and -1e999.
void append_json(std::string& out, const Value& value);

// All or nothing for several statements.

enum class TransactionKind {
  kRead,   ///< several queries see one state
  kWrite,  ///< takes the write lock at the start, waiting for other processes: a lock taken later could not wait
};

/// Rolls back unless committed. Does not nest.
class Transaction {
 public:
  Transaction(const Database& database, TransactionKind kind);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Database& database_;
  bool open_ = false;
};

}  // namespace pgtune::db
