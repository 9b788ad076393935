// SPDX-License-Identifier: MIT
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class SimulateCommandTest : public CliTest {
 protected:
  Finished simulate(std::vector<std::string> words) {
    words.insert(words.begin(), {"simulate", "--from", PGTUNE_SOURCE_DIR "/recordings/h200-f32.db.zst", "--strategy",
                                 "guided,random", "--budget", "16,8", "--repeats", "3"});
    return pgtune(words);
  }
};

TEST_F(SimulateCommandTest, TextSaysWhatTheFiguresAreWorth) {
  const Finished result = simulate({"--per-problem"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("40 tables"), HasSubstr("strategy"), HasSubstr("\nguided"),
                    HasSubstr("A recording holds what its search tried"), HasSubstr("\n4096x4096x4096 f32 tn")));
}

TEST_F(SimulateCommandTest, JsonAndCsvHoldEveryTableAndRepeatByTheSeed) {
  const Finished once = simulate({"--json"}), again = simulate({"--json"}), other = simulate({"--json", "--seed", "9"});
  ASSERT_EQ(once.exit_code, 0) << once.err;
  EXPECT_EQ(once.out, again.out);
  EXPECT_NE(once.out, other.out);
  const json object = json::parse(once.out);
  EXPECT_EQ(object.at("all").size(), 4U);
  EXPECT_EQ(object.at("problems").size(), 4U * 40);
  for (const json& row : object.at("problems")) {
    EXPECT_GE(row.at("median").get<double>(), 0);
    EXPECT_LE(row.at("median"), row.at("p90"));
    EXPECT_LE(row.at("p90"), row.at("worst"));
    EXPECT_GE(row.at("rows"), 2 * row.at("budget").get<int>());
  }
  const Finished csv = simulate({"--csv"});
  EXPECT_THAT(csv.out, ::testing::StartsWith("strategy,budget,problem,device,rows,tables,median,p90,mean,worst,"
                                             "tried_median,tried_p90\n"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 4 + 4 * 40);
}

TEST_F(SimulateCommandTest, WrongInputIsRefused) {
  for (const auto& [option, value] :
       {std::pair{"--strategy", "guided,best"}, std::pair{"--budget", "8,,16"}, std::pair{"--budget", "0"},
        std::pair{"--repeats", "none"}, std::pair{"--leave-out", "nobody"}, std::pair{"--margin", "0"},
        std::pair{"--margin", "some"}}) {
    const Finished result = pgtune({"simulate", option, value});
    EXPECT_EQ(result.exit_code, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(option));
  }
  EXPECT_EQ(pgtune({"simulate", "--from", path("none.db")}).exit_code, 4);
  const Finished idle = pgtune({"simulate", "--learn-from", path("table.json")});
  EXPECT_EQ(idle.exit_code, 2);
  EXPECT_THAT(idle.err, HasSubstr("by --table"));
}

TEST_F(SimulateCommandTest, RunsOnTablesOfOtherTools) {
  json cache = {{"kernel_name", "gemm\x1b[2J"}, {"tune_params_keys", {"BX"}}, {"cache", json::object()}};
  for (int i = 1; i <= 20; ++i) cache["cache"][std::to_string(i)] = {{"BX", i}, {"time", 1.0 + i}};
  write("cache.json", cache.dump());
  const auto found = pgtune(
      {"simulate", "--table", path("cache.json"), "--strategy", "exhaustive,random", "--budget", "1,8", "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const auto document = json::parse(found.out);
  ASSERT_EQ(document.at("problems").size(), 4U);
  EXPECT_EQ(document.at("problems")[0].at("rows"), 20);
  EXPECT_EQ(document.at("problems")[0].at("problem"), nullptr);
  EXPECT_EQ(document.at("bias"), nullptr);
  const auto text = pgtune({"simulate", "--table", path("cache.json"), "--strategy", "random", "--per-problem"});
  EXPECT_THAT(text.out, ::testing::Not(HasSubstr("\x1b"))) << "a stranger's text does not reach the terminal as it is";
  EXPECT_EQ(pgtune({"simulate", "--table", path("none.json")}).exit_code, 2);
  const Finished folder = pgtune({"simulate", "--table", path("")});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.err, HasSubstr("cannot be read"));

  const auto half = [&](const char* budgets, const char* form) {
    return pgtune({"simulate", "--table", path("cache.json"), "--strategy", "random", "--budget", budgets, form,
                   "--repeats", "1"});
  };
  const json too_large = json::parse(half("1,16", "--json").out).at("all")[1];
  EXPECT_EQ(too_large.at("tables"), 0);
  EXPECT_TRUE(too_large.at("median").is_null()) << "nothing was simulated";
  EXPECT_THAT(half("1,16", "--csv").out, HasSubstr("\nrandom,16,,,,0,,,,,16,16\n"));
  EXPECT_EQ(half("16", "--csv").exit_code, 1);
}

TEST_F(SimulateCommandTest, ModelLearnsFromRowsOfOtherTables) {
  const auto cache = [](const char* device, int best) {
    json out = {
        {"kernel_name", "k"}, {"device_name", device}, {"tune_params_keys", {"BX", "BY"}}, {"cache", json::object()}};
    for (int x = 1; x <= 16; ++x) {
      for (int y = 1; y <= 8; ++y)
        out["cache"][std::to_string(x) + ',' + std::to_string(y)] = {
            {"BX", x}, {"BY", y}, {"time", 1.0 + std::abs(x - best) + y}};
    }
    return out.dump();
  };
  write("old.json", cache("old GPU", 11));
  write("new.json", cache("new GPU", 12));
  const auto loss = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"simulate", "--table", path("new.json"), "--strategy", "model",
                                   "--budget", "4",       "--repeats",      "8",          "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished found = pgtune(words);
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return json::parse(found.out).at("all")[0].at("mean").get<double>();
  };
  EXPECT_LT(loss({"--learn-from", path("old.json"), "--learn-rows", "64"}), loss({}) / 2);
  EXPECT_EQ(pgtune({"simulate", "--table", path("new.json"), "--learn-from", path("none.json")}).exit_code, 2);

  // If the device is left out, tables of the same kernel on other devices are learnt from in the same way.
  const auto of_new = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"simulate", "--table", path("new.json"), "--strategy", "model", "--budget", "4",
                               "--repeats", "8", "--learn-rows", "64", "--json"});
    const Finished found = pgtune(more);
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return json::parse(found.out);
  };
  const json left_out = of_new({"--table", path("old.json"), "--leave-out", "device"});
  EXPECT_EQ(left_out.at("problems")[0], of_new({"--learn-from", path("old.json")}).at("problems")[0]);
  const auto stop = [&](const char* margin) {
    const json found = of_new({"--table", path("old.json"), "--leave-out", "device", "--margin", margin});
    return found.at("enough").at("all")[0].at("tried_median").get<double>();
  };
  EXPECT_LT(stop("50"), stop("0.1"));
  EXPECT_EQ(left_out.at("taught_by"), json({{"tables", {1, 1}}, {"devices", {1, 1}}, {"untaught", 0}}));

  json other = json::parse(cache("third GPU", 3));
  other["kernel_name"] = "another";
  write("other.json", other.dump());
  const Finished text =
      pgtune({"simulate", "--table", path("new.json"), "--table", path("old.json"), "--table", path("other.json"),
              "--strategy", "model", "--budget", "4", "--repeats", "1", "--leave-out", "device"});
  EXPECT_THAT(text.out, HasSubstr("model was taught by 1 table of 1 device, none of the same device; on 1 of the 3\n"
                                  "tables by nothing."));
}

