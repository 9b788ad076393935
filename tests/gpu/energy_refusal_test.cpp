// SPDX-License-Identifier: MIT
// Energy windows that cannot be measured are refused with the cause and the remedy, and never waited for without end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>

#include "tests/gpu/energy_scripted_gpu.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::HasSubstr;

protocol::EnergyRequest short_request(double window_s, double max_uncertainty = 0.01) {
  return {.contender = {}, .lead_in_s = 1, .window_s = window_s, .max_uncertainty = max_uncertainty, .index = 0};
}

/// X of "...; X s would do".
double recommended_s(const std::string& message) {
  const std::size_t end = message.rfind(" s would do");
  const std::size_t begin = message.rfind(' ', end - 1);
  return std::strtod(message.substr(begin).c_str(), nullptr);
}

TEST(EnergyRefusal, AWindowOfTooFewStepsNamesTheOneThatWouldDo) {
  ScriptedGpu gpu;
  const auto refused = gpu.watch(short_request(0.4));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("an energy window of 0.4 s is too short"));
  EXPECT_THAT(refused.error().message, HasSubstr("moves every 10"));
  EXPECT_LT(gpu.now_s, 1001.2) << "refused before the window, not after it";
  const double would_do_s = recommended_s(refused.error().message);
  EXPECT_NEAR(would_do_s, 1.2, 0.15);
  const auto accepted = gpu.watch(short_request(would_do_s));
  ASSERT_TRUE(accepted) << accepted.error().text();
  EXPECT_GE(accepted->window.steps, 10);
}

TEST(EnergyRefusal, AnUncertaintyOutOfReachNamesTheWindowThatWouldDo) {
  ScriptedGpu gpu;
  const auto refused = gpu.watch(short_request(5, 0.0005));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("certain to 0.05 %"));
  const auto accepted = gpu.watch(short_request(recommended_s(refused.error().message), 0.0005));
  ASSERT_TRUE(accepted) << accepted.error().text();
  EXPECT_LE(accepted->window.uncertainty, 0.0005);
}

TEST(EnergyRefusal, ReadingsThatBecomeSlowEndInARefusalToo) {
  ScriptedGpu gpu;
  gpu.reading_s = [&] { return gpu.now_s < 1002 ? 2.8e-3 : 70e-3; };
  const auto refused = gpu.watch(short_request(1.5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_GT(recommended_s(refused.error().message), 8);
  EXPECT_LT(gpu.now_s, 1020);
}

TEST(EnergyRefusal, ACounterThatNeverMovesIsGivenUp) {
  ScriptedGpu gpu;
  gpu.distort = [](double, double) { return 12345.0; };
  const auto refused = gpu.watch(short_request(5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(refused.error().message, HasSubstr("has not moved for 3 s"));
  EXPECT_LT(gpu.now_s, 1003.1);
}

TEST(EnergyRefusal, ACounterThatStopsInsideTheWindowIsGivenUp) {
  ScriptedGpu gpu;
  gpu.distort = [&](double time_s, double energy_j) { return time_s < 1003 ? energy_j : gpu.counter_j(1003); };
  const auto refused = gpu.watch(short_request(5));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has not moved for 3 s"));
}

TEST(EnergyRefusal, ReadingsThatStopAreGivenUp) {
  ScriptedGpu gpu;
  gpu.distort = [](double time_s, double energy_j) {
    return time_s < 1002 ? std::optional<double>(energy_j) : std::nullopt;
  };
  const auto refused = gpu.watch(short_request(5));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has not moved for 3 s"));
}

TEST(EnergyRefusal, ACounterThatGoesBackwardsIsAnError) {
  ScriptedGpu gpu;
  gpu.distort = [](double time_s, double energy_j) { return time_s < 1003 ? energy_j : energy_j - 600000; };
  const auto refused = gpu.watch(short_request(5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(refused.error().message, HasSubstr("went backwards"));
}

TEST(EnergyRefusal, AGpuWithoutACounterSaysSo) {
  ScriptedGpu gpu;
  gpu.distort = [](double, double) { return std::nullopt; };
  const auto refused = gpu.watch(short_request(5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(refused.error().message, HasSubstr("this GPU or its driver has no energy counter"));
}

TEST(EnergyRefusal, RequestsThatMakeNoSenseAreUsageErrors) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  protocol::EnergyRequest negative = short_request(5);
  negative.lead_in_s = -1;
  for (const auto& nonsense : {short_request(0), short_request(-1), short_request(kNan), short_request(5, 0),
                               short_request(5, kNan), short_request(5, 1), negative}) {
    ScriptedGpu gpu;
    const auto refused = gpu.watch(nonsense);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(gpu.now_s, 1000);
  }
}

}  // namespace
}  // namespace pgtune::gpu
