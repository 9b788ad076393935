// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using ::testing::StartsWith;

class HelpTest : public CliTest {
 public:
  /// The commands below `command`, which its help lists, each with the words before it.
  std::vector<std::vector<std::string>> commands_below(const std::vector<std::string>& command) {
    std::vector<std::vector<std::string>> below;
    std::istringstream help(pgtune(with(command, "--help")).out);
    for (std::string line; std::getline(help, line) && line != "Commands:";) {
    }
    for (std::string line; std::getline(help, line) && line.starts_with("  ");) {
      if (line[2] == ' ') continue;
      below.push_back(with(command, line.substr(2, line.find(' ', 2) - 2)));
      for (auto& further : commands_below(below.back())) below.push_back(std::move(further));
    }
    return below;
  }

  static std::vector<std::string> with(std::vector<std::string> words, const std::string& word) {
    words.push_back(word);
    return words;
  }

  /// "--shape" and the like, where a line of the text begins with them or another spelling before them.
  static std::set<std::string> options_in(std::string text) {
    for (std::size_t at = 0; (at = text.find("\\-", at)) != std::string::npos;) text.erase(at, 1);  // of a manual page
    static const std::regex kOption("\n(?:  |\\.B )(?:-[a-z],)?(--[a-z][a-z0-9-]*)");
    std::set<std::string> names;
    for (std::sregex_iterator found(text.begin(), text.end(), kOption), end; found != end; ++found)
      names.insert((*found)[1]);
    return names;
  }
};

TEST_F(HelpTest, MainHelpListsCommandsAndExamples) {
  const Finished help = pgtune({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_THAT(help.out, AllOf(HasSubstr("Usage: pgtune COMMAND"), HasSubstr("\n  search "), HasSubstr("Examples:"),
                              HasSubstr("pgtune search --shape 4096x4096x4096"), HasSubstr("Exit codes:")));
  expect_80_columns(help.out);
  EXPECT_THAT(pgtune({"db", "merge", "--help"}).out, HasSubstr("Usage: pgtune db merge [options] FILES...\n"));
}

TEST_F(HelpTest, EveryCommandHasExamplesIn80Columns) {
  std::set<std::string> commands;  // rooms have some too
  for (const std::vector<std::string>& words : commands_below({})) {
    if (words.size() > 1) continue;
    commands.insert(words.front());
    const Finished help = pgtune(with(words, "--help"));
    EXPECT_EQ(help.exit_code, 0) << words.front();
    EXPECT_THAT(help.out, AllOf(HasSubstr("Usage: pgtune " + words.front()), HasSubstr("Examples:\n  pgtune ")))
        << words.front();
  }
  EXPECT_THAT(commands, ::testing::IsSupersetOf({"search", "bench", "show", "report", "export", "db", "man"}));
}

TEST_F(HelpTest, EveryPageFits60LinesOf80Columns) {
  int shortened = 0;
  for (const std::vector<std::string>& words : commands_below({})) {
    const Finished help = pgtune(with(words, "--help")), all = pgtune(with(words, "--help-all"));
    const std::string name = fmt::format("{}", fmt::join(words, " "));
    EXPECT_EQ(all.exit_code, 0) << name;
    EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), 60) << name;
    expect_80_columns(help.out);
    expect_80_columns(all.out);
    EXPECT_THAT(options_in(all.out), ::testing::IsSupersetOf(options_in(help.out))) << name;
    const std::size_t more = options_in(all.out).size() - options_in(help.out).size();
    const bool says_how_many = help.out.find(fmt::format("\n{} more options: --help-all\n", more)) != std::string::npos;
    EXPECT_EQ(says_how_many, more > 0) << name << ": " << more << " more";
    if (more > 0) ++shortened;
  }
  EXPECT_GE(shortened, 5);
}

TEST_F(HelpTest, HelpAllAndTheManualPageNameEveryOption) {
  const std::string page = pgtune({"man"}).out;
  for (const std::vector<std::string>& words : commands_below({})) {
    const std::string name = fmt::format("{}", fmt::join(words, " "));
    std::string title = "\n.SH PGTUNE " + name + "\n";
    std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
    const std::size_t begin = page.find(title);
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string section = page.substr(begin, page.find("\n.SH ", begin + 1) - begin);
    std::set<std::string> shown = options_in(pgtune(with(words, "--help-all")).out);
    shown.insert("--help-all");
    EXPECT_EQ(options_in(section), shown) << name;
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
      pgtune({"search", "--shape", "64x64x64", "--template", "sgemm_small", "--variants", "2", "--json"}).out);
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
