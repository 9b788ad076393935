// SPDX-License-Identifier: MIT
// pgtune report --power, --roofline and --csv on the results of searches on the fake worker.
#include <fmt/format.h>
#include <algorithm>
#include <set>

#include <algorithm>
#include <cmath>
#include <map>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

using ReportColour = CliTest;

TEST_F(ReportColour, RowsHaveTheColourOfTheirVerdict) {
  const std::string database = std::string(PGTUNE_SOURCE_DIR) + "/recordings/h200-bf16.db.zst";
  const Finished coloured = pgtune({"report", "--db", database, "--color", "always"});
  EXPECT_EQ(coloured.exit_code, 0) << coloured.err;
  EXPECT_THAT(coloured.out,
              AllOf(HasSubstr("\033[1mproblem "), ::testing::ContainsRegex("\033.32m512x512x512 .*faster\033"),
                    ::testing::ContainsRegex("\033.31m1000x1000x1000 .*slower\033"),
                    ::testing::ContainsRegex("\033.33m128x7168x8192 .*unclear\033"),
                    ::testing::ContainsRegex("\n128x28672x4096 .*tie\n")));
  EXPECT_EQ(pgtune({"report", "--db", database}).out.find('\033'), std::string::npos);
}

class ReportsTest : public CliTest {
 protected:
  json results(const std::vector<std::string>& arguments) {
    const Finished result = pgtune(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out).at("results");
  }
  /// Cells by column; no cell of these tables holds a newline.
  std::vector<std::map<std::string, std::string>> csv(const std::vector<std::string>& arguments) {
    const Finished result = pgtune(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::istringstream lines(result.out);
    std::string line;
    std::getline(lines, line);
    const auto columns = cells(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(lines, line)) {
      const auto row = cells(line);
      EXPECT_EQ(row.size(), columns.size()) << line;
      rows.emplace_back();
      for (std::size_t c = 0; c < columns.size() && c < row.size(); ++c) rows.back()[columns[c]] = row[c];
    }
    return rows;
  }
  static std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> out{""};
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        out.emplace_back();
      } else {
        out.back() += c;
      }
    }
    return out;
  }
};

TEST_F(ReportsTest, SeveralProblemsHaveAGeometricMean) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  EXPECT_THAT(pgtune({"report"}).out, Not(HasSubstr("geometric mean")));
  ASSERT_EQ(search({"-q", "--shape", "128x128x128"}).exit_code, 0);
  const Finished text = pgtune({"report"});
  EXPECT_THAT(text.out, HasSubstr("f32, 2 problems: geometric mean "));
  expect_80_columns(text.out);
  std::vector<double> percents;
  for (const json& line : results({"report", "--json"})) percents.push_back(line.at("percent_of_best"));
  ASSERT_EQ(percents.size(), 2U);
  EXPECT_THAT(text.out, HasSubstr(fmt::format("mean {:.1f} % of", std::sqrt(percents[0] * percents[1]))));
}

TEST_F(ReportsTest, PowerHasBothSidesAndTheVerdictInWords) {
  ASSERT_EQ(search({"--power", "-q"}).exit_code, 0);
  const Finished text = pgtune({"report", "--power"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(
      text.out,
      AllOf(
          HasSubstr("Fake GPU, sm_90, 132 SMs, 80 GiB, 700 W, driver 580.00.00; sustained, L2\nrotated, uniform data"),
          HasSubstr("256x256x256 f32 nn with tiny"), HasSubstr("\n  winner "), HasSubstr("\n  cuBLASLt best "),
          HasSubstr("GFLOP/J"), HasSubstr("at the same power budget"), HasSubstr("energy per launch"),
          HasSubstr("idle power 80 W"), HasSubstr("not absolute")));
  expect_80_columns(text.out);
  const json line = results({"report", "--power", "--json"}).at(0);
  EXPECT_EQ(line.at("conditions").at("regime"), "sustained");
  EXPECT_GT(line.at("winner").at("flop_per_j").get<double>(), 0);
  EXPECT_EQ(line.at("winner").at("sm_clock_hz"), 1.7e9);
  EXPECT_EQ(line.at("baseline_best").at("power_cap_share"), 0);
  EXPECT_THAT(line.at("summary").get<std::string>(), StartsWith("at the same power budget"));
  const auto rows = csv({"report", "--power", "--csv"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("contender"), "winner");
  EXPECT_EQ(rows[1].at("contender"), "cublaslt_best");
  EXPECT_EQ(rows[0].at("regime"), "sustained");
  EXPECT_EQ(std::stod(rows[0].at("energy_per_gemm_j")), line.at("winner").at("energy_per_gemm_j").get<double>());
}

TEST_F(ReportsTest, EnergiesOfSettledSamplesAloneAreRowsToo) {
  const std::vector<std::string> report{"report", "--power", "--db",
                                        PGTUNE_SOURCE_DIR "/recordings/h200-bf16-settled.db.zst"};
  auto as_csv = report, as_json = report;
  as_csv.push_back("--csv"), as_json.push_back("--json");
  const auto rows = csv(as_csv);
  const json lines = results(as_json);
  const auto settled = std::count_if(lines.begin(), lines.end(), [](const json& line) {
    return line.at("winner").is_null() && !line.at("winner_settled").is_null();
  });
  EXPECT_GT(settled, 0);
  const auto is_settled = [](const auto& row) { return row.at("contender") == "winner_settled"; };
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), is_settled), settled);
}

