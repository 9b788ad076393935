// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/user_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class UserConfigTest : public ::testing::Test {
 protected:
  [[nodiscard]] UserConfig load(const std::string& text) const {
    std::ofstream(file_) << text;
    return UserConfig::load(file_, [](const char* name) -> std::optional<std::string> {
      return name == std::string("HOME") ? std::optional<std::string>("/home/user") : std::nullopt;
    });
  }
  /// The usage error of a file; every one names the file.
  [[nodiscard]] std::string error(const std::string& text) const {
    try {
      static_cast<void>(load(text));
    } catch (const CommandError& problem) {
      EXPECT_EQ(problem.kind(), ErrorKind::kUsage);
      EXPECT_THAT(problem.what(), HasSubstr("configuration " + file_.string()));
      return problem.what();
    }
    return "no error";
  }

  const support::ScratchFolder folder_;
  const std::filesystem::path file_ = folder_ / "config.json";
};

TEST_F(UserConfigTest, MissingFileIsEmpty) {
  const UserConfig config = UserConfig::load("/nonexistent/pgtune/config.json", process_environment);
  EXPECT_FALSE(config.lock_clocks || config.regime || config.l2 || config.database || config.jobs || config.strategy);
}

TEST_F(UserConfigTest, EveryKey) {
  const UserConfig config = load(R"({"lock_clocks": 1500, "regime": "burst", "l2": "warm", "database": "/data/a.db",
                                     "jobs": 8, "strategy": "random"})");
  EXPECT_EQ(config.lock_clocks, LockRequest{1500});
  EXPECT_EQ(config.regime, "burst");
  EXPECT_EQ(config.l2, "warm");
  EXPECT_EQ(config.database, "/data/a.db");
  EXPECT_EQ(config.jobs, 8);
  EXPECT_EQ(config.strategy, "random");
}

TEST_F(UserConfigTest, LockClocksIsAWishOrAClock) {
  EXPECT_EQ(load(R"({"lock_clocks": true})").lock_clocks, LockRequest{});
  EXPECT_FALSE(load(R"({"lock_clocks": false})").lock_clocks);
}

TEST_F(UserConfigTest, CommentsAndTheHomeFolder) {
  EXPECT_EQ(load("// mine\n{\"database\": \"~/tune/a.db\" /* here */}").database, "/home/user/tune/a.db");
}

TEST_F(UserConfigTest, UnknownKeyHasASuggestion) {
  EXPECT_THAT(error(R"({"lock_clock": true})"),
              AllOf(HasSubstr("unknown key \"lock_clock\"; did you mean 'lock_clocks'? "),
                    HasSubstr("The keys are lock_clocks, regime, l2, database, jobs, strategy.")));
  EXPECT_THAT(error(R"({"verbosity": 3})"), HasSubstr("unknown key \"verbosity\". The keys are"));
}

TEST_F(UserConfigTest, WrongValuesSayWhatIsAllowed) {
  EXPECT_THAT(error(R"({"lock_clocks": "yes"})"),
              HasSubstr("\"lock_clocks\" is \"yes\". It must be true, false or a clock in MHz."));
  EXPECT_THAT(error(R"({"lock_clocks": 0})"), HasSubstr("\"lock_clocks\" is 0."));
  EXPECT_THAT(error(R"({"lock_clocks": 1500.5})"), HasSubstr("\"lock_clocks\" is 1500.5."));
  EXPECT_THAT(error(R"({"regime": "sustain"})"), HasSubstr("\"regime\" is \"sustain\". It must be \"sustained\" or"));
  EXPECT_THAT(error(R"({"l2": true})"), HasSubstr("\"l2\" is true. It must be \"rotated\" or \"warm\"."));
  EXPECT_THAT(error(R"({"database": "results.db"})"), HasSubstr("It must be an absolute path"));
  EXPECT_THAT(error(R"({"database": 5})"), HasSubstr("It must be an absolute path"));
  EXPECT_THAT(error(R"({"jobs": 0})"), HasSubstr("\"jobs\" is 0."));
  EXPECT_THAT(error(R"({"jobs": 18446744073709551615})"), HasSubstr("\"jobs\" is 18446744073709551615."));
}

TEST_F(UserConfigTest, BadJsonNamesTheLine) {
  EXPECT_THAT(error("{\n  \"jobs\": 4,\n  oops\n}"), HasSubstr("no JSON from line 3 on"));
  EXPECT_THAT(error(""), HasSubstr("no JSON from line 1 on"));
  EXPECT_THAT(error("[1]"), HasSubstr("one JSON object"));
  EXPECT_THAT(error("{\"jobs\": 1e999}"), HasSubstr("number overflow"));
}

TEST_F(UserConfigTest, HugeAndDeeplyNestedFilesAreRefused) {
  EXPECT_THAT(error(std::string(1 << 17, ' ')), HasSubstr("larger than 64 KiB"));
  const std::string deep = std::string(30000, '[') + std::string(30000, ']');
  EXPECT_THAT(error("{\"jobs\": " + deep + "}"), HasSubstr("\"jobs\" is array."));
  try {
    static_cast<void>(UserConfig::load("/dev/zero", process_environment));  // never ends
    FAIL() << "no error";
  } catch (const CommandError& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("larger than 64 KiB"));
  }
}

TEST_F(UserConfigTest, AFileThatCannotBeReadIsNoEmptyConfiguration) {
  try {
    static_cast<void>(UserConfig::load(folder_.path(), process_environment));
    FAIL() << "no error";
  } catch (const CommandError& problem) {
    EXPECT_EQ(problem.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(problem.what(), HasSubstr("cannot read configuration"));
  }
}

}  // namespace
}  // namespace pgtune::tool
