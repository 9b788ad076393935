// SPDX-License-Identifier: MIT
// A small search to test with: 40 variants over A = 1..8 and B = 1..5, a known best, a fake device and store.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fake_device.hpp"
#include "fake_store.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::session {

inline constexpr const char* kBestKey = "A=5,B=3";
inline constexpr std::int64_t kSpace = 40;

[[nodiscard]] Problem test_problem();
/// Rules given as expressions join the legality.
[[nodiscard]] space::TemplateDefinition test_template(const std::vector<std::string>& legality = {});
/// Every variant builds and is right; the fastest is kBestKey with 1 ms, the next are 10 % slower.
[[nodiscard]] Script plain_script(const Variant& variant);
/// plain_script()'s scripts as `change` leaves them.
[[nodiscard]] FakeDevice::Plan plain_but(std::function<void(const Variant&, Script&)> change);
[[nodiscard]] std::int64_t parameter(const Variant& variant, const std::string& name);

/// One test's search: run() may be called repeatedly on the same store with fresh devices.
struct TestSearch {
  FakeDevice::Plan plan = plain_script;
  Problem problem = test_problem();
  space::TemplateDefinition definition = test_template();
  FakeStore store;
  /// What tests expect of the order follows from defaults, seeds and costs, unless they choose another strategy.
  SessionOptions options = [] {
    SessionOptions guided;
    guided.strategy = "guided";
    return guided;
  }();
  std::atomic<bool> stop{false};
  std::vector<Progress> progress;
  double slept_s = 0;

  [[nodiscard]] FakeDevice device() const { return FakeDevice(plan); }
  /// The device's virtual time; sleeping passes it.
  [[nodiscard]] Clock clock(FakeDevice& device);
  [[nodiscard]] Result<SearchResult> run(FakeDevice& device);
};

}  // namespace pgtune::session