TEST_F(ReportsTest, ResultsWithoutEnergyNameTheCommandThatMeasuresIt) {
  ASSERT_EQ(search({"--regime", "burst", "-q"}).exit_code, 0);
  const Finished text = pgtune({"report", "--power"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("No energy of 1 of 1 problems was measured."),
                    HasSubstr("pgtune bench --shape 256x256x256 --template FILE.json --regime burst --power\n")));
  EXPECT_TRUE(results({"report", "--power", "--json"}).at(0).at("winner").is_null());
  EXPECT_TRUE(csv({"report", "--power", "--csv"}).empty());
  // What it names does it.
  const Finished bench =
      pgtune({"bench", "--template", path("tiny.json"), "--shape", "256x256x256", "--regime", "burst", "--power"});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_GT(results({"report", "--power", "--json"}).at(0).at("winner").at("power_w").get<double>(), 0);
}

TEST_F(ReportsTest, EnergyOutlastsALaterSearchThatMeasuredNone) {
  ASSERT_EQ(search({"-q", "--power"}).exit_code, 0);
  const json before = results({"report", "--power", "--json"}).at(0).at("winner");
  ASSERT_EQ(search({"-q", "--force"}).exit_code, 0);
  EXPECT_EQ(results({"report", "--power", "--json"}).at(0).at("winner"), before);
}

TEST_F(ReportsTest, ThatCommandNamesABuiltInTemplateWhereNoSearchTakesItUnasked) {
  for (const char* name : {"sgemm_simt", "sgemm_classic"})
    ASSERT_EQ(pgtune({"search", "--template", name, "--shape", "64x64x64", "--variants", "2", "-q"}).exit_code, 0)
        << name;
  std::set<std::string> commands;
  for (const json& row : results({"report", "--power", "--json"})) commands.insert(row.at("measure"));
  EXPECT_THAT(commands, ::testing::ElementsAre("pgtune bench --shape 64x64x64 --power",
                                               "pgtune bench --shape 64x64x64 --template sgemm_classic --power"));
  const std::string text = pgtune({"report", "--power"}).out;
  EXPECT_THAT(text, HasSubstr("No energy of 2 of 2 problems was measured."));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

TEST_F(ReportsTest, SearchesOfOneProblemAreOneLineOfTheFastest) {
  std::vector<double> times_s;
  for (const char* name : {"sgemm_simt", "sgemm_tma"}) {
    const Finished found = pgtune({"search", "--template", name, "--shape", "64x64x64", "--variants", "2", "--json"});
    ASSERT_EQ(found.exit_code, 0) << found.err;
    times_s.push_back(json::parse(found.out).at("best").at("time_s").get<double>());
  }
  ASSERT_NE(times_s[0], times_s[1]);
  EXPECT_EQ(results({"report", "--json"}).size(), 1U);
  const auto rows = csv({"report", "--csv"});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(std::stod(rows[0].at("time_s")), std::min(times_s[0], times_s[1]));
  EXPECT_EQ(results({"report", "--power", "--json"}).size(), 2U) << "either may be the one whose energy was measured";
}

TEST_F(ReportsTest, WithoutAWholeFinalThereIsNoVerdict) {
  launch_.environment["PGTUNE_FAKE"] = "round|final|slow";
  launch_.arguments = search_arguments(path("tiny.json"), {"--json"});
  Process process(launch_);
  await([&] { return read("requests.log").find(" round final 2 ") != std::string::npos; });
  process.signal(SIGINT);
  const Finished found = process.wait();
  ASSERT_EQ(found.exit_code, 130) << found.err;
  ASSERT_FALSE(json::parse(found.out).at("from_final").get<bool>());
  EXPECT_EQ(json::parse(found.out).at("best").at("verdict"), "none");
  const json row = results({"report", "--json"}).at(0);
  EXPECT_EQ(row.at("verdict"), "none");
  EXPECT_TRUE(row.at("percent_of_best_interval").is_null());
  EXPECT_EQ(csv({"report", "--csv"}).at(0).at("verdict"), "none");
  EXPECT_THAT(pgtune({"report"}).out, HasSubstr("none: the times are from screening"));
}

TEST_F(ReportsTest, JoulesOfSettledSamplesStandWhereNoWindowsWereMeasured) {
  const std::vector<std::string> recorded{"search",   "--shape", "512x512x16384", "--dtype",  "e4m3",
                                          "--layout", "nt",      "--device",      "recording"};
  ASSERT_EQ(pgtune(recorded).exit_code, 0);
  EXPECT_THAT(pgtune({"report", "--power"}).out,
              AllOf(StartsWith("By settled samples alone"), HasSubstr("512x512x16384 e4m3 nt"),
                    HasSubstr("per launch, 0.972"), Not(HasSubstr("was not measured"))));
  const json row = results({"report", "--power", "--json"}).at(0);
  EXPECT_GT(row.at("winner_settled").at("energy_per_gemm_j").get<double>(), 0);
  EXPECT_GT(row.at("baseline_settled").at("energy_per_gemm_j").get<double>(), 0);
}

TEST_F(ReportsTest, RooflineFollowsFromTheMeasuredCeilings) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const Finished text = pgtune({"report", "--roofline"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("roofs: DRAM 4200 GB/s, L2 6500 GB/s, shared memory 30000 GB/s, f32 58.0 TFLOP/s\n"
                              "(f32 at 1700 MHz)\n"),
                    HasSubstr("\nf32 nn\n256x256x256 "), HasSubstr("F/B: FLOP per byte")));
  expect_80_columns(text.out);
  const json point = results({"report", "--roofline", "--json"}).at(0);
  const double intensity = 2.0 * 256 * 256 * 256 / (3 * 256 * 256 * 4);  // every operand once
  EXPECT_DOUBLE_EQ(point.at("dram_flop_per_byte").get<double>(), intensity);
  EXPECT_DOUBLE_EQ(point.at("dram_bound_flops").get<double>(), intensity * 4.2e12);
  EXPECT_EQ(point.at("arithmetic_bound_flops"), 58e12);
  EXPECT_TRUE(point.at("l2_flop_per_byte").is_null());  // a user's template, which this build does not hold
  EXPECT_EQ(point.at("roof"), "arithmetic");
  EXPECT_DOUBLE_EQ(point.at("share_of_roof").get<double>(), point.at("flops").get<double>() / 58e12);
  const auto rows = csv({"report", "--roofline", "--csv"});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("l2_bound_flop_per_s"), "");
  EXPECT_EQ(std::stod(rows[0].at("dram_bound_flop_per_s")), point.at("dram_bound_flops").get<double>());
}

