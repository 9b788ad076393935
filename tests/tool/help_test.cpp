// SPDX-License-Identifier: MIT
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using ::testing::StartsWith;

using HelpTest = CliTest;

TEST_F(HelpTest, MainHelpListsCommandsAndExamples) {
  const Finished help = pgtune({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_THAT(help.out, AllOf(HasSubstr("Usage: pgtune COMMAND"), HasSubstr("\n  search "), HasSubstr("Examples:"),
                              HasSubstr("pgtune search --shape 4096x4096x4096"), HasSubstr("Exit codes:")));
  expect_80_columns(help.out);
}

TEST_F(HelpTest, EveryCommandHasExamplesIn80Columns) {
  std::vector<std::string> commands;  // rooms have some too
  std::istringstream listed(pgtune({"--help"}).out);
  for (std::string line; std::getline(listed, line) && line != "Commands:";) {
  }
  for (std::string line; std::getline(listed, line) && line.starts_with("  ");) {
    if (line[2] != ' ') commands.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  EXPECT_THAT(commands, ::testing::IsSupersetOf({"search", "bench", "show", "report", "export", "db", "man"}));
  for (const std::string& command : commands) {
    const Finished help = pgtune({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, AllOf(HasSubstr("Usage: pgtune " + command), HasSubstr("Examples:\n  pgtune "))) << command;
    expect_80_columns(help.out);
  }
}

TEST_F(HelpTest, Version) {
  const Finished version = pgtune({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, ::testing::MatchesRegex("pgtune [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(HelpTest, VerboseVersionSaysWhatTheBuildIsMadeOf) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--version", "--verbose"}, {"--verbose", "--version"}}) {
    const Finished version = pgtune(words);
    EXPECT_EQ(version.exit_code, 0) << version.err;
    EXPECT_THAT(version.out,
                AllOf(StartsWith(pgtune({"--version"}).out), HasSubstr("\ncommit      "), HasSubstr("\ncompiler    "),
                      HasSubstr("\nschemas     database "), HasSubstr("\nrecordings  ")));
  }
  EXPECT_EQ(pgtune({"--verbose"}).exit_code, 2);
}

TEST_F(HelpTest, VerboseVersionHasTheHashesThatResultsAreStoredUnder) {
  const auto found = nlohmann::json::parse(
      pgtune({"search", "--shape", "64x64x64", "--template", "sgemm_small", "--budget", "2", "--json"}).out);
  const std::string hash = found.at("template_hash");
  EXPECT_THAT(pgtune({"--version", "--verbose"}).out, HasSubstr("\n            " + hash + " sgemm_small\n"));
}

TEST_F(HelpTest, ManPageHasEveryCommandAndOption) {
  const Finished page = pgtune({"man"});
  ASSERT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.out, StartsWith(".TH PGTUNE 1 "));
  for (const char* text : {".SH PGTUNE SEARCH\n", ".SH PGTUNE DB MERGE\n", "\n.B \\-\\-shape", "\n.SH ENVIRONMENT\n",
                           "\npgtune man | man \\-l \\-\n"})
    EXPECT_THAT(page.out, HasSubstr(text));
  // What man would take for a request.
  std::istringstream lines(page.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.') && !line.starts_with('\'')) continue;
    EXPECT_THAT(line, ::testing::MatchesRegex("\\.(TH|SH|SS|TP|PP|RS|RE|nf|fi|B|I)( .*)?"));
  }
}

}  // namespace
}  // namespace pgtune::tool::test
