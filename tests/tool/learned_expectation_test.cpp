// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/learned_expectation.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace pgtune::tool {
namespace {

using ::testing::SizeIs;

/// Variants of sgemm_simt on a problem with M = N = K = extent, whose time is what `time_s` says of BM and BK.
template <class TimeOf>
RecordedTable table(std::int64_t extent, const TimeOf& time_s) {
  Problem problem = with_default_strides({.m = extent, .n = extent, .k = extent}).value();
  DeviceInfo device;
  device.name = "GPU";
  device.compute_major = 9;
  device.sm_count = 132;
  device.smem_per_block_bytes = device.smem_per_sm_bytes = 233472;
  device.registers_per_sm = 65536;
  device.threads_per_sm = 2048;
  device.l2_bytes = 50 << 20;
  RecordedTable out{"", problem, device, {"sgemm_simt"}, {}};
  const space::TemplateDefinition definition = Catalogue().load("sgemm_simt");
  const Variant base = definition.default_variant();
  for (const space::Parameter& parameter : definition.parameters) {
    for (const ParameterValue& value : parameter.values) {
      Variant variant = base;
      for (Assignment& own : variant.parameters) {
        if (own.name == parameter.name) own.value = value;
      }
      if (variant == base && !out.table.variants.empty()) continue;
      out.table.observations.push_back({OutcomeKind::kOk, false, time_s(variant)});
      out.table.variants.push_back(std::move(variant));
      out.table.costs.emplace_back();
    }
  }
  out.table.template_sizes = {out.table.variants.size()};
  return out;
}

TEST(LeaveOut, HasAWordForEach) {
  EXPECT_EQ(parse_leave_out("problem"), LeaveOut::kProblem);
  EXPECT_EQ(parse_leave_out("dtype"), LeaveOut::kDtype);
  EXPECT_EQ(parse_leave_out("device"), LeaveOut::kDevice);
  EXPECT_EQ(parse_leave_out("template"), LeaveOut::kTemplate);
  EXPECT_EQ(parse_leave_out("nothing"), std::nullopt);
}

double bm(const Variant& variant) { return static_cast<double>(std::get<std::int64_t>(*variant.find("BM"))); }

/// Whether the largest BM is expected to be faster than the smallest.
bool expects_large_bm(const Taught& taught, const RecordedTable& of) {
  const std::optional<search::Expectation>& expected = taught.expectation;
  const auto& variants = of.table.variants;
  EXPECT_TRUE(expected);
  if (!expected) return false;
  EXPECT_THAT(expected->log_times, SizeIs(variants.size()));
  const auto by_bm = [](const Variant& a, const Variant& b) { return bm(a) < bm(b); };
  const auto [least, most] = std::minmax_element(variants.begin(), variants.end(), by_bm);
  EXPECT_LT(bm(*least), bm(*most));
  const auto& times = expected->log_times;
  return times[static_cast<std::size_t>(least - variants.begin())] >
         times[static_cast<std::size_t>(most - variants.begin())];
}

double faster_with_bm(const Variant& variant) { return 1 / bm(variant); }

TEST(LearnedExpectation, IsLearntFromTheOtherProblemsAlone) {
  std::vector<RecordedTable> tables;
  // All but the last agree that time falls with BM; the last says the opposite, and must not have been asked.
  for (const std::int64_t extent : {512, 1024, 2048, 3072, 4096, 6144}) tables.push_back(table(extent, faster_with_bm));
  tables.push_back(table(8192, bm));
  const auto expected = cross_expectations(tables, {}, KnownTemplates(Catalogue()), LeaveOut::kProblem);
  ASSERT_THAT(expected, SizeIs(tables.size()));
  EXPECT_TRUE(expects_large_bm(expected.back(), tables.back()));
  EXPECT_EQ(expected.back().by.tables, 6U);
  EXPECT_EQ(expected.back().by.devices, 1U);
}

TEST(LearnedExpectation, TeachersTeachButThoseOfTheSameShape) {
  const std::vector<RecordedTable> judged{table(8192, bm)};
  std::vector<RecordedTable> teachers{table(8192, bm)};
  for (const std::int64_t extent : {512, 1024, 2048, 3072, 4096, 6144})
    teachers.push_back(table(extent, faster_with_bm));
  const auto taught = cross_expectations(judged, teachers, KnownTemplates(Catalogue()), LeaveOut::kProblem);
  ASSERT_THAT(taught, SizeIs(1));
  EXPECT_TRUE(expects_large_bm(taught.front(), judged.front()));
  EXPECT_EQ(taught.front().by.tables, 6U) << "the teacher of the same shape does not teach";
}

TEST(LearnedExpectation, OfOneProblemAloneNothingIsLearnt) {
  const std::vector<RecordedTable> one{table(512, [](const Variant& variant) { return bm(variant); })};
  const auto expected = cross_expectations(one, {}, KnownTemplates(Catalogue()), LeaveOut::kProblem);
  EXPECT_FALSE(expected.front().expectation);
  EXPECT_EQ(expected.front().by.tables, 0U);
}

TEST(LearnedExpectation, TablesOfOtherToolsTeachThoseOfTheirKernelOnOtherDevices) {
  std::vector<RecordedTable> tables(5);
  const auto name = [&](std::size_t place, const char* kernel, const char* device) {
    tables[place].name = kernel;
    tables[place].device.name = device;
  };
  name(0, "gemm", "A100");
  name(1, "gemm", "A4000");
  name(2, "gemm", "A4000");
  name(3, "convolution", "A4000");
  name(4, "", "A4000");  // pgtune's own
  EXPECT_THAT(foreign_teachers(tables, 0), ::testing::ElementsAre(&tables[1], &tables[2]));
  EXPECT_THAT(foreign_teachers(tables, 1), ::testing::ElementsAre(&tables[0]));
  EXPECT_THAT(foreign_teachers(tables, 3), ::testing::IsEmpty());
  EXPECT_EQ(lesson_of(foreign_teachers(tables, 0)).tables, 2U);
  EXPECT_EQ(lesson_of(foreign_teachers(tables, 0)).devices, 1U);
}

TEST(LearnedExpectation, ATemplateThatIsNotAtHandSaysNothing) {
  RecordedTable unknown = table(512, [](const Variant& variant) { return bm(variant); });
  unknown.templates = {"somebody's"};
  EXPECT_THAT(experiences(unknown, KnownTemplates(Catalogue()), 0), SizeIs(0));
  EXPECT_FALSE(cross_expectations({unknown}, {}, KnownTemplates(Catalogue()), LeaveOut::kDtype).front().expectation);
}

TEST(LearnedExpectation, WhatIsAlike) {
  RecordedTable one = table(512, bm), other = one;
  other.problem.dtype = Dtype::kTf32;
  EXPECT_EQ(left_out_key(one, LeaveOut::kProblem), left_out_key(other, LeaveOut::kProblem));
  EXPECT_NE(left_out_key(one, LeaveOut::kDtype), left_out_key(other, LeaveOut::kDtype));
  other.problem.batch = 2;
  EXPECT_NE(left_out_key(one, LeaveOut::kProblem), left_out_key(other, LeaveOut::kProblem));
  EXPECT_EQ(left_out_key(one, LeaveOut::kDevice), left_out_key(other, LeaveOut::kDevice));
}

}  // namespace
}  // namespace pgtune::tool
