// SPDX-License-Identifier: MIT
// How a search measures: regime, data, clocks, energy, and what it says of them.
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class MeasuringTest : public CliTest {
 protected:
  json searched(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = more;
    arguments.emplace_back("--json");
    const Finished result = search(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
};

TEST_F(MeasuringTest, TheFirstLinesSayHowLongItTakesAndThatClocksAreObservedAndHowToLockThem) {
  const Finished result = search();
  EXPECT_THAT(result.err,
              ::testing::ContainsRegex("^time      about [0-9]+s in all: until all is tried\nclocks    observed, "
                                       "not locked; --lock-clocks locks them .needs root.\n"));
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("regime ")));
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished shipped = pgtune({"search", "--shape", "512x512x512", "--dry-run"});
  EXPECT_THAT(shipped.err, HasSubstr("No GPU here: taking NVIDIA H200, sm_90a, of the recordings."));
}

TEST_F(MeasuringTest, VerboseTellsWhatTheVerdictRestsOn) {
  const Finished result = search({"-v"});
  EXPECT_THAT(result.err, HasSubstr("regime    sustained, L2 rotated, uniform data (seed 20231107)"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nverdict   "), HasSubstr("times the speed of cuBLASLt's best"),
                                HasSubstr("\nclocks    1700 MHz, cuBLASLt's best at 1700 MHz"),
                                HasSubstr("\nnoise     baseline against itself +-"), HasSubstr(" % is a tie\n"),
                                HasSubstr("\nregime    sustained, L2 rotated, uniform data, clocks observed\n"),
                                HasSubstr("\nfinal     "), HasSubstr("GPU time: screen")));
  expect_80_columns(result.out);
  const json object = searched({});
  EXPECT_EQ(object.at("conditions").at("key"), "sustained rotated uniform:20231107 observed");
  EXPECT_TRUE(object.at("conditions").at("locked_sm_clock_hz").is_null());
  EXPECT_GE(object.at("noise").at("rounds").get<int>(), 6);
  EXPECT_GE(object.at("noise").at("margin").get<double>(), 0.003);
  EXPECT_EQ(object.at("best").at("sm_clock_hz"), 1.7e9);
  EXPECT_THAT(object.at("best").at("verdict").get<std::string>(), ::testing::AnyOf("faster", "tie", "slower"));
  EXPECT_EQ(object.at("ranking").at(0).at("time_s"), object.at("best").at("time_s"));
  EXPECT_EQ(object.at("race").at("finalists"), object.at("ranking").size());
  EXPECT_EQ(object.at("objective"), "time");
  EXPECT_EQ(object.at("strategy"), "guided");
  EXPECT_GT(object.at("stages").at("final_s").get<double>(), 0);
}

TEST_F(MeasuringTest, OtherConditionsAreOtherResults) {
  const json sustained = searched({});
  const json burst = searched({"--regime", "burst", "--l2", "warm", "--data", "normal", "--data-seed", "7"});
  EXPECT_EQ(burst.at("from_database"), false);
  EXPECT_EQ(burst.at("counts").at("measured"), 10);
  EXPECT_EQ(burst.at("conditions").at("key"), "burst warm normal:7 observed");
  EXPECT_THAT(read("requests.log"), HasSubstr("burst warm normal:7 observed"));
  EXPECT_EQ(searched({"--regime", "burst", "--l2", "warm", "--data", "normal", "--data-seed", "7"}).at("from_database"),
            true);
  const json dry = searched({"--regime", "burst", "--dry-run"});
  EXPECT_EQ(dry.at("counts").at("known"), 0);
  EXPECT_EQ(dry.at("conditions").at("regime"), "burst");
  const Finished shown = pgtune({"show"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("  sustained, L2 rotated, uniform data, clocks observed\n"),
                               HasSubstr("  burst, L2 warm, normal data (seed 7), clocks observed\n")));
  const json results = json::parse(pgtune({"report", "--json"}).out).at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_NE(results.at(0).at("conditions").at("key"), results.at(1).at("conditions").at("key"));
}

TEST_F(MeasuringTest, EasyDataAreWarnedOfAlsoWhenQuiet) {
  for (const char* data : {"integers", "zeros"}) {
    const Finished result = search({"--data", data, "--quiet"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(std::string("warning: with --data ") + data), HasSubstr("less power"),
                                  HasSubstr("wrong result may go unnoticed")));
  }
  EXPECT_EQ(search({"--data", "normal", "--quiet"}).err, "");
}

