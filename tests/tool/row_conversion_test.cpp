// SPDX-License-Identifier: MIT
// Rows of a file that may be somebody else's: what no measurement gives is an error, never a number to compute with.
#include "tool/pgtune/replay/row_conversion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace pgtune::tool::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const db::Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no db::Error was thrown";
  return "";
}

db::SampleRow sample_row() { return {"final", 1, 0, 10, 1e-3, 1.98e9}; }

std::string block_error(const std::function<void(db::SampleRow&)>& spoil) {
  db::SampleRow row = sample_row();
  spoil(row);
  return error_of([&] { static_cast<void>(samples({row})); });
}

TEST(SamplesOfAFile, MustBePossible) {
  EXPECT_EQ(samples({sample_row()}).at(0).time_s, 1e-3);
  for (const double time_s : {0.0, -1.0, kInfinity, kNan, 1e30}) {
    EXPECT_THAT(block_error([&](auto& row) { row.time_s = time_s; }),
                AllOf(HasSubstr("a sample of 10 launches"), HasSubstr("Restore the file")));
  }
  EXPECT_THAT(block_error([](auto& row) { row.launches = 0; }), HasSubstr("0 launches"));
  EXPECT_THAT(block_error([](auto& row) { row.round = -1; }), HasSubstr("impossible number -1"));
  EXPECT_THAT(block_error([](auto& row) { row.position = -7; }), HasSubstr("impossible number -7"));
  EXPECT_THAT(block_error([](auto& row) { row.sm_clock_hz = kNan; }), HasSubstr("impossible number nan"));
  EXPECT_THAT(block_error([](auto& row) { row.thermal_s = kInfinity; }), HasSubstr("impossible number inf"));
  EXPECT_THAT(block_error([](auto& row) { row.stage = "warmup"; }), HasSubstr("unknown stage 'warmup'"));
}

TEST(EnergyOfAFile, MustBePossible) {
  db::EnergyWindowRow row;
  row.window_s = 5;
  row.energy_j = 100;
  EXPECT_EQ(energy_window(row).energy_j, 100);
  row.energy_j = kInfinity;
  EXPECT_THAT(error_of([&] { static_cast<void>(energy_window(row)); }),
              HasSubstr("an energy window with the impossible number inf"));
}

TEST(TrialsOfAFile, UnknownOutcomesAreAnError) {
  db::TrialRow row;
  row.outcome.kind = "excellent";
  EXPECT_THAT(error_of([&] { static_cast<void>(stored_trial(row)); }), HasSubstr("unknown outcome 'excellent'"));
}

TEST(JsonOfAFile, MustBeWhatItSays) {
  for (const char* text : {"", "{", "[]", "{\"m\":1}", "{\"m\":\"x\"}", "\xff"}) {
    db::ProblemRow row;
    row.problem_json = text;
    EXPECT_THAT(error_of([&] { static_cast<void>(problem(row)); }), HasSubstr("a problem that cannot be read"));
  }
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += '[';
  EXPECT_THAT(error_of([&] {
                static_cast<void>(device_info(db::DeviceRow{"", "", "", deep}));
              }),
              HasSubstr("a device that cannot be read"));
  EXPECT_THAT(error_of([&] { static_cast<void>(conditions("sustained and more")); }), HasSubstr("text of conditions"));
}

}  // namespace
}  // namespace pgtune::tool::test
