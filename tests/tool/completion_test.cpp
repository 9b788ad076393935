// SPDX-License-Identifier: MIT
// The completion scripts: bash runs its own, the others are read.
#include <cstdlib>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

class CompletionTest : public CliTest {
 protected:
  /// What bash offers for a command line whose last word is being typed.
  std::string offered(const std::string& words, int current) {
    const std::string script = "source '" + path("pgtune.bash") + "'; COMP_WORDS=(" + words +
                               "); COMP_CWORD=" + std::to_string(current) + "; _pgtune; echo \" ${COMPREPLY[*]} \"";
    write("ask.sh", script);
    EXPECT_EQ(std::system(("bash '" + path("ask.sh") + "' > '" + path("answer") + "' 2>&1").c_str()), 0);
    return read("answer");
  }
};

TEST_F(CompletionTest, BashOffersWhatFits) {
  const Finished result = pgtune({"completion", "bash"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  write("pgtune.bash", result.out);
  EXPECT_THAT(offered("pgtune ''", 1),
              AllOf(HasSubstr(" search "), HasSubstr(" completion "), HasSubstr(" --version ")));
  EXPECT_EQ(offered("pgtune se", 1), " search \n");
  EXPECT_EQ(offered("pgtune search --sh", 2), " --shape --shapes \n");
  EXPECT_THAT(offered("pgtune search --shape 64x64x64 --", 4),
              AllOf(HasSubstr(" --budget "), Not(HasSubstr("--sass"))));
  EXPECT_EQ(offered("pgtune db c", 2), " check copy \n");
  EXPECT_EQ(offered("pgtune db ''", 2), " info check copy merge dump prune vacuum --help --help-all \n");
  EXPECT_THAT(offered("pgtune db prune --", 3),
              AllOf(HasSubstr(" --keep "), HasSubstr(" --dry-run "), Not(HasSubstr("--output"))));
  EXPECT_EQ(offered("pgtune export header --name", 3), " --namespace \n");
  EXPECT_EQ(offered("pgtune search --dtype b", 3), " bf16 \n");
  EXPECT_EQ(offered("pgtune report --source ''", 3), " gpu recorded \n");
  EXPECT_EQ(offered("pgtune search --device ''", 3), " auto all recording \n");
  EXPECT_EQ(offered("pgtune pipeline --device ''", 3), " auto recording \n") << "it takes one";
  EXPECT_EQ(offered("pgtune slurm --device ''", 3), " 0 recording \n");
  EXPECT_EQ(offered("pgtune run --serve -- ./a --", 5), "  \n") << "the program's own words";
  EXPECT_EQ(offered("pgtune search --shapes ''", 3), "  \n") << "files, by the shell";
  EXPECT_EQ(offered("pgtune search --budget ''", 3), "  \n");
  EXPECT_EQ(offered("pgtune search --force --sh", 3), " --shape --shapes \n") << "a flag takes no value";
  EXPECT_EQ(offered("pgtune search --effort ''", 3), " quick normal thorough \n");
  EXPECT_EQ(offered("pgtune completion z", 2), " zsh \n");
}

TEST_F(CompletionTest, BashTellsOptionsOfOneNameApart) {
  write("pgtune.bash", pgtune({"completion", "bash"}).out + "compopt() { echo no files; }\n");
  EXPECT_EQ(offered("pgtune search --template ./m", 3), "  \n");
  EXPECT_EQ(offered("pgtune export t4 --template ./m", 4), "no files\n  \n");
  EXPECT_EQ(offered("pgtune pipeline --pipelines ''", 3), "no files\n  \n");
  EXPECT_EQ(offered("pgtune report --pipelines --ht", 3), " --html \n");
  EXPECT_EQ(offered("pgtune run --check ''", 3), "no files\n  \n");
  EXPECT_EQ(offered("pgtune space --check --sh", 3), " --shape --shapes \n");
}

TEST_F(CompletionTest, ZshScriptKeepsOffZshsSpecialVariables) {
  const Finished result = pgtune({"completion", "zsh"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("bashcompinit"), HasSubstr("complete -o default -F _pgtune_words pgtune"),
                                Not(HasSubstr(" path=")), Not(HasSubstr(" words="))));
}

TEST_F(CompletionTest, FishScriptNamesCommandsAndOptions) {
  const Finished result = pgtune({"completion", "fish"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("complete -c pgtune -n '__fish_use_subcommand' -a search -d "),
                                HasSubstr("-n '__fish_seen_subcommand_from search' -l shape -r"),
                                HasSubstr("your own template\\'s JSON")));
}

TEST_F(CompletionTest, UnknownShell) {
  const Finished result = pgtune({"completion", "tcsh"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("tcsh"));
  EXPECT_EQ(pgtune({"completion"}).exit_code, 2);
}

}  // namespace
}  // namespace pgtune::tool::test
