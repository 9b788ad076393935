// SPDX-License-Identifier: MIT
#include "tests/tool/hostile_database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "db/sqlite/table_shapes.hpp"
#include "tests/tool/doctor_facts.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/program.hpp"

namespace pgtune::tool::test {
namespace {

/// One command of so many meets a text. Lists have 8 and 19 commands in a row, which 5 does not divide. So each of
/// them has its turn.
constexpr std::size_t kTurns = 5;

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A command that still runs then is hung; they take milliseconds.
constexpr unsigned kHungS = 60;
/// The longest message; hostile words are cut in it.
constexpr std::size_t kLongestMessage = 4096;

std::string contents_of(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(fd);
  return text;
}

/// The command line in a fork of this process: what starting a program costs is most of what these commands cost.
Finished run_forked(const Words& command, const std::map<std::string, std::string>& environment, Rooms rooms) {
  const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kHungS);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    clearenv();
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    Words words{"pgtune"};
    words.insert(words.end(), command.begin(), command.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    _exit(run_command_line(static_cast<int>(arguments.size()), arguments.data(), std::move(rooms)));
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents_of(out), contents_of(err)};
}

/// What commands read of the program itself, whatever the database: forks find it as it was made here, once.
void read_what_is_built_in() {
  static_cast<void>(db::TableShapes::of_this_program());
  const Catalogue catalogue;
  for (const std::string& name : catalogue.all_names()) static_cast<void>(catalogue.load(name));
  for (const std::string& name : catalogue.operation_names()) static_cast<void>(catalogue.operation(name));
}

std::string joined(const Words& command) {
  std::string text;
  for (const std::string& word : command) text += " " + word;
  return text;
}

Words with(Words words, const std::initializer_list<Words> more) {
  for (const Words& part : more) words.insert(words.end(), part.begin(), part.end());
  return words;
}

void require_ok(int code, sqlite3* handle) {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(handle));
}

/// Rows of one SQL query, as text.
std::vector<Words> query(sqlite3* handle, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  require_ok(sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr), handle);
  std::vector<Words> rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    Words& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* text = sqlite3_column_text(statement, i);
      row.emplace_back(text != nullptr ? reinterpret_cast<const char*>(text) : "");
    }
  }
  sqlite3_finalize(statement);
  return rows;
}

}  // namespace

void HostileDatabase::SetUp() {
  CliTest::SetUp();
  read_what_is_built_in();
  write_program("doctor", "#!/bin/sh\necho '" + good_facts().dump() + "'\n");
  launch_.environment["PGTUNE_NCU"] = kFakeProfiler;
  launch_.environment["PGTUNE_NVDISASM"] = "/bin/true";
  launch_.environment["PGTUNE_FATBINARY"] = "/nowhere";  // the fake worker's cubins are none
  launch_.environment["PGTUNE_FAKE"] = "trial|BM=32,BN=32,COPY=ldg|segv";
  static const std::string recorded = [&] {
    make_recorded();
    return read("recorded.db");
  }();
  ASSERT_FALSE(recorded.empty());
  write("recorded.db", recorded);
}

void HostileDatabase::make_recorded() {
  // First, since a range of M waits for a model of the searches before it.
  const Finished family =
      pgtune({"search", "--template", path("tiny.json"), "--shape", "5..8x256x256", "--probes", "1"},
             {"--db", path("made.db"), "-q"});
  ASSERT_EQ(family.exit_code, 0) << family.err;
  const Words made{"--db", path("made.db"), "-q", "--power", "--counters"};
  const Finished searched = search(made);
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  Words bench{"bench", "--template", path("tiny.json"), "--shape", "256x256x256", "--rounds", "8"};
  bench.insert(bench.end(), made.begin(), made.end());
  const Finished benched = pgtune(bench);
  ASSERT_EQ(benched.exit_code, 0) << benched.err;
  for (const Words& words : fillers()) {
    const Finished filled = pgtune(with(words, {{"--db", path("made.db")}}));
    ASSERT_EQ(filled.exit_code, 0) << filled.err;
  }
  // It also has an answer that was recorded elsewhere. In one file, which can be copied.
  const Finished elsewhere = search({"--db", path("elsewhere.db"), "-q"});
  ASSERT_EQ(elsewhere.exit_code, 0) << elsewhere.err;
  const Finished stored = search({"--db", path("made.db"), "-q", "--device", "recording:" + path("elsewhere.db")});
  ASSERT_EQ(stored.exit_code, 0) << stored.err;
  const Finished copied = pgtune({"db", "copy", "--db", path("made.db"), "-o", path("recorded.db")});
  ASSERT_EQ(copied.exit_code, 0) << copied.err;
}

void HostileDatabase::with_file(const std::string& file, const std::function<void(sqlite3*)>& use) const {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path(file).c_str(), &handle), SQLITE_OK);
  use(handle);
  sqlite3_close(handle);
}

std::vector<Column> HostileDatabase::columns() const {
  std::vector<Column> columns;
  with_file("recorded.db", [&](sqlite3* handle) {
    for (const Words& row :
         query(handle,
               "SELECT tables.name, columns.name, columns.type FROM sqlite_schema AS tables"
               " JOIN pragma_table_info(tables.name) AS columns LEFT JOIN pragma_foreign_key_list(tables.name) AS keys"
               " ON keys.\"from\" = columns.name WHERE tables.type = 'table' AND columns.name <> 'id'"
               " AND keys.\"from\" IS NULL ORDER BY 1, 2"))
      if (holds(row[0])) columns.push_back({row[0], row[1], row[2]});
  });
  return columns;
}

