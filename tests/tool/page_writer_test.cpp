// SPDX-License-Identifier: MIT
// The page as text: what is escaped, what its policy lets run, and what it shows of a search.
#include "tool/pgtune/page/page_writer.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/page/page_data.hpp"
#include "tool/pgtune/report/speed_report.hpp"
#include "tuner/util/sha256.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST(PageWriter, NothingInTheDataEndsItsElement) {
  const json hostile = {{"</script><script>alert(1)</script>", "<!-- & \u2028 @SCRIPT@ ]]>"}};
  const std::string text = json_in_html(hostile);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos) << text;
  EXPECT_EQ(json::parse(text), hostile);
}

TEST(PageWriter, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(json_in_html(json{std::string("a\xff") + "b"}),
            "[\"a\xef\xbf\xbd"
            "b\"]");
}

TEST(PageWriter, ThePolicyRunsThePagesOwnScriptAlone) {
  const std::string page = write_page({{"database", "@STYLE@</script><img src=x onerror=alert(1)>"}}, {});
  const std::string script = between(page, "<script>", "</script>"), style = between(page, "<style>", "</style>");
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-" + sha256_base64(script) +
                              "'; style-src 'sha256-" + sha256_base64(style) + "'"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("{\"database\":\"@STYLE@\\u003c/script\\u003e"));  // no marker inside the data is filled
  // Exactly these: the data and the script.
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2U);
}

TEST(PageWriter, LoadsNothing) {
  const std::string page = write_page(json::object(), {});
  for (const char* word : {"http://", "https://", "src=", "@import", "url("}) {
    std::string rest = page;
    // The name of SVG's elements is no address.
    const std::string name = "http://www.w3.org/2000/svg";
    for (std::size_t at = 0; (at = rest.find(name)) != std::string::npos;) rest.erase(at, name.size());
    EXPECT_THAT(rest, Not(HasSubstr(word)));
  }
  // Text goes in as text.
  for (const char* way : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("})
    EXPECT_THAT(page, Not(HasSubstr(way)));
}

TEST(Compact, KeepsTheDigitsThatCount) {
  EXPECT_EQ(compact(0.123456789).dump(), "0.12346");
  EXPECT_EQ(compact(1234567.0).dump(), "1234600");
  EXPECT_EQ(compact(2.0).dump(), "2");
  EXPECT_EQ(compact(-0.5, 3).dump(), "-0.5");
  EXPECT_EQ(compact(std::numeric_limits<double>::infinity()), nullptr);
  EXPECT_EQ(compact_positive(0), nullptr);
}

db::PastTrialRow past(const std::string& key, double time_s, Outcome outcome = {}, bool cut = false) {
  db::PastTrialRow row;
  row.trial.variant = {key, "{}", {"tiny", "c0ffee"}};
  row.trial.report = good_trial(10 * time_s);  // ten launches a sample
  row.trial.report.outcome = std::move(outcome);
  row.trial.report.cut = cut;
  return row;
}

TEST(SearchData, TellsHowTheSearchWent) {
  SharedTexts texts;
  std::vector<db::PastTrialRow> history{
      past("BM=8,COPY=ldg", 4e-6), past("BM=64,COPY=ldg", 0, {OutcomeKind::kInvalid, "too large"}),
      past("BM=16,COPY=ldg", 5e-6, {}, true), past("BM=8,COPY=tma", 3e-6), past("BM=16,COPY=tma", 6e-6)};
  for (std::size_t i = 0; i < history.size(); ++i) history[i].recorded_at_ms = 1000 * static_cast<std::int64_t>(i + 1);
  const json data = search_data(history, 100, texts);
  EXPECT_EQ(data.at("tried"), 5);
  EXPECT_EQ(data.at("timed"), 4);
  EXPECT_EQ(data.at("progress"), (json{{1, 4, 1000}, {4, 3, 4000}}));
  const json& space = data.at("spaces").at(0);
  EXPECT_EQ(space.at("template"), "tiny");
  // Numbers by size, not by letters; BM alone matters.
  EXPECT_EQ(texts.texts().at(space.at("parameters").at(0).at(0).get<std::size_t>()), "BM=8,16");
  EXPECT_GT(space.at("parameters").at(0).at(1), space.at("parameters").at(1).at(1));
  EXPECT_EQ(space.at("rows"), (json{{3, 0, 0, 1}, {4, 0, 0, 0}, {5, 1, 1, 0}, {6, 0, 1, 1}}));
  json reasons = json::object();
  for (const json& row : data.at("outcomes"))
    reasons[texts.texts().at(row.at(1).get<std::size_t>()).get<std::string>()] = {row.at(0), row.at(2)};
  EXPECT_EQ(reasons,
            (json{{"timed", {"ok", 3}}, {"clearly slow, cut early", {"ok", 1}}, {"too large", {"invalid", 1}}}));
}

TEST(SearchData, OfManyVariantsShowsTheFastestAndTheSlowest) {
  std::vector<db::PastTrialRow> history;
  for (int i = 0; i < 100; ++i) history.push_back(past("BM=" + std::to_string(i), 1e-6 * (100 - i)));
  SharedTexts texts;
  const json rows = search_data(history, 10, texts).at("spaces").at(0).at("rows");
  ASSERT_EQ(rows.size(), 10U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rows.at(static_cast<std::size_t>(i)).at(0), i + 1);
  EXPECT_EQ(rows.back().at(0), 100);
}

TEST(SearchData, OfNothingIsEmpty) {
  SharedTexts texts;
  EXPECT_EQ(search_data({}, 10, texts).at("tried"), 0);
}

StoredResult result(std::int64_t session, double ratio, double half_width, const std::string& problem = "p") {
  StoredResult stored;
  stored.row.session = session;
  stored.row.problem_key = problem;
  session::RankedVariant best;
  best.ratio_to_baseline = ratio;
  best.ratio_low = ratio - half_width;
  best.ratio_high = ratio + half_width;
  best.time_s = 1e-5 / ratio;
  stored.answer.ranking = {best};
  stored.answer.baseline_best_s = 1e-5;
  return stored;
}

TEST(ProblemData, FinalistsAreNamedByWhatTellsThemFromTheWinner) {
  StoredResult stored = result(1, 1.05, 0.001);
  stored.problem = with_default_strides({.m = 64, .n = 64, .k = 64}).value();
  stored.row.conditions_key = Conditions().key();
  std::vector<session::RankedVariant>& ranking = stored.answer.ranking;
  ranking.resize(3, ranking.front());
  const auto variant = [](const char* name, std::int64_t bn) {
    return Variant{name, {{"BM", std::int64_t{8}}, {"BN", bn}}};
  };
  ranking[0].variant = variant("tiny", 16);
  ranking[1].variant = variant("tiny", 32);
  ranking[2].variant = variant("another", 16);
  SharedTexts texts;
  std::vector<std::string> names;
  const json data = problem_data(stored, {}, texts);
  for (const json& row : data.at("ranking")) names.push_back(texts.texts().at(row.at(0).get<std::size_t>()));
  EXPECT_EQ(names, (std::vector<std::string>{"", "BN=32", ranking[2].variant.id()}));
}

/// Facts as the page has them, with their texts.
std::vector<std::pair<std::string, std::string>> facts(const json& rows, const SharedTexts& texts) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const json& row : rows) out.emplace_back(row.at(0), texts.texts().at(row.at(1).get<std::size_t>()));
  return out;
}

