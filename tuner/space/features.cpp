// SPDX-License-Identifier: MIT
#include "tuner/space/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/space/point_evaluator.hpp"
#include "tuner/template/builtin_names.hpp"

namespace pgtune::space {
namespace {

float scaled(double value) { return static_cast<float>(std::copysign(std::log2(1 + std::abs(value)), value)); }

bool has_labels(const Parameter& parameter) { return std::holds_alternative<std::string>(parameter.values.front()); }

/// The kernel with the most threads in total.
struct Largest {
  double ctas = 0, threads = 0, smem_bytes = 0;

  [[nodiscard]] double all_threads() const { return ctas * threads; }
};

/// CTAs that a multiprocessor can hold by threads and shared memory; each CTA takes 1 KiB of that in addition.
double ctas_per_sm(const Largest& kernel, const DeviceInfo& device) {
  const double by_threads = device.threads_per_sm / std::max(kernel.threads, 1.0);
  const double by_smem = static_cast<double>(device.smem_per_sm_bytes) / (kernel.smem_bytes + 1024);
  return std::max(1.0, std::floor(std::min(by_threads, by_smem)));
}

/// A kernel's extents, and the number of waves of its CTAs on the device.
struct Occupation {
  Occupation(const Largest& largest, const DeviceInfo& device)
      : kernel(largest), waves(largest.ctas / (ctas_per_sm(largest, device) * std::max(device.sm_count, 1))) {}
  [[nodiscard]] std::array<double, 5> features() const {
    return {kernel.ctas, kernel.threads, kernel.smem_bytes, waves, waves / std::max(std::ceil(waves), 1.0)};
  }
  Largest kernel;
  double waves;
};

/// The kernels' programs: the condition of each launch, then its extents.
class CompiledKernels {
 public:
  CompiledKernels(const TemplateDefinition& definition, PointEvaluator& evaluator) {
    Places& names = evaluator.names();
    const auto compiled = [&](const std::vector<StepProgram::Step>& steps) {
      return StepProgram::compile(steps, names.memory());
    };
    for (const KernelSpec& spec : definition.kernels) {
      Kernel& kernel = kernels_.emplace_back();
      if (spec.when) kernel.when = compiled({names.rule(*spec.when)});
      std::vector<StepProgram::Step> steps;
      const auto add = [&](const Expression& expression) {
        steps.push_back(names.value(expression));
        return *steps.back().target;
      };
      for (const Expression& extent : spec.grid) kernel.grid.push_back(add(extent));
      for (const Expression& extent : spec.block) kernel.block.push_back(add(extent));
      if (spec.dynamic_smem_bytes) kernel.smem = add(*spec.dynamic_smem_bytes);
      kernel.extents = compiled(steps);
    }
  }

  /// Nothing if an expression fails.
  [[nodiscard]] std::optional<Largest> largest(PointEvaluator& evaluator) const {
    const auto product = [&](const std::vector<std::uint32_t>& places) {
      double out = 1;
      for (const std::uint32_t place : places) out *= static_cast<double>(evaluator.value(place));
      return out;
    };
    Largest out;
    for (const Kernel& kernel : kernels_) {
      const StepProgram::End when = kernel.when ? evaluator.end_of(*kernel.when) : StepProgram::End::kPassed;
      if (when == StepProgram::End::kRejected) continue;
      if (when == StepProgram::End::kFault || !evaluator.run(kernel.extents)) return std::nullopt;
      const double smem_bytes = kernel.smem ? static_cast<double>(evaluator.value(*kernel.smem)) : 0;
      const Largest own{product(kernel.grid), product(kernel.block), smem_bytes};
      if (own.all_threads() > out.all_threads()) out = own;
    }
    return out;
  }