std::vector<std::string> HostileDatabase::texts(const Column& column) const {
  std::vector<std::string> texts;
  with_file("recorded.db", [&](sqlite3* handle) {
    for (const Words& row : query(handle, "SELECT DISTINCT " + column.name + " FROM " + column.table))
      texts.push_back(row[0]);
  });
  return texts;
}

void HostileDatabase::spoil(const Column& column, const HostileValue& value) const {
  fs::copy_file(path("recorded.db"), path("spoilt.db"), fs::copy_options::overwrite_existing);
  with_file("spoilt.db", [&](sqlite3* handle) {
    static_cast<void>(query(handle, "PRAGMA ignore_check_constraints = on"));
    sqlite3_stmt* statement = nullptr;
    // Where a column has to be unique, one row gets the value.
    const std::string sql = "UPDATE OR IGNORE " + column.table + " SET " + column.name + " = ?1";
    require_ok(sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr), handle);
    if (const auto* const text = std::get_if<std::string>(&value)) {
      require_ok(sqlite3_bind_text64(statement, 1, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8), handle);
    } else if (const auto* const real = std::get_if<double>(&value)) {
      require_ok(sqlite3_bind_double(statement, 1, *real), handle);
    } else {
      require_ok(sqlite3_bind_int64(statement, 1, std::get<std::int64_t>(value)), handle);
    }
    require_ok(sqlite3_step(statement), handle);
    EXPECT_GT(sqlite3_changes(handle), 0) << column.text() << " has no row: nothing is tested";
    sqlite3_finalize(statement);
  });
}

Finished HostileDatabase::survived(const Words& command, const std::string& what) {
  for (const char* made : {"used.db", "used.db-wal", "used.db-shm", "used.db-journal", "out"})
    fs::remove_all(path(made));
  fs::copy_file(path("spoilt.db"), path("used.db"));
  auto environment = launch_.environment;
  environment["PGTUNE_DB"] = path("used.db");
  if (command.front() == "doctor") environment["PGTUNE_WORKER"] = path("doctor");
  Finished finished = run_forked(command, environment, rooms());
  const std::string name = what + ":" + joined(command);
  EXPECT_LE(finished.exit_code, 5) << name << "\n" << finished.err.substr(0, kLongestMessage);
  const bool says_why = finished.err.find("pgtune: ") != std::string::npos || command.front() == "doctor";
  EXPECT_TRUE(finished.exit_code < 2 || says_why) << name;
  EXPECT_LE(finished.err.size(), kLongestMessage) << name << "\n" << finished.err.substr(0, kLongestMessage);
  EXPECT_EQ(harmless(finished.err), finished.err) << name;
  return finished;
}

void HostileDatabase::expect_survived(const std::vector<Words>& commands, const std::string& what) {
  for (const Words& command : commands) static_cast<void>(survived(command, what));
}

std::vector<Words> HostileDatabase::readers() const {
  return {{"db", "info"},
          {"db", "check"},
          {"db", "dump"},
          {"db", "copy", "-o", path("out")},
          {"db", "merge", path("used.db"), "-o", path("out")},
          {"db", "prune", "--keep", "0", "--json"},
          {"db", "vacuum"},
          {"show", "--json"},
          {"report"},
          {"report", "--json"},
          {"report", "--csv"},
          {"report", "--power"},
          {"report", "--power", "--json"},
          {"report", "--roofline"},
          {"report", "--html", "-"}};
}

std::vector<Words> HostileDatabase::searchers() const {
  const Words problem{"--template", path("tiny.json"), "--shape", "256x256x256", "-q"};
  const Words recording{"--device", "recording:" + path("spoilt.db")};
  return {with({"search", "--dry-run"}, {problem}),
          with({"search", "--dry-run", "--db", path("out")}, {problem, recording}),
          with({"search", "--db", path("out")}, {problem, recording}), with({"search"}, {problem, recording})};
}

std::vector<Words> HostileDatabase::users() const {
  std::vector<Words> commands{{"show"}, {"report", "--json"}, {"report", "--power"}, {"report", "--roofline"}};
  std::ranges::copy(searchers(), std::back_inserter(commands));
  return commands;
}

std::vector<Words> HostileDatabase::in_turn(const std::vector<Words>& commands) {
  if (std::getenv("PGTUNE_TEST_WHOLE") != nullptr) return commands;
  std::vector<Words> chosen;
  for (const Words& command : commands) {
    if (turn_++ % kTurns == 0) chosen.push_back(command);
  }
  return chosen;
}

std::vector<Words> HostileDatabase::measurers() const {
  const Words problem{"--shape", "256x256x256", "-q"};
  return {with({"search", "--template", path("tiny.json")}, {problem}),
          with({"bench", "--rounds", "8", "--template", path("tiny.json")}, {problem}),
          {"export", "header", "--template", path("tiny.json"), "--no-verify", "-o", path("out")},
          {"doctor"}};
}

}  // namespace pgtune::tool::test