TEST_F(SimulateCommandTest, NothingToLearnFromIsSaid) {
  json cache = {{"kernel_name", "k"}, {"device_name", "GPU"}, {"tune_params_keys", {"BX"}}, {"cache", json::object()}};
  for (int i = 1; i <= 20; ++i) cache["cache"][std::to_string(i)] = {{"BX", i}, {"time", 1.0 + i}};
  write("one.json", cache.dump());
  const auto leave_out = [&](const char* option, const std::string& file, const char* what) {
    return pgtune(
        {"simulate", option, file, "--strategy", "model", "--budget", "4", "--repeats", "1", "--leave-out", what});
  };
  const std::string recording = PGTUNE_SOURCE_DIR "/recordings/h200-bf16-settled.db.zst";
  for (const Finished& found :
       {leave_out("--table", path("one.json"), "device"), leave_out("--from", recording, "device")}) {
    EXPECT_EQ(found.exit_code, 1);
    EXPECT_EQ(found.out, "");
    EXPECT_THAT(found.err, HasSubstr("--leave-out device leaves nothing to learn from"));
  }
  for (const char* const what : {"problem", "dtype", "template"}) {
    const Finished found = leave_out("--table", path("one.json"), what);
    EXPECT_EQ(found.exit_code, 2) << what;
    EXPECT_THAT(found.err, HasSubstr("needs tables of pgtune"));
  }
}

