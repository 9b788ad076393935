// SPDX-License-Identifier: MIT
// A search on the fake GPU with a power limit: one variant that is best alone and a rival that short samples flatter.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "test_search.hpp"

namespace pgtune::session {

inline constexpr double kAlone_s = 0.2068e-3;
/// GPU time that docs/explanation/measuring.md promises for a problem at the power cap: steady run, race, final and
/// confirm rounds, with as many contenders as there may be.
inline constexpr double kSettledLimit_s = 40;
/// In short samples the rival is 3 % faster than the best one, alone it is 1.4 % slower
/// (docs/explanation/measuring.md).
inline constexpr const char* kRivalKey = "A=4,B=3";
inline constexpr double kRatioAlone = 0.986, kAtTheSameClock = 1.03;

inline support::PowerLoad load_at_the_cap(const std::string& name) {
  if (name == kBestKey) return support::settling_load(name, kAlone_s, 1.36e9);
  if (name == kRivalKey)
    return support::settling_load(name, kAlone_s / kRatioAlone, 1.36e9 * kRatioAlone / kAtTheSameClock);
  if (name.starts_with("ref")) return support::settling_load(name, 1.05 * kAlone_s, 1.34e9);
  return support::settling_load(name, 1.3 * kAlone_s, 1.36e9);
}

inline support::PowerLoad load_below_the_cap(const std::string& name) {
  support::PowerLoad load = load_at_the_cap(name);
  load.joules_per_cycle /= 10;
  return load;
}

struct PoweredSearch {
  TestSearch search;
  FakeDevice device;

  explicit PoweredSearch(const std::function<support::PowerLoad(const std::string&)>& load) : device(scripted()) {
    device.powered.emplace(PoweredGpu{support::PowerModel(support::PowerGpu{}, 1), load});
    device.baseline.algorithms = {{0, "first", 0, 1.05 * kAlone_s, 0.1}, {3, "third", 0, 1.05 * kAlone_s, 0.1}};
  }

  /// Another plan for the search and its device.
  void change_scripts(std::function<Script(const Variant&)> plan) {
    search.plan = std::move(plan);
    FakeDevice changed(search.plan);
    changed.powered = std::move(device.powered);
    changed.baseline = device.baseline;
    device = std::move(changed);
  }

  Answer run() {
    const auto result = search.run(device);
    EXPECT_TRUE(result && result->answer);
    return result && result->answer ? *result->answer : Answer{};
  }

 private:
  FakeDevice scripted() {
    search.plan = [](const Variant&) {
      Script script;
      script.time_s = kAlone_s;
      return script;
    };
    return search.device();
  }
};

}  // namespace pgtune::session
