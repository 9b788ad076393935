// SPDX-License-Identifier: MIT
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

class HelpTest : public CliTest {
 protected:
  static void expect_80_columns(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
};

TEST_F(HelpTest, MainHelpListsCommandsAndExamples) {
  const Finished help = pgtune({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_THAT(help.out, AllOf(HasSubstr("Usage: pgtune COMMAND"), HasSubstr("\n  search "), HasSubstr("Examples:"),
                              HasSubstr("pgtune search --shape 4096x4096x4096"), HasSubstr("Exit codes:")));
  expect_80_columns(help.out);
}

TEST_F(HelpTest, EveryCommandHasExamplesIn80Columns) {
  for (const char* command : {"search", "bench", "show", "report", "export", "space", "inspect", "ladder", "devices",
                              "doctor", "slurm", "db", "completion"}) {
    const Finished help = pgtune({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, AllOf(HasSubstr(std::string("Usage: pgtune ") + command), HasSubstr("Examples:\n  pgtune ")))
        << command;
    expect_80_columns(help.out);
  }
}

TEST_F(HelpTest, Version) {
  const Finished version = pgtune({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, ::testing::MatchesRegex("pgtune [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace pgtune::tool::test