StoredResult measured_in_full() {
  StoredResult stored = result(1, 1.25, 0.001);
  stored.problem = with_default_strides({.m = 64, .n = 64, .k = 64}).value();
  stored.row.conditions_key = Conditions().key();
  session::Answer& answer = stored.answer;
  session::RankedVariant& best = answer.ranking.front();
  best.sm_clock_hz = 1.5e9;
  best.energy.emplace().energy_j = 0.004;
  best.energy->ratio_to_baseline = 1.5;
  best.pareto = true;
  answer.baseline_energy.emplace().energy_j = 0.006;
  answer.baseline_first_s = 2e-5;
  answer.baseline_clock_hz = 1.4e9;
  answer.baseline.library = "cuBLASLt 13";
  answer.baseline.others = {{"cuBLAS", "", 3e-5}, {"no time", ""}};
  answer.notes = {"a note"};
  answer.from_final = true;
  return stored;
}

TEST(ProblemData, FiguresAreInTheirUnits) {
  SharedTexts texts;
  const StoredResult stored = measured_in_full();
  const json data = problem_data(stored, {}, texts);
  EXPECT_EQ(data.at("us"), 8);
  EXPECT_EQ(data.at("base_us"), 10);
  EXPECT_EQ(data.at("first_us"), 20);
  EXPECT_EQ(data.at("base_tflops"), compact(2 * 64 * 64 * 64 / 1e-5 / 1e12));
  EXPECT_EQ(data.at("base_mhz"), 1400);
  EXPECT_EQ(data.at("base_mj"), 6);
  EXPECT_EQ(data.at("first_ratio"), 2.5);
  const json& row = data.at("ranking").at(0);
  const json columns = ranking_columns();
  const auto cell = [&](const char* name) {
    return row.at(static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin()));
  };
  EXPECT_EQ(cell("us"), 8);
  EXPECT_EQ(cell("mhz"), 1500);
  EXPECT_EQ(cell("mj"), 4);
  EXPECT_EQ(cell("pareto"), 1);
}

