// SPDX-License-Identifier: MIT
#include "test_search.hpp"

#include <cmath>
#include <utility>

namespace pgtune::session {
namespace {

space::Expression expression(const std::string& text) { return space::Expression::parse(text).value(); }

space::Parameter integers(const std::string& name, std::int64_t count) {
  space::Parameter parameter;
  parameter.name = name;
  for (std::int64_t i = 1; i <= count; ++i) parameter.values.emplace_back(i);
  parameter.default_value = std::int64_t{1};
  return parameter;
}

}  // namespace

Problem test_problem() { return parse_shape("256x256x256").and_then(with_default_strides).value(); }

space::TemplateDefinition test_template(const std::vector<std::string>& legality) {
  space::TemplateDefinition definition;
  definition.name = "fake";
  definition.dtypes = {Dtype::kF32};
  definition.parameters = {integers("A", 8), integers("B", 5)};
  for (const std::string& rule : legality) definition.legality.push_back({expression(rule), "because of " + rule});
  space::KernelSpec kernel;
  kernel.symbol = "kernel";
  for (int i = 0; i < 3; ++i) {
    kernel.grid.push_back(expression("1"));
    kernel.block.push_back(expression(i == 0 ? "128" : "1"));
  }
  definition.kernels = {kernel};
  definition.source = std::make_shared<TemplateSource>(TemplateSource{"fake.cu", "", {}});
  definition.content_hash = "hash";
  return definition;
}

std::int64_t parameter(const Variant& variant, const std::string& name) {
  return std::get<std::int64_t>(*variant.find(name));
}

Script plain_script(const Variant& variant) {
  Script script;
  const auto a = static_cast<double>(parameter(variant, "A"));
  const auto b = static_cast<double>(parameter(variant, "B"));
  script.time_s = 1e-3 * (1 + 0.1 * std::abs(a - 5) + 0.15 * std::abs(b - 3));
  return script;
}

FakeDevice::Plan plain_but(std::function<void(const Variant&, Script&)> change) {
  return [change = std::move(change)](const Variant& variant) {
    Script script = plain_script(variant);
    change(variant, script);
    return script;
  };
}

Clock TestSearch::clock(FakeDevice& device) {
  return {[&device] { return device.now_s; }, [] { return std::string("2026-01-01T00:00:00Z"); },
          [this, &device](double seconds) {
            device.now_s += seconds;
            slept_s += seconds;
          }};
}

Result<SearchResult> TestSearch::run(FakeDevice& device) {
  return run_search(
      problem, definition, device, store, options, stop, [this](const Progress& update) { progress.push_back(update); },
      clock(device));
}

}  // namespace pgtune::session
