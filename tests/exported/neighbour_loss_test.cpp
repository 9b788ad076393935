// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/neighbour_loss.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/exported/sample_export.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/export/coverage.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::tool::test {
namespace {

Problem f32_problem(std::int64_t m) {
  Problem p;
  p.m = m;
  p.n = p.k = 1024;
  return with_default_strides(p).value();
}

Variant small_variant(const space::TemplateDefinition& definition, std::int64_t bm) {
  Variant variant = definition.default_variant();
  for (Assignment& parameter : variant.parameters) {
    if (parameter.name == "BM") parameter.value = bm;
  }
  return variant;
}

/// Ten problems a quarter of a doubling apart; every second one was tuned to the other of two variants.
CallableHeader quarter_doublings() {
  const space::TemplateDefinition definition = Catalogue().load("sgemm_small");
  CallableHeader content;
  content.device_classes = {sample_device()};
  for (int i = 0; i < 10; ++i)
    add_sample(content, definition, small_variant(definition, i % 2 == 0 ? 32 : 64),
               f32_problem(static_cast<std::int64_t>(1024 * std::pow(2.0, i / 4.0)) / 4 * 4));
  return content;
}

/// Times in which a borrowed variant takes `loss` longer than the problem's own.
std::vector<std::map<std::string, double>> times(const CallableHeader& content, double loss) {
  std::vector<std::map<std::string, double>> out;
  for (const ExportedEntry& entry : content.entries) {
    out.emplace_back();
    for (std::size_t v = 0; v < content.variants.size(); ++v)
      out.back()[content.variants[v].variant.id()] = v == entry.variant ? 1.0 : 1.0 + loss;
  }
  return out;
}

/// The loss of the radius that an export would take with at most 3 %.
std::optional<MeasuredLoss> chosen(const CallableHeader& content,
                                   const std::vector<std::map<std::string, double>>& tried) {
  for (const MeasuredLoss& loss : measured_losses(content, tried, 0.03)) {
    if (loss.chosen) return loss;
  }
  return std::nullopt;
}

TEST(NeighbourLoss, IsThatOfTheCheapestNeighbourWhereItWasTried) {
  const CallableHeader content = quarter_doublings();
  ASSERT_EQ(content.variants.size(), 2U);
  const auto loss = chosen(content, times(content, 0.02));
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->dtype, Dtype::kF32);
  EXPECT_EQ(loss->radius, 3);
  EXPECT_EQ(loss->held_out, 10);
  EXPECT_EQ(loss->measured, 10);
  std::vector<double> expected;
  for (const ExportedEntry& entry : content.entries) {
    const auto taken = neighbour(content, entry.problem, sample_device(), loss->radius);
    ASSERT_TRUE(taken);
    expected.push_back(*taken == entry.variant ? 0 : 0.02);
  }
  // Some problems were tuned to the neighbours' variant, others to another.
  EXPECT_THAT(expected, testing::AllOf(testing::Contains(0), testing::Contains(0.02)));
  EXPECT_NEAR(loss->median.value(), stats::median(expected), 1e-9);
  EXPECT_NEAR(loss->p90.value(), stats::quantile(expected, 0.9), 1e-9);
}

TEST(NeighbourLoss, NoNeighbourIsTakenWhereTheyLoseTooMuchOrTooLittleIsKnown) {
  const CallableHeader content = quarter_doublings();
  EXPECT_FALSE(chosen(content, times(content, 0.2)));
  // The median is small, and some lose much.
  auto tail = times(content, 0.5);
  for (std::size_t i = 0; i < tail.size(); ++i) {
    if (i % 4 >= 2) continue;
    for (auto& [variant, time] : tail[i]) time = 1;
  }
  EXPECT_FALSE(chosen(content, tail));
  auto known = times(content, 0.01);
  for (std::size_t i = 0; i < 3; ++i) known[i].clear();
  EXPECT_FALSE(chosen(content, known));
}