TEST(ProblemData, FactsHaveTheirTexts) {
  using ::testing::Contains;
  using ::testing::Pair;
  using Fact = std::pair<std::string, std::string>;
  SharedTexts texts;
  StoredResult stored = measured_in_full();
  const auto judged = facts(judgement_data(stored, texts), texts);
  EXPECT_THAT(judged, Contains(Pair("verdict", HasSubstr("times the speed of cuBLASLt's best"))));
  EXPECT_THAT(judged, Contains(Pair("energy", HasSubstr("energy"))));
  EXPECT_THAT(judged, Contains(Pair("beside", HasSubstr("cuBLAS"))).Times(1));
  EXPECT_THAT(judged, Contains(Pair("regime", HasSubstr("sustained"))));
  EXPECT_THAT(judged, Contains(Fact("note", "a note")));
  stored.row.variant_origin = {"tiny", "c0ffee"};
  stored.device.uuid = "GPU-1";
  stored.device.driver_version = "580.10";
  stored.device.nvrtc_version = "13.0";
  db::SessionRow session;
  session.uid = "5e55";
  session.command_line = "pgtune search";
  session.seed = 7;
  db::Program program;
  program.version = "1.2";
  program.host_os = "Linux";
  EXPECT_THAT(facts(provenance_data(stored, session, program, texts), texts),
              ::testing::IsSupersetOf(std::vector<Fact>{{"source", "measured on this GPU"},
                                                        {"board", "GPU-1"},
                                                        {"driver", "580.10"},
                                                        {"NVRTC", "13.0"},
                                                        {"baseline", "cuBLASLt 13"},
                                                        {"pgtune", "1.2"},
                                                        {"host", "Linux"},
                                                        {"session", "5e55"},
                                                        {"command", "pgtune search"},
                                                        {"seed", "7"},
                                                        {"template", "tiny, c0ffee"},
                                                        {"conditions", Conditions().key()},
                                                        {"whole", "no: stopped before every variant was tried"}}));
}

TEST(SampleData, PlacesSamplesInTheOrderOfTheirRounds) {
  const StoredResult stored = result(1, 1.05, 0.001);
  db::ContenderSamplesRow slow{BaselineAlgorithm{0}, {}}, fast{BaselineAlgorithm{1}, {}};
  for (int round = 1; round <= 4; ++round) {
    slow.samples.push_back(sample(Stage::kFinal, round, 2e-4, round % 2));
    fast.samples.push_back(sample(Stage::kFinal, round, 1e-4, 1 - round % 2));
  }
  fast.samples.push_back(sample(Stage::kRace, 1, 1e-6));
  json data = sample_data(stored, {slow, fast}, 4);
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data[0].at("name"), "baseline first");
  EXPECT_EQ(data[1].at("name"), "baseline best");
  EXPECT_EQ(data[0].at("place"), (json{1, 2, 5, 6}));
  EXPECT_EQ(data[1].at("place"), (json{0, 3, 4, 7}));
  EXPECT_EQ(data[1].at("us"), (json{10, 10, 10, 10}));
  EXPECT_EQ(data[1].at("mhz"), (json{1700, 1700, 1700, 1700}));
  EXPECT_EQ(data[1].at("positions"), 2);
  EXPECT_FALSE(data[1].contains("w"));
  data = sample_data(stored, {slow, fast}, 3);
  EXPECT_EQ(data[1].at("place"), (json{0, 4})) << "every second";
}

TEST(Comparison, JudgesBeyondTheNoise) {
  const std::vector<StoredResult> before{result(1, 1.00, 0.001, "a"), result(2, 1.00, 0.001, "b"),
                                         result(3, 1.00, 0.001, "c"), result(4, 1.00, 0.2, "d"),
                                         result(5, 1.00, 0.001, "gone")};
  const std::vector<StoredResult> after{result(6, 1.05, 0.001, "a"), result(7, 0.95, 0.001, "b"),
                                        result(8, 1.003, 0.001, "c"), result(9, 1.05, 0.001, "d"),
                                        result(10, 1.00, 0.001, "new")};
  const auto compared = compare_results(before, after);
  ASSERT_EQ(compared.size(), 4U);
  const std::vector<session::Held> expected{session::Held::kFaster, session::Held::kSlower, session::Held::kHeld,
                                            session::Held::kUnclear};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(compared[i].change, expected[i]) << i;
  EXPECT_DOUBLE_EQ(compared[0].speed_ratio, 1.05);
  EXPECT_DOUBLE_EQ(compared[0].baseline_ratio, 1);
}

TEST(Comparison, TakesTheNewestOfEachProblem) {
  const std::vector<StoredResult> before{result(5, 1.01, 0.001), result(2, 1.00, 0.001)};
  const std::vector<StoredResult> after{result(7, 1.05, 0.001), result(9, 1.01, 0.001)};
  const auto compared = compare_results(before, after);
  ASSERT_EQ(compared.size(), 1U);
  EXPECT_EQ(compared[0].before, &before[0]);
  EXPECT_EQ(compared[0].after, &after[1]);
  EXPECT_EQ(compared[0].change, session::Held::kHeld);
}

}  // namespace
}  // namespace pgtune::tool::test
