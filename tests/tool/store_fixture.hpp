// SPDX-License-Identifier: MIT
// Keys, variants and measurements for tests of what is saved and loaded again.
#pragma once

#include <string>

#include "tuner/session/store.hpp"

namespace pgtune::tool::test {

inline space::TemplateDefinition tiny(const std::string& content_hash = "c0ffee", const std::string& name = "tiny") {
  space::TemplateDefinition definition;
  definition.name = name;
  definition.content_hash = content_hash;
  return definition;
}

inline session::StoreKey store_key() {
  session::StoreKey key{with_default_strides(*parse_shape("512x512x512")).value(), tiny(), {}, {}};
  key.device.uuid = "GPU-1a2b";
  key.device.name = "Fake GPU";
  key.device.memory_bytes = std::int64_t{140} << 30;
  key.device.power_limit_w = 700;
  key.device.driver_version = "580.10";
  return key;
}

inline Variant variant(std::int64_t tile) { return {"tiny", {{"BM", tile}}}; }

inline BuildInfo build(const std::string& hash) {
  BuildInfo build;
  build.cubin_hash = hash;
  build.key_hash = hash;
  return build;
}

inline Sample sample(Stage stage, int round, double time_s, int position = 0) {
  return {stage, round, position, 10, time_s, 1.7e9};
}

inline TrialReport good_trial(double time_s) {
  TrialReport report;
  report.check = CheckReport{0.125, 1e-7};
  report.samples = {sample(Stage::kScreen, 0, time_s)};
  return report;
}

inline EnergyWindow energy(double energy_j) {
  EnergyWindow window;
  window.window_s = 5;
  window.energy_j = energy_j;
  return window;
}

}  // namespace pgtune::tool::test
