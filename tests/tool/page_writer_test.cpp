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
