// SPDX-License-Identifier: MIT
#include "tuner/space/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/space/variant_scope.hpp"
#include "tuner/template/builtin_names.hpp"

namespace pgtune::space {
namespace {

float scaled(double value) { return static_cast<float>(std::copysign(std::log2(1 + std::abs(value)), value)); }

bool has_labels(const Parameter& parameter) { return std::holds_alternative<std::string>(parameter.values.front()); }

/// The kernel with the most threads in all.
struct Largest {
  double ctas = 0, threads = 0, smem_bytes = 0;

  [[nodiscard]] double all_threads() const { return ctas * threads; }
};

Result<double> product(const std::vector<Expression>& factors, const Scope& scope) {
  double out = 1;
  for (const Expression& factor : factors) {
    auto value = factor.evaluate(scope);
    if (!value) return tl::unexpected<Error>(std::move(value.error()));
    out *= static_cast<double>(*value);
  }
  return out;
}

Result<Largest> largest_kernel(const TemplateDefinition& definition, const Scope& scope) {
  Largest out;
  for (const KernelSpec& kernel : definition.kernels) {
    if (kernel.when) {
      const auto when = kernel.when->evaluate(scope);
      if (!when) return tl::unexpected<Error>(when.error());
      if (*when == 0) continue;
    }
    const auto ctas = product(kernel.grid, scope), threads = product(kernel.block, scope);
    if (!ctas) return tl::unexpected<Error>(ctas.error());
    if (!threads) return tl::unexpected<Error>(threads.error());
    Largest own{*ctas, *threads, 0};
    if (kernel.dynamic_smem_bytes) {
      const auto smem = kernel.dynamic_smem_bytes->evaluate(scope);
      if (!smem) return tl::unexpected<Error>(smem.error());
      own.smem_bytes = static_cast<double>(*smem);
    }
    if (own.all_threads() > out.all_threads()) out = own;
  }
  return out;
}

/// CTAs of it that a multiprocessor holds at least by threads and shared memory, of which each takes 1 KiB more.
double ctas_per_sm(const Largest& kernel, const DeviceInfo& device) {
  const double by_threads = device.threads_per_sm / std::max(kernel.threads, 1.0);
  const double by_smem = static_cast<double>(device.smem_per_sm_bytes) / (kernel.smem_bytes + 1024);
  return std::max(1.0, std::floor(std::min(by_threads, by_smem)));
}

}  // namespace

Features::Features(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device)
    : definition_(definition), problem_(problem), device_(device) {
  names_.insert(names_.end(), device_names().begin(), device_names().end());
  names_.insert(names_.end(), problem_names().begin(), problem_names().end());
  for (const Parameter& parameter : definition.parameters) {
    if (!has_labels(parameter)) {
      names_.push_back(parameter.name);
      continue;
    }
    for (const ParameterValue& label : parameter.values)
      names_.push_back(fmt::format("{}={}", parameter.name, to_string(label)));
  }
  for (const auto* expressions : {&definition.derived, &definition.values}) {
    for (const NamedExpression& entry : *expressions) names_.push_back(entry.name);
  }
  if (definition.cost) {
    for (const NamedExpression& step : definition.cost->steps) names_.push_back("cost " + step.name);
    names_.emplace_back("cost");
  }
  for (const char* name : {"ctas", "threads", "dynamic smem", "waves", "wave filled"}) names_.emplace_back(name);
  if (definition.l2_bytes) names_.emplace_back("l2 bytes");
}

Result<std::vector<float>> Features::of(const Variant& variant) const {
  auto scope = VariantScope::create(definition_, variant, problem_, device_);
  if (!scope) return tl::unexpected<Error>(std::move(scope.error()));
  std::vector<float> out;
  out.reserve(names_.size());
  const auto add = [&](double value) { out.push_back(scaled(value)); };
  const auto add_named = [&](const std::string& name) { add(static_cast<double>(scope->value(name).value_or(0))); };
  for (const std::string& name : device_names()) add_named(name);
  for (const std::string& name : problem_names()) add_named(name);
  for (std::size_t i = 0; i < definition_.parameters.size(); ++i) {
    const Parameter& parameter = definition_.parameters[i];
    if (!has_labels(parameter)) {
      add_named(parameter.name);
      continue;
    }
    for (const ParameterValue& label : parameter.values) add(variant.parameters[i].value == label ? 1 : 0);
  }
  for (const auto* expressions : {&definition_.derived, &definition_.values}) {
    for (const NamedExpression& entry : *expressions) add_named(entry.name);
  }
  const auto kernel = largest_kernel(definition_, *scope);
  if (!kernel) return tl::unexpected<Error>(kernel.error());
  std::optional<std::int64_t> l2_bytes;
  if (definition_.l2_bytes) {
    const auto bytes = definition_.l2_bytes->evaluate(*scope);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    l2_bytes = *bytes;
  }
  if (definition_.cost) {  // last of the scope's names: a step may be called like a value
    for (const NamedExpression& step : definition_.cost->steps) {
      const auto value = step.expression.evaluate(*scope);
      if (!value) return tl::unexpected<Error>(value.error());
      scope->set(step.name, *value);
      add(static_cast<double>(*value));
    }
    const auto clocks = definition_.cost->clocks.evaluate(*scope);
    if (!clocks) return tl::unexpected<Error>(clocks.error());
    add(static_cast<double>(*clocks));
  }
  const double waves = kernel->ctas / (ctas_per_sm(*kernel, device_) * std::max(device_.sm_count, 1));
  add(kernel->ctas);
  add(kernel->threads);
  add(kernel->smem_bytes);
  add(waves);
  add(waves / std::max(std::ceil(waves), 1.0));
  if (l2_bytes) add(static_cast<double>(*l2_bytes));
  return out;
}

}  // namespace pgtune::space