 private:
  struct Kernel {
    std::optional<StepProgram> when;
    StepProgram extents;
    std::vector<std::uint32_t> grid, block;
    std::optional<std::uint32_t> smem;
  };
  std::vector<Kernel> kernels_;
};

/// Features and cost of a template's variants by compiled expressions.
class CompiledFeatures {
 public:
  CompiledFeatures(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device)
      : device_(device), evaluator_(definition, problem, device), kernels_(definition, evaluator_) {
    Places& names = evaluator_.names();
    const auto add_names = [&](const std::vector<std::string>& all) {
      for (const std::string& name : all) columns_.push_back({names[name]});
    };
    add_names(device_names());
    add_names(problem_names(problem));
    for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
      const Parameter& parameter = definition.parameters[i];
      if (!has_labels(parameter)) columns_.push_back({names.parameter(i)});
      for (std::size_t value = 0; has_labels(parameter) && value < parameter.values.size(); ++value)
        columns_.push_back({0, Label{i, value}});
    }
    for (const auto* expressions : {&definition.derived, &definition.values}) {
      for (const NamedExpression& entry : *expressions) columns_.push_back({names[entry.name]});
    }
    preset_ = evaluator_.preset_rules();
    std::vector<StepProgram::Step> steps;
    if (definition.l2_bytes) l2_bytes_ = add(names.value(*definition.l2_bytes), steps);
    if (definition.cost) {
      for (const NamedExpression& step : definition.cost->steps) columns_.push_back({add(names.add_step(step), steps)});
      cost_ = add(names.value(definition.cost->clocks), steps);
      columns_.push_back({*cost_});
    }
    program_ = StepProgram::compile(steps, names.memory());
    for (Column& column : columns_) {
      const auto known = column.label ? std::nullopt : names.memory().known()[column.place];
      if (known) column.known = scaled(static_cast<double>(*known));
    }
    evaluator_.prepare();
  }

  /// Adds a variant; false if an expression fails.
  bool add(const Variant& variant, Features::Rows& rows) {
    if (!evaluator_.take(variant) || !evaluator_.run(program_)) return false;
    const auto kernel = kernels_.largest(evaluator_);
    if (!kernel || (cost_ && evaluator_.value(*cost_) < 0)) return false;
    auto& out = rows.features;
    for (const Column& column : columns_) {
      if (column.label) {
        out.push_back(evaluator_.choice(column.label->parameter) == column.label->value ? scaled(1) : scaled(0));
      } else {
        out.push_back(column.known ? *column.known : scaled(static_cast<double>(evaluator_.value(column.place))));
      }
    }
    const Occupation occupation(*kernel, device_);
    for (const double value : occupation.features()) out.push_back(scaled(value));
    if (l2_bytes_) out.push_back(scaled(static_cast<double>(evaluator_.value(*l2_bytes_))));
    for (const StepProgram& rule : preset_) out.push_back(scaled(evaluator_.run(rule) ? 0 : 1));
    rows.costs.push_back(cost_ ? std::optional(static_cast<double>(evaluator_.value(*cost_))) : std::nullopt);
    return true;
  }

 private:
  struct Label {
    std::size_t parameter, value;
  };
  struct Column {
    std::uint32_t place = 0;
    std::optional<Label> label = {};
    std::optional<float> known = {};
  };

  static std::uint32_t add(StepProgram::Step step, std::vector<StepProgram::Step>& steps) {
    steps.push_back(std::move(step));
    return *steps.back().target;
  }

  const DeviceInfo& device_;
  PointEvaluator evaluator_;
  CompiledKernels kernels_;
  std::vector<Column> columns_;
  StepProgram program_;
  std::vector<StepProgram> preset_;  ///< one per rule
  std::optional<std::uint32_t> cost_, l2_bytes_;
};

/// The error of a variant whose features cannot be computed.
tl::unexpected<Error> what_fails(const TemplateDefinition& definition, const Variant& variant, const Problem& problem,
                                 const DeviceInfo& device) {
  TRY(cost_clocks(definition, variant, problem, device));
  TRY(l2_bytes(definition, variant, problem, device));
  TRY(make_launch_plan(definition, variant, problem, device));
  return fail(ErrorKind::kUsage, fmt::format("variant '{}' has no features", variant.key()));
}

}  // namespace

Result<Features::Rows> Features::of(std::span<const Variant> variants) const {
  Rows out;
  out.features.reserve(variants.size() * names_.size());
  CompiledFeatures compiled(definition_, problem_, device_);
  for (const Variant& variant : variants) {
    if (compiled.add(variant, out)) continue;
    return what_fails(definition_, variant, problem_, device_);
  }
  return out;
}

Features::Features(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device)
    : definition_(definition), problem_(problem), device_(device) {
  names_.insert(names_.end(), device_names().begin(), device_names().end());
  const auto facts = problem_names(problem);
  names_.insert(names_.end(), facts.begin(), facts.end());
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
  for (const Rule& rule : definition.preset) names_.push_back("breaks " + rule.expression.text());
}

}  // namespace pgtune::space
