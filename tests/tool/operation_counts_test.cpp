// SPDX-License-Identifier: MIT
// Flops and bytes that follow from the data: figures are of what was counted, however they are asked for.
#include <fmt/format.h>

#include "tests/tool/operation_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

/// The fake worker counts three quarters of what is expected.
class OperationCountsTest : public OwnOperationTest {
 protected:
  static constexpr double kCounted = 0.75 * 1024;

  void SetUp() override {
    OwnOperationTest::SetUp();
    json operation = json::parse(kOwnOperation);
    operation["buffers"].push_back({{"name", "rows"},
                                    {"type", "int32"},
                                    {"role", "in"},
                                    {"extents", {"8"}},
                                    {"fill", {{"integers", {"0", "N"}}}}});
    operation["counts"] = {{{"name", "T"}, {"count", "sum"}, {"buffer", "rows"}, {"expected", "N / 4"}}};
    operation["flops"] = "2 * T";
    operation["bytes"] = "8 * T + 32";
    write("twice.json", operation.dump());
  }

  static void expect_true_figures(const json& best) {
    EXPECT_NEAR(best.at("tflops").get<double>() * best.at("time_s").get<double>() * 1e12, 2 * kCounted, 1e-6);
  }
};

TEST_F(OperationCountsTest, FiguresAreOfWhatWasCounted) {
  const Finished searched = of("search", path("twice.json"), "N=4096", {"--json"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const json result = json::parse(searched.out);
  expect_true_figures(result.at("best"));
  EXPECT_EQ(result.at("problem").at("operation").at("counts").at(0).at("value"), kCounted);
  const json& baseline = result.at("baseline").at("best");
  expect_true_figures(baseline);
  EXPECT_THAT(result.at("notes").dump(),
              HasSubstr("counted in the data, in the mean of 2 copies: T is 768 (1024 expected)"));

  const json again = json::parse(of("search", path("twice.json"), "N=4096", {"--json"}).out);
  EXPECT_EQ(requests("trial"), 3) << "answered from the database";
  expect_true_figures(again.at("best"));
  expect_true_figures(again.at("baseline").at("best"));
}

TEST_F(OperationCountsTest, StoredOnesToo) {
  ASSERT_EQ(of("search", path("twice.json"), "N=4096", {"-q"}).exit_code, 0);
  const json shown = json::parse(pgtune({"show", "--json"}).out).at("results").at(0);
  const double time_s = shown.at("best").at("time_s");
  expect_true_figures(shown.at("best"));
  const std::string speed = fmt::format("{:.0f} GB/s", (8 * kCounted + 32) / time_s / 1e9);
  EXPECT_THAT(pgtune({"show"}).out, HasSubstr(speed));
  EXPECT_THAT(pgtune({"show", "--explain"}).out, HasSubstr(speed));
  EXPECT_THAT(of("show", path("twice.json"), "N=4096").out, HasSubstr(speed)) << "it is the same problem";
  const Finished benched = of("bench", path("twice.json"), "N=4096", {"--json"});
  ASSERT_EQ(benched.exit_code, 0) << benched.err;
  expect_true_figures(json::parse(benched.out).at("variants").at(0).at("now"));
}

TEST_F(OperationCountsTest, ARecordedAnswerHasThem) {
  const std::string recording = path("recording.db");
  ASSERT_EQ(of("search", path("twice.json"), "N=4096", {"-q", "--db", recording}).exit_code, 0);
  const Finished found = of("search", path("twice.json"), "N=4096", {"--device", "recording:" + recording, "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  expect_true_figures(json::parse(found.out).at("best"));
}

TEST_F(OperationCountsTest, WhatIsNotAffineEndsAsUsage) {
  json operation = json::parse(read("twice.json"));
  operation["bytes"] = "ceil_div(T, 2)";
  write("twice.json", operation.dump());
  const Finished refused = of("search", path("twice.json"), "N=4096");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("twice.json: bytes: 'T' is counted in the data: it may be added, and multiplied by"));
  EXPECT_EQ(requests("prepare"), 0);
}

}  // namespace
}  // namespace pgtune::tool::test
