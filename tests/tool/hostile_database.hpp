// SPDX-License-Identifier: MIT
// A recording of the fake worker's in which single columns are replaced by what somebody else might put there, and
// pgtune run over it.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "tests/tool/cli_fixture.hpp"
#include "tool/pgtune/rooms.hpp"

struct sqlite3;

namespace pgtune::tool::test {

/// A column of a recording.
struct Column {
  std::string table, name, type;
  [[nodiscard]] std::string text() const { return table + "." + name; }
  [[nodiscard]] bool holds_json() const { return name.ends_with("_json"); }
};

using HostileValue = std::variant<std::int64_t, double, std::string>;

class HostileDatabase : public CliTest {
 protected:
  /// Has the recording: a search with energy, counters, ceilings and a crashed variant, a bench, a family, and what
  /// fillers() add. It is made once for all tests of the program.
  void SetUp() override;

  // For tests of rooms.
  [[nodiscard]] virtual Rooms rooms() const { return {}; }
  /// Commands that fill tables of a room, without --db.
  [[nodiscard]] virtual std::vector<std::vector<std::string>> fillers() const { return {}; }
  /// Whether columns() has those of the table.
  [[nodiscard]] virtual bool holds(const std::string& table) const {
    return !table.starts_with("pipeline_") && table != "foreign_tables";
  }

  /// Of pgtune's tables, but for ids and baselines, as the schema has them.
  [[nodiscard]] std::vector<Column> columns() const;
  /// The texts of a column.
  [[nodiscard]] std::vector<std::string> texts(const Column& column) const;
  /// Makes spoilt_ the recording with `value` in every row of the column that may have it, one at least.
  void spoil(const Column& column, const HostileValue& value) const;

  /// Each command that reads a database, over spoilt_: ends with a documented exit code and, where that is not 0,
  /// with a message fit for a terminal. `what` says which spoilt recording it is.
  void expect_survived(const std::vector<std::vector<std::string>>& commands, const std::string& what);
  /// The same of one command, whose end is given back.
  Finished survived(const std::vector<std::string>& command, const std::string& what);

  /// Those that measure nothing.
  [[nodiscard]] std::vector<std::vector<std::string>> readers() const;
  /// Those that answer from the database, or take it for a recording.
  [[nodiscard]] std::vector<std::vector<std::string>> searchers() const;
  /// Some of both, which compute with all that is read.
  [[nodiscard]] std::vector<std::vector<std::string>> users() const;
  /// Every fifth of the commands, counted on from call to call: all of them with everything take minutes, which
  /// scripts/release-check has (PGTUNE_TEST_WHOLE).
  [[nodiscard]] std::vector<std::vector<std::string>> in_turn(const std::vector<std::vector<std::string>>& commands);
  void begin_turns(std::size_t first) { turn_ = first; }
  /// Those that start workers to measure or look at a GPU: ten times as slow as the others.
  [[nodiscard]] std::vector<std::vector<std::string>> measurers() const;

 private:
  void make_recorded();
  void with_file(const std::string& file, const std::function<void(sqlite3*)>& use) const;

  std::size_t turn_ = 0;
};

}  // namespace pgtune::tool::test
