// SPDX-License-Identifier: MIT
// pgtune db merge, dump, prune and vacuum, and databases under hard conditions: message, output, exit code.
#include <algorithm>
#include <memory>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class DatabaseUpkeepTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(search({"-q", "--db", path("a.db")}).exit_code, 0);
  }
  Finished merge(const std::vector<std::string>& names, const std::string& output) {
    std::vector<std::string> arguments{"db", "merge"};
    for (const std::string& name : names) arguments.push_back(path(name));
    arguments.insert(arguments.end(), {"-o", path(output)});
    return pgtune(arguments);
  }
  std::vector<json> dumped(const std::string& name) {
    const Finished result = pgtune({"db", "dump", "--db", path(name)});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<json> lines;
    std::istringstream stream(result.out);
    for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
    return lines;
  }
};

TEST_F(DatabaseUpkeepTest, MergedAnswersAreThereAndOrderDoesNotMatter) {
  ASSERT_EQ(pgtune({"search", "--template", path("tiny.json"), "--shape", "512x256x256", "-q", "--db", path("b.db")})
                .exit_code,
            0);
  const Finished merged = merge({"a.db", "b.db", "a.db"}, "c.db");
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(merged.err, HasSubstr("wrote " + path("c.db") + ": 2 sessions from 3 files; 1 repeat left out"));
  EXPECT_EQ(merge({"b.db", "a.db"}, "d.db").exit_code, 0);
  EXPECT_EQ(read("c.db"), read("d.db"));
  EXPECT_EQ(json::parse(pgtune({"show", "--json", "--db", path("c.db")}).out).at("results").size(), 2U);
  const int builds = requests("build");
  EXPECT_THAT(search({"--db", path("c.db")}).err, HasSubstr("Answered from the database"));
  EXPECT_EQ(requests("build"), builds);
}

TEST_F(DatabaseUpkeepTest, ACompressedCopyIsOnlyReadAndAPlainOneIsMadeOfIt) {
  ASSERT_EQ(pgtune({"db", "copy", "--db", path("a.db"), "-o", path("a.db.zst")}).exit_code, 0);
  const Finished refused = pgtune({"db", "vacuum", "--db", path("a.db.zst")});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("a.db.zst is a compressed copy, which can only be read"),
                                 HasSubstr("'pgtune db copy --db FILE.zst -o FILE.db'")));
  EXPECT_EQ(pgtune({"db", "copy", "--db", path("a.db.zst"), "-o", path("plain.db")}).exit_code, 0);
  EXPECT_EQ(pgtune({"db", "vacuum", "--db", path("plain.db")}).exit_code, 0);
  const Finished to_output = pgtune({"db", "copy", "--db", path("a.db"), "-o", "-"});
  EXPECT_EQ(to_output.exit_code, 2);
  EXPECT_THAT(to_output.err, HasSubstr("cannot be written to standard output"));
}

TEST_F(DatabaseUpkeepTest, MergeSaysWhatItDidAsJson) {
  const Finished merged = pgtune({"db", "merge", path("a.db"), path("a.db"), "-o", path("c.db"), "--json"});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  const json report = json::parse(merged.out);
  EXPECT_EQ(report.at("output"), path("c.db"));
  EXPECT_EQ(report.at("sessions"), 1);
  EXPECT_EQ(report.at("inputs").at(0), json({{"path", path("a.db")}, {"sessions", 1}, {"taken", 1}}));
  EXPECT_EQ(report.at("inputs").at(1).at("taken"), 0);
}

TEST_F(DatabaseUpkeepTest, MergeRefusesWithCauseAndExitCode) {
  write("notes.txt", std::string(4096, 'x'));
  const Finished foreign = merge({"a.db", "notes.txt"}, "c.db");
  EXPECT_EQ(foreign.exit_code, 4);
  EXPECT_THAT(foreign.err, AllOf(HasSubstr("notes.txt is not a pgtune database"), Not(HasSubstr("--db"))));
  const Finished missing = merge({"a.db", "none.db"}, "c.db");
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("there is no database"));
  EXPECT_FALSE(std::filesystem::exists(path("c.db")));
  // Even where it is one of the inputs: a search might be writing to it.
  const std::string before = read("a.db");
  const Finished onto_input = merge({"a.db"}, "a.db");
  EXPECT_EQ(onto_input.exit_code, 2);
  EXPECT_THAT(onto_input.err, AllOf(HasSubstr("a.db exists already"), HasSubstr("new file name")));
  EXPECT_EQ(read("a.db"), before);
  EXPECT_EQ(pgtune({"db", "merge", "-o", path("c.db")}).exit_code, 2);
  EXPECT_EQ(pgtune({"db", "merge", path("a.db")}).exit_code, 2);
}

TEST_F(DatabaseUpkeepTest, MergeLeavesNothingOnAFullDisk) {
  std::filesystem::create_directory(path("full"));
  Launch shell = launch_;
  shell.program = "/bin/sh";
  const auto on_small_disk = [&](const std::string& command) {
    shell.arguments = {"-c", "exec unshare --map-root-user --mount sh -c \"mount -t tmpfs -o size=16k none '" +
                                 path("full") + "' && " + command + "\""};
    return run(shell);
  };
  if (on_small_disk("true").exit_code != 0) GTEST_SKIP() << "no file system can be mounted here";
  // Larger than the cache of SQLite, which then needs a journal.
  const Finished merged =
      on_small_disk(PGTUNE_PROGRAM " db merge '" PGTUNE_SOURCE_DIR "/recordings/h200-f32.db.zst' -o '" +
                    path("full/c.db") + "'; ls -A '" + path("full") + "'");
  EXPECT_EQ(merged.out, "");
  EXPECT_THAT(merged.err, HasSubstr("cannot write " + path("full/c.db") + ": its disk is full. Free some space"));
}

