// SPDX-License-Identifier: MIT
// A family's search on the scripted device.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "test_search.hpp"
#include "tuner/session/family/family_search.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {

/// Each variant is a kind of its own.
inline space::TemplateDefinition kinds_template(const std::vector<std::string>& legality = {}) {
  space::TemplateDefinition definition = test_template(legality);
  definition.kernels[0].dynamic_smem_bytes = space::Expression::parse("8 * A + B").value();
  return definition;
}

/// Tiles of 16 * A rows.
inline space::TemplateDefinition tiled_template() {
  space::TemplateDefinition definition = kinds_template({"M <= 2048 || A > 2"});
  const auto expression = [](const char* text) { return space::Expression::parse(text).value(); };
  definition.cost = space::CostModel{{}, expression("100 * ceil_div(M, 16 * A) * (A + 2) * (B == 3 ? 10 : 11)")};
  return definition;
}

/// As the cost says; B = 3 is 10 % faster than the others.
inline double time_of(const Variant& variant, std::int64_t m) {
  const std::int64_t a = parameter(variant, "A");
  return 1e-6 * static_cast<double>((m + 16 * a - 1) / (16 * a) * (a + 2)) * (parameter(variant, "B") == 3 ? 1 : 1.1);
}

/// What was sampled met the power cap, and took that much longer by it.
inline void slow_at_cap(protocol::RoundReport& report, double by) {
  for (auto& sample : report.samples) {
    if (!sample) continue;
    sample->power_cap_s = sample->time_s;
    sample->time_s *= by;
  }
}

struct TestFamily {
  TestSearch search;
  FamilyRequest request;
  FakeDevice* device = nullptr;
  std::function<void(const Progress&)> sees_progress;

  TestFamily() {
    search.definition = tiled_template();
    request.problem = parse_shape("4096x256x256").and_then(with_default_strides).value();
    request.kernels = 8;
    request.probes = 3;
    search.plan = [this](const Variant& variant) { return script_of(variant); };
  }
  /// Takes the variant's time at the M that the device is prepared for.
  [[nodiscard]] Script script_of(const Variant& variant) const {
    Script script;
    script.time_s = time_of(variant, device->prepare_request.problem.m);
    return script;
  }
  Result<FamilyResult> run(FakeDevice& on) {
    device = &on;
    return run_family_search(
        request, search.definition, on, search.store, search.options, search.stop,
        [this](const Progress& update) {
          search.progress.push_back(update);
          if (sees_progress) sees_progress(update);
        },
        search.clock(on));
  }
};

/// What a pool of all variants of TestFamily's largest problem refers to.
struct Candidates {
  TestFamily test;
  DeviceInfo device = test.search.device().device_info;
  space::TemplateSet templates = test.search.definition;
  Family family;
  std::vector<Variant> variants;

  Candidates() {
    family.problem = test.request.problem;
    variants = space::legal_variants(templates, family.problem, device).value().variants;
  }
};

}  // namespace pgtune::session