TEST_F(MeasuringTest, WithoutNvmlItIsSaidOnceWhatIsNotKnown) {
  EXPECT_THAT(search().err, Not(HasSubstr("unknown   ")));
  launch_.environment["PGTUNE_FAKE_POWER_W"] = "0";
  const std::string err = search({"--db", path("without.db")}).err;
  EXPECT_THAT(err, HasSubstr("\nunknown   power limit, temperature, throttling, other programs on the GPU,"));
  EXPECT_THAT(err, HasSubstr("NVML does not"));
  EXPECT_EQ(err.find("unknown   "), err.rfind("unknown   "));
}

TEST_F(MeasuringTest, LockedClocksHoldForTheSearchAndAreGivenBack) {
  const Finished result = search({"--lock-clocks=1485", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("\nclocks    locked at 1485 MHz\ndevice "));
  EXPECT_EQ(json::parse(result.out).at("conditions").at("locked_sm_clock_hz"), 1.485e9);
  const std::string log = read("requests.log");
  const auto at = [&](const std::string& text) { return log.find(text); };
  EXPECT_LT(at("guard lock 1485"), at("measure prepare"));
  EXPECT_GT(at("guard release"), log.rfind("measure round"));
  EXPECT_NE(at("locked:1485MHz"), std::string::npos);
  EXPECT_EQ(requests("lock"), 1);
  EXPECT_EQ(requests("release"), 1);
  // Without a number the worker chooses.
  EXPECT_THAT(search({"--lock-clocks", "--db", path("other.db")}).err, HasSubstr("\nclocks    locked at 1500 MHz\n"));
}

TEST_F(MeasuringTest, ALockThatIsRefusedMeasuresNothing) {
  launch_.environment["PGTUNE_FAKE"] = "lock||error";
  const Finished result = search({"--lock-clocks"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("no permission; sudo nvidia-smi"));
  EXPECT_EQ(requests("prepare"), 0);
}

TEST_F(MeasuringTest, ClocksThatAreNotGivenBackAreTold) {
  launch_.environment["PGTUNE_FAKE"] = "release||error";
  const Finished result = search({"--lock-clocks"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, HasSubstr("\ncuBLASLt  best "));
  EXPECT_THAT(result.err, HasSubstr("pgtune: fake: no permission"));
}

TEST_F(MeasuringTest, ASearchThatFailsGivesTheClocksBack) {
  launch_.environment["PGTUNE_FAKE"] = "prepare||error";
  const Finished result = search({"--lock-clocks=1485"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("this machine cannot do it"));
  EXPECT_EQ(requests("release"), 1);
}

TEST_F(MeasuringTest, EndingTheSearchInAnyWayGivesTheClocksBack) {
  const std::map<int, int> codes{{SIGINT, 130}, {SIGTERM, 143}, {SIGKILL, 137}};
  for (const auto& [number, code] : codes) {
    std::filesystem::remove(path("requests.log"));
    std::filesystem::remove_all(path(".local"));
    launch_.environment["PGTUNE_FAKE"] = "trial||slow";
    launch_.arguments = search_arguments(path("tiny.json"), {"--lock-clocks"});
    Process process(launch_);
    const auto await = [&](const char* operation) {
      for (int i = 0; i < 6000 && requests(operation) == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_GT(requests(operation), 0) << operation;
    };
    await("trial");
    process.signal(number);
    const Finished result = process.wait();
    EXPECT_EQ(result.exit_code, code) << result.err;
    await("release");
    EXPECT_EQ(requests("release"), 1);
    EXPECT_THAT(result.err, Not(HasSubstr("guard")));
  }
}

TEST_F(MeasuringTest, ARecordingHasNoClocksToLock) {
  ASSERT_EQ(search().exit_code, 0);
  const std::vector<std::string> recorded{"--device", "recording:" + database(), "--db", path("recorded.db")};
  std::vector<std::string> locked = recorded;
  locked.emplace_back("--lock-clocks");
  const Finished refused = search(locked);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("--lock-clocks"), HasSubstr("--device")));
  configure(R"({"lock_clocks": true, "strategy": "guided"})");
  const Finished result = search(recorded);  // a default is no wish
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(requests("lock"), 0);
}

TEST_F(MeasuringTest, TheConfigurationFileHasDefaultsThatOptionsBeat) {
  launch_.program = PGTUNE_FEW_RECORDINGS;
  configure(R"({"lock_clocks": 1400, "regime": "burst", "l2": "warm", "jobs": 1, "database": ")" + path("mine.db") +
            "\"}");
  const json configured = searched({});
  EXPECT_EQ(configured.at("conditions").at("key"), "burst warm uniform:20231107 locked:1400MHz");
  EXPECT_EQ(configured.at("strategy"), "model") << "of which the file says nothing";
  EXPECT_TRUE(std::filesystem::exists(path("mine.db")));
  EXPECT_FALSE(std::filesystem::exists(database()));
  const json given =
      searched({"--no-lock-clocks", "--regime", "sustained", "--l2", "rotated", "--strategy", "exhaustive"});
  EXPECT_EQ(given.at("strategy"), "exhaustive");
  EXPECT_EQ(given.at("conditions").at("key"), "sustained rotated uniform:20231107 observed");
  launch_.environment["PGTUNE_DB"] = path("environment.db");
  (void)searched({"--lock-clocks=1300", "--strategy", "guided"});
  EXPECT_TRUE(std::filesystem::exists(path("environment.db")));
  (void)searched({"--db", path("option.db"), "--no-lock-clocks", "--strategy", "guided"});
  EXPECT_TRUE(std::filesystem::exists(path("option.db")));
}

TEST_F(MeasuringTest, PowerMeasuresWinnerAndBaseline) {
  const Finished text = search({"--power", "-v"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("\nenergy "), HasSubstr("per launch"), HasSubstr("GFLOP/J"),
                              HasSubstr("energy per launch"), HasSubstr("\nidle      80 W")));
  expect_80_columns(text.out);
  const json object = searched({"--power"});
  EXPECT_EQ(object.at("from_database"), true);
  const json& winner = object.at("ranking").at(0).at("energy");
  const json& baseline = object.at("baseline").at("best").at("energy");
  EXPECT_GT(winner.at("windows").get<int>(), 0);
  EXPECT_NEAR(winner.at("energy_per_gemm_j").get<double>(),
              winner.at("power_w").get<double>() * winner.at("time_s").get<double>(), 1e-9);
  EXPECT_GT(baseline.at("power_w").get<double>(), 0);
  EXPECT_NEAR(object.at("idle_power_w").get<double>(), 80, 1e-6);
}

TEST_F(MeasuringTest, AStoredAnswerWithoutEnergyIsNoAnswerToPower) {
  ASSERT_EQ(search().exit_code, 0);
  const int trials = requests("trial");
  const json object = searched({"--power"});
  EXPECT_EQ(object.at("from_database"), false);
  EXPECT_FALSE(object.at("ranking").at(0).at("energy").is_null());
  EXPECT_EQ(requests("trial"), trials);  // only rounds and windows are new
}

TEST_F(MeasuringTest, TheObjectiveChoosesByEnergy) {
  const json object = searched({"--objective", "energy", "--strategy", "random"});
  EXPECT_EQ(object.at("strategy"), "random");
  EXPECT_EQ(object.at("objective"), "energy");
  const json& ranking = object.at("ranking");
  const double best_j = ranking.at(0).at("energy").at("energy_per_gemm_range_j").at(0);
  bool pareto = false;
  for (const json& row : ranking) {
    EXPECT_LE(best_j, row.at("energy").at("energy_per_gemm_range_j").at(1).get<double>());
    pareto = pareto || row.at("pareto").get<bool>();
  }
  EXPECT_TRUE(pareto);
  EXPECT_THAT(search({"--objective", "energy", "-v"}).out,
              AllOf(HasSubstr("\nobjective energy: "), HasSubstr("Pareto")));
}

TEST_F(MeasuringTest, WithoutAnEnergyCounterTheTimesStand) {
  launch_.environment["PGTUNE_FAKE"] = "energy||error";
  const Finished result = search({"--power", "-v"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nverdict   "), HasSubstr("\nnote      "), HasSubstr("energy was not")));
}

TEST_F(MeasuringTest, AnotherProcessOnTheGpuIsWarnedOfAndStaysWithTheResult) {
  EXPECT_THAT(search({"--json"}).out, Not(HasSubstr("computed on this GPU")));
  write("others", "1 3221225472 python3\n");
  launch_.environment["PGTUNE_FAKE_OTHERS"] = path("others");
  const Finished shared = search({"--json", "--force"});
  EXPECT_EQ(shared.exit_code, 0) << shared.err;
  EXPECT_THAT(shared.err, HasSubstr("GPU 0 is not ours alone: 1 (python3, 3072 MiB) computes there too"));
  const std::string note = "other processes computed on this GPU: 1 (python3, 3072 MiB) from start to end.";
  EXPECT_THAT(shared.out, HasSubstr(note));
  std::filesystem::remove(path("others"));
  EXPECT_THAT(search({"--json"}).out, HasSubstr(note)) << "in the database";
}

TEST_F(MeasuringTest, ASpoiltRoundIsVoidRepeatedAndTold) {
  launch_.environment["PGTUNE_FAKE"] = "round|final 4 |slow_clock_once";  // a jump after three rounds
  const json object = searched({});
  EXPECT_EQ(object.at("race").at("voided_rounds"), 1);
  EXPECT_THAT(object.at("notes").dump(), HasSubstr("a clock jumped"));
  EXPECT_THAT(search({"-v"}).out, AllOf(HasSubstr("1 round was void and repeated"), HasSubstr("\nnote      ")));
}

}  // namespace
}  // namespace pgtune::tool::test
