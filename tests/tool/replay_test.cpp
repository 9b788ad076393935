// SPDX-License-Identifier: MIT
// A search on a recording: made by one search, replayed by another.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class ReplayTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Finished recorded = search({"--db", path("recording.db"), "--json"});
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    recorded_ = json::parse(recorded.out);
    launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  }
  Finished replay(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--device", "replay:" + path("recording.db")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return search(arguments);
  }
  json recorded_;
};

TEST_F(ReplayTest, FindsTheRecordedWinnerAndSaysThatItIsAReplay) {
  const Finished result = replay({"--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json replayed = json::parse(result.out);
  EXPECT_EQ(replayed.at("best").at("parameters"), recorded_.at("best").at("parameters"));
  EXPECT_DOUBLE_EQ(replayed.at("best").at("time_s").get<double>(), recorded_.at("best").at("time_s").get<double>());
  EXPECT_EQ(replayed.at("source"), "replay");
  EXPECT_THAT(result.err, AllOf(HasSubstr("replay: stored measurements"), HasSubstr("recording.db")));
  // Stored as a replay: the answer from the database says so too.
  EXPECT_EQ(json::parse(replay({"--json"}).out).at("source"), "replay");
  EXPECT_THAT(replay().out, HasSubstr("replayed from"));
}

TEST_F(ReplayTest, FloorRaceFinalAndEnergyAreTheRecordedOnes) {
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  const Finished recorded = search({"--db", path("recording.db"), "--force", "--power", "--json"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished replayed = replay({"--power", "--json"});
  ASSERT_EQ(replayed.exit_code, 0) << replayed.err;
  json expected = json::parse(recorded.out), found = json::parse(replayed.out);
  EXPECT_TRUE(expected.at("idle_power_w").is_number());
  for (json* const result : {&expected, &found}) {
    result->erase("source");
    result->erase("elapsed_s");
  }
  EXPECT_EQ(found, expected);
}

TEST_F(ReplayTest, AnotherVersionOfTheTemplateIsRefused) {
  write("tiny.cu", "// changed\n");
  const Finished result = replay();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("another version of template 'tiny'"), HasSubstr("Search on a GPU")));
}

TEST_F(ReplayTest, AProblemThatWasNotRecordedNamesThoseThatWere) {
  const Finished result = pgtune(
      {"search", "--template", path("tiny.json"), "--shape", "64x64x64", "--device", "replay:" + path("recording.db")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("does not hold 64x64x64"), HasSubstr("256x256x256 f32 nn")));
}

TEST_F(ReplayTest, OtherConditionsThanTheRecordedAreRefused) {
  const Finished result = replay({"--regime", "burst"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'burst rotated uniform:20231107 observed'"),
                                HasSubstr("'sustained rotated uniform:20231107 observed'"), HasSubstr("--regime")));
}

TEST_F(ReplayTest, ConditionsRecordedBesideOthersAreFound) {
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  ASSERT_EQ(search({"--db", path("recording.db"), "--regime", "burst"}).exit_code, 0);
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  EXPECT_EQ(replay({"--regime", "burst"}).exit_code, 0);
  EXPECT_EQ(replay().exit_code, 0);
}

TEST_F(ReplayTest, AReplayIsNoRecording) {
  ASSERT_EQ(replay({"--db", path("replayed.db")}).exit_code, 0);
  const Finished result = search({"--device", "replay:" + path("replayed.db")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("holds no finished search from a GPU"));
}

TEST_F(ReplayTest, MissingFile) {
  const Finished result = search({"--device", "replay:" + path("missing.db")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("missing.db"));
}

}  // namespace
}  // namespace pgtune::tool::test
