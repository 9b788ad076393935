// SPDX-License-Identifier: MIT
// show and report on a terminal: through a pager, as git does it, and never when piped.
#include <csignal>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

class PagerTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (const std::string reason = why_no_terminal(); !reason.empty()) GTEST_SKIP() << reason;
    ASSERT_EQ(search({"-q"}).exit_code, 0);
    launch_.environment["TERM"] = "xterm";
    launch_.environment["PAGER"] = "sed 's/^/paged: /'; echo \"LESS is $LESS\"";
  }
  Finished on_terminal(std::vector<std::string> arguments) {
    launch_.output_terminal = true;
    return pgtune(std::move(arguments));
  }
};

TEST_F(PagerTest, ShowAndReportArePagedOnATerminal) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"show"}, {"report"}, {"report", "--roofline"}, {"show", "--json"}}) {
    const Finished result = on_terminal(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("paged: "), HasSubstr("256"), ::testing::EndsWith("LESS is FRX\r\n")));
  }
}

TEST_F(PagerTest, WhatIsPipedIsNot) {
  EXPECT_THAT(pgtune({"show"}).out, AllOf(HasSubstr("256x256x256"), Not(HasSubstr("paged"))));
}

TEST_F(PagerTest, TheUserDecides) {
  launch_.environment["LESS"] = "S";
  EXPECT_THAT(on_terminal({"show"}).out, HasSubstr("LESS is S\r\n"));
  for (const char* none : {"", "cat"}) {
    launch_.environment["PAGER"] = none;
    EXPECT_THAT(on_terminal({"show"}).out, AllOf(HasSubstr("256x256x256"), Not(HasSubstr("LESS is"))));
  }
  launch_.environment["PAGER"] = "echo paged";
  launch_.environment["TERM"] = "dumb";
  EXPECT_THAT(on_terminal({"show"}).out, AllOf(HasSubstr("256x256x256"), Not(HasSubstr("paged"))));
}

TEST_F(PagerTest, AReaderThatLeavesIsNoFailure) {
  launch_.environment["PAGER"] = "true";
  EXPECT_EQ(on_terminal({"show"}).exit_code, 0);
}

TEST_F(PagerTest, WithNothingToReadThereIsNone) {
  const Finished result = on_terminal({"show", "--on", "none"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, Not(HasSubstr("LESS is")));
  EXPECT_THAT(result.err, HasSubstr("leave out a filter"));
}

TEST_F(PagerTest, CtrlCIsThePagers) {
  launch_.environment["PAGER"] = "while read -r line; do :; done; : >'" + path("read") + "'; until [ -e '" +
                                 path("go") + "' ]; do sleep 0.01; done; echo over";
  launch_.output_terminal = true;
  launch_.arguments = {"show"};
  Process process(launch_);
  await([this] { return std::filesystem::exists(path("read")); });
  process.signal(SIGINT);
  write("go", "");
  const Finished result = process.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("over"));
}

}  // namespace
}  // namespace pgtune::tool::test
