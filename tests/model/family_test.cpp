// SPDX-License-Identifier: MIT
#include "tuner/model/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tuner/model/json.hpp"

namespace pgtune {
namespace {

using ::testing::HasSubstr;

Family small() {
  Family family;
  family.problem =
      with_default_strides({.m = 256, .n = 512, .k = 1024, .dtype = Dtype::kBf16, .trans_b = true}).value();
  family.kernels = {{{"gemm_skinny", {{"ROWS", std::int64_t{1}}}}, "aa"},
                    {{"gemm_wgmma", {{"BM", std::int64_t{64}}, {"COPY", "tma"}}}, "bb"}};
  family.intervals = {{.last_m = 8, .kernel = 0, .spare = {}, .time_s = 2e-6, .basis = FamilyBasis::kMeasured},
                      {.last_m = 256, .kernel = 1, .spare = 0, .time_s = 4e-6, .basis = FamilyBasis::kPredicted}};
  family.probes = {{.m = 3, .family_s = 2e-6, .best_s = 2e-6, .best = family.kernels[0]},
                   {.m = 77, .family_s = 4.4e-6, .best_s = 4e-6, .best = family.kernels[1]}};
  return family;
}

TEST(Family, IsNamedByItsRange) { EXPECT_EQ(small().title(), "1..256x512x1024 bf16 nt"); }

TEST(Family, CoversProblemsThatDifferInMAlone) {
  const Family family = small();
  EXPECT_TRUE(family.covers(family.at(1)));
  EXPECT_TRUE(family.covers(family.at(256)));
  EXPECT_FALSE(family.covers(family.at(257)));
  Problem other = family.at(7);
  other.ldb = 2048;
  EXPECT_FALSE(family.covers(other));
  Family later = family;
  later.first_m = 16;
  EXPECT_FALSE(later.covers(family.at(15)));
  EXPECT_TRUE(later.covers(family.at(16)));
}

TEST(Family, FindsTheIntervalOfAM) {
  const Family family = small();
  for (const auto& [m, kernel] : {std::pair{1, 0}, {8, 0}, {9, 1}, {256, 1}})
    EXPECT_EQ(family.interval_of(m).kernel, kernel) << m;
}

TEST(Family, LosesWhatItsProbesSay) {
  Family family = small();
  ASSERT_TRUE(family.loss());
  EXPECT_NEAR(family.loss()->median, 0.05, 1e-12);
  EXPECT_NEAR(family.loss()->largest, 0.1, 1e-12);
  family.probes.push_back({.m = 100, .family_s = 1.02, .best_s = 1, .best = {}});
  EXPECT_NEAR(family.loss()->median, 0.02, 1e-12);
  family.probes.clear();
  EXPECT_FALSE(family.loss());
}

TEST(Family, FewProbesPromiseLittle) {
  EXPECT_EQ(FamilyLoss::unproven_share(0), 1);
  EXPECT_NEAR(FamilyLoss::unproven_share(8), 0.31, 0.005);
  EXPECT_NEAR(FamilyLoss::unproven_share(29), 0.10, 0.005);
}

TEST(Family, JsonRoundTrip) {
  Family family = small();
  EXPECT_EQ(nlohmann::json(family).get<Family>(), family);
  family.sum_order = "chain";
  family.compared_m = 256;
  EXPECT_EQ(nlohmann::json(family).get<Family>(), family);
}

TEST(Family, RefusesWhatNoSearchWrites) {
  ASSERT_TRUE(small().validate());
  const std::pair<std::function<void(Family&)>, const char*> cases[] = {
      {[](Family& f) { f.first_m = 257; }, "no range of M"},
      {[](Family& f) { f.first_m = 0; }, "no range of M"},
      {[](Family& f) { f.intervals.clear(); }, "do not cover"},
      {[](Family& f) { f.intervals.back().last_m = 255; }, "do not cover"},
      {[](Family& f) { std::swap(f.intervals[0], f.intervals[1]); }, "out of order"},
      {[](Family& f) { f.intervals[0].kernel = 2; }, "without its kernel"},
      {[](Family& f) { f.intervals[0].kernel = -1; }, "without its kernel"},
      {[](Family& f) { f.intervals[1].spare = 2; }, "without its kernel"},
      {[](Family& f) { f.intervals[1].time_s = 0; }, "impossible time"},
      {[](Family& f) { f.compared_m = 1; }, "rows"},
      {[](Family& f) { f.probes[1].m = 257; }, "a probe"},
      {[](Family& f) { f.probes[1].m = 3; }, "a probe"},
      {[](Family& f) { f.probes[0].best_s = std::numeric_limits<double>::infinity(); }, "impossible time"},
  };
  for (const auto& [spoil, message] : cases) {
    Family family = small();
    spoil(family);
    const auto valid = family.validate();
    ASSERT_FALSE(valid) << message;
    EXPECT_THAT(valid.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace pgtune