TEST(NeighbourLoss, WhatNoSearchTriedCountsAsLosingMore) {
  const CallableHeader content = quarter_doublings();
  // Of ten problems one had not tried what its neighbour lends: the 90th percentile is not among the nine.
  auto known = times(content, 0.01);
  ASSERT_TRUE(chosen(content, known));
  const ExportedEntry& entry = content.entries.front();
  const auto lent = neighbour(content, entry.problem, sample_device(), 3);
  ASSERT_TRUE(lent);
  known.front().erase(content.variants[*lent].variant.id());
  if (known.front().empty()) known.front()["another"] = 1;
  EXPECT_FALSE(chosen(content, known));
  for (const MeasuredLoss& loss : measured_losses(content, known, 0.03)) {
    if (loss.radius != 3) continue;
    EXPECT_EQ(loss.held_out, 10);
    EXPECT_EQ(loss.measured, 9);
    EXPECT_TRUE(loss.median);
    EXPECT_FALSE(loss.p90);
  }
}

TEST(Coverage, AGuessMayLoseWhatADefaultPolicyAllows) {
  CallableHeader content = quarter_doublings();
  content.entries.push_back(content.entries.front());
  ExportedEntry& guess = content.entries.back();
  guess.problem = f32_problem(3000);
  guess.guessed_loss = 0.05;
  EXPECT_EQ(std::string(served(content, guess.problem, 0).how), "guess");
  guess.guessed_loss = 0.051;
  EXPECT_EQ(std::string(served(content, guess.problem, 0).how), "fallback");
}

TEST(Coverage, SaysHowEachShapeIsServed) {
  CallableHeader content = quarter_doublings();
  content.losses = {{Dtype::kF32, true, 0.5, 10, 10, 0.012, 0.03}};
  const ExportFolder folder("");
  folder.write("shapes", "1024x1024x1024\n1100x1024x1024 # between two\n1024x1024x1024 tn\n64x64x64 bf16\n");
  Terminal terminal(process_environment);
  const auto problems = ProblemOptions().problems_of_file((folder.path() / "shapes").string());
  const std::string text = coverage_text(content, problems, terminal);
  EXPECT_THAT(text, testing::AllOf(testing::StartsWith("NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W\n"),
                                   testing::ContainsRegex("1024x1024x1024 f32 nn +exact +0 %\n"),
                                   testing::ContainsRegex("1100x1024x1024 f32 nn +neighbour +1.2 % +[0-9x]+ f32 nn\n"),
                                   testing::ContainsRegex("1024x1024x1024 f32 tn +fallback\n"),
                                   testing::ContainsRegex("64x64x64 bf16 nn +fallback\n")));
  const nlohmann::json rows =
      coverage_json(content, {f32_problem(1100), f32_problem(10)}).at("device_classes").at(0).at("problems");
  EXPECT_EQ(rows.at(0).at("served"), "neighbour");
  EXPECT_EQ(rows.at(0).at("expected_loss"), 0.012);
  EXPECT_THAT(content.variants,
              testing::Contains(testing::Field(&ExportedVariant::variant,
                                               testing::ResultOf([](const Variant& one) { return one.key(); },
                                                                 rows.at(0).at("variant").get<std::string>()))));
  EXPECT_EQ(rows.at(1).at("served"), "fallback");
  EXPECT_TRUE(rows.at(1).at("variant").is_null());
  content.losses.front().median = 0.051;  // more than a default policy allows
  EXPECT_THAT(coverage_text(content, {f32_problem(1100)}, terminal), testing::HasSubstr("fallback"));
  content.losses.front().median = 0.05;
  EXPECT_THAT(coverage_text(content, {f32_problem(1100)}, terminal), testing::HasSubstr("neighbour"));
  content.losses.front().chosen = false;
  EXPECT_THAT(coverage_text(content, {f32_problem(1100)}, terminal), testing::HasSubstr("fallback"));
  terminal.set_color(ColorMode::kAlways);
  EXPECT_THAT(coverage_text(content, problems, terminal),
              testing::AllOf(testing::ContainsRegex("\033.32m1024x1024x1024 f32 nn +exact"),
                             testing::ContainsRegex("\n1100x1024x1024 f32 nn +fallback\n")));
}

TEST(NeighbourLoss, DistanceCountsDoublings) {
  Problem a = f32_problem(1024), b = f32_problem(2048);
  EXPECT_DOUBLE_EQ(problem_distance(a, b), 1);
  b.k = 512;
  EXPECT_DOUBLE_EQ(problem_distance(a, b), std::sqrt(2.0));
}

}  // namespace
}  // namespace pgtune::tool::test