TEST_F(SimulateCommandTest, SaysWhatModelExpectedToHaveMissedAndWhatItHad) {
  const Finished found =
      pgtune({"simulate", "--from", PGTUNE_SOURCE_DIR "/recordings/h200-bf16-settled.db.zst", "--strategy",
              "model,random", "--budget", "8", "--repeats", "2", "--leave-out", "problem", "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const json simulation = json::parse(found.out), steps = simulation.at("calibration");
  ASSERT_FALSE(steps.empty());
  for (const json& step : steps) {
    EXPECT_EQ(step.at("strategy"), "model");
    EXPECT_GE(step.at("expected").get<double>(), step.at("from").get<double>());
    EXPECT_GE(step.at("missed").get<double>(), 0);
    EXPECT_GT(step.at("cases").get<int>(), 0);
  }
  EXPECT_EQ(simulation.at("taught_by").at("untaught"), 0);
  EXPECT_EQ(simulation.at("taught_by").at("devices"), json({1, 1}));
}

TEST_F(SimulateCommandTest, ShowsWhereASearchHasEnough) {
  const auto simulated = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"simulate", "--from", PGTUNE_SOURCE_DIR "/recordings/h200-bf16-settled.db.zst", "--strategy",
                 "model,random", "--budget", "8", "--repeats", "2", "--leave-out", "problem"});
    const Finished found = pgtune(more);
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return found.out;
  };
  const json near = json::parse(simulated({"--json"}));
  EXPECT_EQ(near.at("margin"), 0.003);
  ASSERT_EQ(near.at("enough").at("all").size(), 1U) << "random does not say what it expects";
  const json& all = near.at("enough").at("all")[0];
  EXPECT_EQ(all.at("strategy"), "model");
  EXPECT_GE(all.at("tried_median").get<double>(), 3);
  EXPECT_LE(all.at("tried_median"), all.at("tried_p90"));
  EXPECT_LE(all.at("median"), all.at("p90"));
  EXPECT_EQ(near.at("enough").at("problems").size(), all.at("tables"));

  EXPECT_THAT(simulated({"--per-problem"}), AllOf(HasSubstr("enough after"), HasSubstr("margin of ties of 0.3 %")));
  EXPECT_THAT(simulated({"--csv"}), ::testing::ContainsRegex("\nmodel,enough,,,,[0-9]+,[^\n]*\n"));
}

TEST_F(SimulateCommandTest, TakesTheUnbiasedTablesOfThisBuild) {
  const Finished found = pgtune({"simulate", "--strategy", "guided", "--budget", "16", "--repeats", "1", "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const json simulation = json::parse(found.out);
  EXPECT_GE(simulation.at("problems").size(), 28U);
  for (const json& problem : simulation.at("problems")) EXPECT_GE(problem.at("rows").get<int>(), 250);
  EXPECT_THAT(simulation.at("bias").get<std::string>(), ::testing::HasSubstr("drawn at random"));
}

}  // namespace
}  // namespace pgtune::tool::test