TEST_F(ReportsTest, RooflineTakesTheTrafficOfABuiltInTemplate) {
  ASSERT_EQ(pgtune({"search", "--shape", "1024x1024x1024", "--variants", "3", "-q"}).exit_code, 0);
  const json point = results({"report", "--roofline", "--json"}).at(0);
  const double intensity = point.at("l2_flop_per_byte").get<double>();
  EXPECT_GT(intensity, 0);
  EXPECT_LT(intensity, point.at("dram_flop_per_byte").get<double>());  // tiles read operands again and again
  EXPECT_DOUBLE_EQ(point.at("l2_bound_flops").get<double>(), intensity * 6.5e12);
}

TEST_F(ReportsTest, APointAboveItsRoofSaysWhy) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  EXPECT_TRUE(results({"report", "--roofline", "--json"}).at(0).at("above_roof").is_null());
  {
    const db::Database found = db::Database::open(database(), db::OpenMode::kReadWriteCreate);
    db::Statement(found, "UPDATE ceilings SET ceilings_json = replace(ceilings_json, '58000000000000', '1000')").run();
  }
  const json point = results({"report", "--roofline", "--json"}).at(0);
  EXPECT_GT(point.at("share_of_roof").get<double>(), 1);
  EXPECT_EQ(point.at("above_roof"), "the GPU's clock was higher than while the roof was measured");
  const Finished text = pgtune({"report", "--roofline"});
  EXPECT_THAT(text.out, AllOf(HasSubstr(" arith a\n"), HasSubstr("\na: above the roof: the GPU's clock was higher")));
  expect_80_columns(text.out);
}

TEST_F(ReportsTest, WarmL2HasNoDramRoof) {
  ASSERT_EQ(search({"--l2", "warm", "-q"}).exit_code, 0);
  EXPECT_TRUE(results({"report", "--roofline", "--json"}).at(0).at("dram_bound_flops").is_null());
}

TEST_F(ReportsTest, WithoutCeilingsTheColumnsAreEmptyAndTheReasonTold) {
  launch_.environment["PGTUNE_FAKE"] = "ceilings||error";
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const Finished text = pgtune({"report", "--roofline"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("roofs: not measured"));
  EXPECT_TRUE(results({"report", "--roofline", "--json"}).at(0).at("ceilings").is_null());
}

TEST_F(ReportsTest, PlainReportAsCsv) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const auto rows = csv({"report", "--csv"});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("problem"), "256x256x256 f32 nn");
  EXPECT_EQ(rows[0].at("m"), "256");
  EXPECT_EQ(rows[0].at("variant").find("BM="), 0U);  // its commas are quoted
  EXPECT_EQ(rows[0].at("locked_sm_clock_hz"), "");
  EXPECT_EQ(rows[0].at("sampling"), "short");
  EXPECT_GT(std::stod(rows[0].at("time_s")), 0);
}

TEST_F(ReportsTest, FormsExcludeEachOther) {
  for (const auto& both : {std::vector<std::string>{"--power", "--roofline"}, {"--json", "--csv"}}) {
    const Finished result = pgtune({"report", both[0], both[1]});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr(both[0]), HasSubstr(both[1])));
  }
}

}  // namespace
}  // namespace pgtune::tool::test
