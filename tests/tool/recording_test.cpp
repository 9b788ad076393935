// SPDX-License-Identifier: MIT
// The recording that pgtune ships: it fits the shipped templates, and a search on it ends as the recorded search did.
#include <map>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class RecordingTest : public CliTest {
 protected:
  static std::map<std::string, json> by_problem(const json& results) {
    std::map<std::string, json> found;
    for (const json& result : results) found[result.at("problem").dump()] = result;
    return found;
  }
};

TEST_F(RecordingTest, EveryRecordedProblemHasItsRecordedWinner) {
  const Finished stored = pgtune({"show", "--json", "--db", PGTUNE_SOURCE_DIR "/recordings/h200.db"});
  ASSERT_EQ(stored.exit_code, 0) << stored.err;
  const Finished replayed =
      pgtune({"search", "--device", "replay", "--json", "--shapes", PGTUNE_SOURCE_DIR "/configs/shapes/sgemm.txt"});
  ASSERT_EQ(replayed.exit_code, 0) << replayed.err;
  const auto recorded = by_problem(json::parse(stored.out).at("results"));
  const auto found = by_problem(json::parse(replayed.out).at("results"));
  EXPECT_GE(recorded.size(), 30U);
  ASSERT_EQ(found.size(), recorded.size());
  for (const auto& [problem, result] : recorded) {
    SCOPED_TRACE(problem);
    ASSERT_TRUE(found.contains(problem));
    EXPECT_EQ(found.at(problem).at("source"), "replay");
    EXPECT_EQ(found.at(problem).at("best").at("parameters"), result.at("best").at("parameters"));
    EXPECT_DOUBLE_EQ(found.at(problem).at("best").at("time_s").get<double>(),
                     result.at("best").at("time_s").get<double>());
  }
}

TEST_F(RecordingTest, AutoTakesItWhereThereIsNoGpu) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = pgtune({"search", "--shape", "1000x1000x1000", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("source"), "replay");
  EXPECT_THAT(result.err, AllOf(HasSubstr("No GPU"), HasSubstr("replay")));
}

TEST_F(RecordingTest, AProblemItDoesNotHoldIsRefusedWithThoseItDoes) {
  const Finished result = pgtune({"search", "--shape", "777x777x777", "--device", "replay"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("777x777x777"), HasSubstr("1000x1000x1000")));
}

}  // namespace
}  // namespace pgtune::tool::test
