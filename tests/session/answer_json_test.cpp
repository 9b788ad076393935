// SPDX-License-Identifier: MIT
#include "tuner/session/answer_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

TEST(AnswerJson, SurvivesTheRoundTrip) {
  TestSearch search;
  search.plan = [](const Variant& variant) {
    Script script = plain_script(variant);
    if (parameter(variant, "A") == 2) script.trial = {OutcomeKind::kCrashed, "illegal address"};
    return script;
  };
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  const nlohmann::json written = *result->answer;
  const auto read = nlohmann::json::parse(written.dump()).get<StoredAnswer>();
  EXPECT_EQ(nlohmann::json(read), written);
  EXPECT_EQ(read.best.variant, result->answer->best.variant);
  EXPECT_EQ(read.best.time_s, result->answer->best.time_s);
  EXPECT_EQ(read.reference, result->answer->reference);
  EXPECT_EQ(read.counts.failed, result->answer->counts.failed);
  EXPECT_EQ(read.ranking.size(), result->answer->ranking.size());
  EXPECT_TRUE(read.complete && read.from_final);
}

TEST(AnswerJson, NamesFailuresAsOutcomes) {
  CountsRecord counts;
  counts.space = 10;
  counts.failed[OutcomeKind::kWrongResult] = 3;
  const nlohmann::json json = counts;
  EXPECT_EQ(json.at("failed").dump(), R"({"wrong_result":3})");
  nlohmann::json unknown = json;
  unknown["failed"]["melted"] = 1;
  EXPECT_THROW(unknown.get<CountsRecord>(), nlohmann::json::exception);
}

TEST(AnswerJson, IntervalIsAPair) {
  RankedVariant row;
  row.ratio_low = 0.9;
  row.ratio_high = 1.1;
  EXPECT_EQ(nlohmann::json(row).at("ratio_interval").dump(), "[0.9,1.1]");
}

TEST(AnswerJson, AMissingFieldThrows) {
  EXPECT_THROW(nlohmann::json::parse(R"({"best": {}})").get<StoredAnswer>(), nlohmann::json::exception);
}

}  // namespace
}  // namespace pgtune::session
