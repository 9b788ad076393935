// SPDX-License-Identifier: MIT
#include "tuner/model/records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pgtune {
namespace {

constexpr EnumNames<Stage, 6> kStages{{{Stage::kScreen, "screen"},
                                       {Stage::kSteady, "steady"},
                                       {Stage::kFloor, "floor"},
                                       {Stage::kRace, "race"},
                                       {Stage::kFinal, "final"},
                                       {Stage::kConfirm, "confirm"}}};

/// A day; no sample takes a minute.
constexpr double kLongestSampleS = 86'400;

}  // namespace

std::string DeviceInfo::driver_branch() const { return driver_version.substr(0, driver_version.find('.')); }

EnumTable<Stage> enum_table(Stage /*stage*/) { return kStages; }

bool is_launch_count(std::int64_t launches) { return launches >= 1; }

bool is_sample_time(double time_s) { return time_s > 0 && time_s < kLongestSampleS; }

std::string BaselineReport::title(int algorithm) const {
  const auto index = static_cast<std::size_t>(algorithm);
  return algorithm < 0 || index >= algorithms.size() ? std::string() : library + ": " + algorithms[index].description;
}

std::string BaselineReport::name() const { return library.empty() ? "cuBLASLt" : library.substr(0, library.find(' ')); }

Result<void> DeviceInfo::validate() const { return require_possible_numbers(*this, "a device"); }

const std::string& symbol_of(const std::vector<LoweredName>& lowered, const std::string& name) {
  const auto found =
      std::find_if(lowered.begin(), lowered.end(), [&](const auto& one) { return one.expression == name; });
  return found == lowered.end() ? name : found->symbol;
}

Result<void> BuildInfo::validate() const { return require_possible_numbers(*this, "a build"); }

Result<void> Sample::validate() const {
  if (!is_launch_count(launches) || !is_sample_time(time_s))
    return fail(ErrorKind::kDatabase, fmt::format("a sample of {} launches in {} s", launches, time_s));
  return require_possible_numbers(*this, "a sample");
}

}  // namespace pgtune