TEST_F(DatabaseUpkeepTest, DumpIsJsonLinesOfEverything) {
  const auto lines = dumped("a.db");
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front().at("pgtune_dump"), 1);
  EXPECT_EQ(lines.at(1).at("table"), "sessions");
  EXPECT_THAT(lines.at(1).at("command_line"), HasSubstr("pgtune search --template"));
  const auto of_trials =
      std::count_if(lines.begin() + 1, lines.end(), [](const json& line) { return line.at("table") == "trials"; });
  EXPECT_EQ(of_trials, 10);
  ASSERT_EQ(merge({"a.db"}, "copy.db").exit_code, 0);
  EXPECT_EQ(dumped("copy.db"), lines);
}

TEST_F(DatabaseUpkeepTest, PruneDropsWhatItSaidItWould) {
  ASSERT_EQ(search({"-q", "--db", path("a.db"), "--force"}).exit_code, 0);
  const std::string before = read("a.db");
  const Finished looked = pgtune({"db", "prune", "--keep", "1", "--dry-run", "--json", "--db", path("a.db")});
  EXPECT_EQ(looked.exit_code, 0) << looked.err;
  EXPECT_THAT(looked.err, HasSubstr("would drop 1 session"));
  const json report = json::parse(looked.out);
  EXPECT_EQ(report.at("dry_run"), true);
  EXPECT_EQ(report.at("sessions").at(0).at("reason"), "1 newer one");
  EXPECT_EQ(read("a.db"), before);

  const Finished pruned = pgtune({"db", "prune", "--keep", "1", "--db", path("a.db")});
  EXPECT_EQ(pruned.exit_code, 0) << pruned.err;
  EXPECT_THAT(pruned.out,
              AllOf(HasSubstr(report.at("sessions").at(0).at("session").get<std::string>()), HasSubstr("1 newer one")));
  EXPECT_THAT(pruned.out, Not(::testing::ContainsRegex("[^\n]{81}"))) << "fits a terminal";
  EXPECT_THAT(pruned.err, AllOf(HasSubstr("dropped 1 session"), HasSubstr("db vacuum")));
  EXPECT_EQ(json::parse(pgtune({"db", "info", "--json", "--db", path("a.db")}).out).at("rows").at("sessions"), 1);
  EXPECT_EQ(pgtune({"db", "check", "--db", path("a.db")}).exit_code, 0);
  EXPECT_EQ(pgtune({"db", "prune", "--keep", "1", "--db", path("a.db")}).out, "");
}

TEST_F(DatabaseUpkeepTest, PruneWithoutARuleOrADatabase) {
  const Finished nothing = pgtune({"db", "prune", "--db", path("a.db")});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, AllOf(HasSubstr("nothing says what to drop"), HasSubstr("--recorded")));
  EXPECT_EQ(pgtune({"db", "prune", "--keep", "-1", "--db", path("a.db")}).exit_code, 2);
  const Finished boards = pgtune({"db", "prune", "--any-board", "--unfinished", "--db", path("a.db")});
  EXPECT_EQ(boards.exit_code, 2);
  EXPECT_THAT(boards.err, HasSubstr("--keep"));
  for (const char* command : {"prune", "vacuum"}) {
    std::vector<std::string> arguments{"db", command, "--db", path("none.db")};
    if (std::string(command) == "prune") arguments.emplace_back("--unfinished");
    EXPECT_EQ(pgtune(arguments).exit_code, 4) << command;
    EXPECT_FALSE(std::filesystem::exists(path("none.db"))) << command;
  }
}

TEST_F(DatabaseUpkeepTest, VacuumSaysTheSizes) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(search({"-q", "--db", path("a.db"), "--force"}).exit_code, 0);
  ASSERT_EQ(pgtune({"db", "prune", "--keep", "1", "--db", path("a.db")}).exit_code, 0);
  const Finished result = pgtune({"db", "vacuum", "--json", "--db", path("a.db")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json sizes = json::parse(result.out);
  EXPECT_LT(sizes.at("bytes_after"), sizes.at("bytes_before"));
  EXPECT_EQ(sizes.at("bytes_after"), std::filesystem::file_size(path("a.db")));
  EXPECT_THAT(pgtune({"db", "vacuum", "--db", path("a.db")}).out, ::testing::ContainsRegex("a.db: .* MB, was .* MB\n"));
}

TEST_F(DatabaseUpkeepTest, EveryCommandHasExamplesIn80Columns) {
  for (const char* command : {"info", "check", "copy", "merge", "dump", "prune", "vacuum"}) {
    const Finished help = pgtune({"db", command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr(std::string("Examples:\n  pgtune db ") + command)) << command;
    expect_80_columns(help.out);
  }
}

}  // namespace
}  // namespace pgtune::tool::test
