// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/template_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "tool/pgtune/export/cpp_names.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/builtin_names.hpp"

namespace pgtune::tool {
namespace {

using space::Expression;
using space::NamedExpression;
using space::TemplateDefinition;

/// The C++ names for the names in a template's expressions.
class CppScope {
 public:
  explicit CppScope(const TemplateDefinition& definition) {
    const auto& of_problem = definition.interface == nullptr ? space::problem_names() : definition.interface->names;
    for (const auto* facts : {&space::device_names(), &of_problem}) {
      for (const std::string& name : *facts) add(name, "f.v_" + name, true);
    }
    for (const space::Parameter& parameter : definition.parameters) add(parameter.name, "v_" + parameter.name, false);
    for (const NamedExpression& entry : definition.derived)
      add(entry.name, "v_" + entry.name, depends_on_call(entry.expression));
    for (const NamedExpression& entry : definition.values) add(entry.name, "v_" + entry.name, true);
  }

  /// From here on the name has a new meaning: a define, or a step of the cost.
  void add(const std::string& name, std::string cpp, bool of_call) {
    names_[name] = std::move(cpp);
    if (of_call) {
      of_call_.insert(name);
    } else {
      of_call_.erase(name);
    }
  }

  /// Whether the value may change with the problem or the device; otherwise it is the tuned variant's.
  [[nodiscard]] bool depends_on_call(const Expression& expression) const {
    return std::any_of(expression.names().begin(), expression.names().end(),
                       [&](const std::string& name) { return of_call_.contains(name); });
  }
  [[nodiscard]] bool depends_on_call(const std::string& name) const { return of_call_.contains(name); }

  [[nodiscard]] std::string text(const Expression& expression) const {
    std::vector<std::string> names;
    for (const std::string& name : expression.names()) names.push_back(names_.at(name));
    return expression.cpp(names);
  }
  [[nodiscard]] std::string list(const std::vector<Expression>& expressions) const {
    std::vector<std::string> texts;
    for (const Expression& expression : expressions) texts.push_back(text(expression));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

 private:
  std::map<std::string, std::string> names_;
  std::set<std::string> of_call_;
};

/// A buffer's name in the facts.
std::string buffer_name(const TemplateDefinition& definition, Operand operand) {
  if (definition.interface) return definition.interface->buffers.at(buffer_of_operand(operand).value());
  const auto words = gemm_operands();
  return std::string(
      std::find_if(words.begin(), words.end(), [&](const auto& named) { return named.first == operand; })->second);
}

std::string place_of(const TemplateDefinition& definition, Operand operand) {
  if (operand == Operand::kWorkspace) return "kWorkspace";
  return fmt::format("{}::place_{}", facts_type(definition), buffer_name(definition, operand));
}

std::string map_type(const TemplateDefinition& definition, const space::TensorMapSpec& map) {
  if (map.type) return std::string(cuda_tensor_type(*map.type));
  if (map.operand == Operand::kWorkspace) return std::string(cuda_tensor_type(TensorType::kFloat32));
  return "f.tensor_" + buffer_name(definition, map.operand);
}

/// A map's swizzle or L2 promotion: a number of bytes, or the expression of one.
template <typename Word>
std::string bytes_of(const CppScope& scope, const std::optional<Expression>& expression, Word word) {
  if (expression) return scope.text(*expression);
  const std::string_view text = to_string(word);
  return text == "none" ? "0" : std::string(text.substr(0, text.size() - 1));
}

std::string braces(const CppScope& scope, const std::vector<Expression>& expressions) {
  return expressions.empty() ? "{}" : fmt::format("{{{}}}", scope.list(expressions));
}

/// A function object that adds the map of a name when it is first passed, and returns its number.
std::string map_function(const TemplateDefinition& definition, const CppScope& scope, const std::string& name) {
  std::string out = fmt::format(
      "  Int map_{0} = -1;\n  const auto number_of_{0} = [&]() noexcept -> Int {{\n    if (map_{0} >= 0) return "
      "map_{0};\n",
      name);
  bool open_end = false;
  for (const space::TensorMapSpec& map : definition.tensor_maps) {
    if (map.name != name) continue;
    const std::string add = fmt::format(
        "map_{} = add_map(plan, f, x, {{{}, {}, swizzle(x, {}), promotion(x, {}), {}, {}, {}, {}}})", name,
        place_of(definition, map.operand), map_type(definition, map), bytes_of(scope, map.swizzle_bytes, map.swizzle),
        bytes_of(scope, map.l2_promotion_bytes, map.l2_promotion), map.dims.size(), braces(scope, map.dims),
        braces(scope, map.strides), braces(scope, map.box));
    if (map.when) {
      out += fmt::format("    if (yes({})) return {};\n", scope.text(*map.when), add);
    } else {
      out += fmt::format("    return {};\n", add);
      open_end = true;
    }
  }
  if (!open_end) out += "    return fault(x);\n";
  return out + "  };\n";
}

std::string argument(const TemplateDefinition& definition, const space::ArgumentSpec& spec, const CppScope& scope) {
  switch (spec.kind) {
    case ArgumentKind::kPointer:
      return fmt::format("pointer(k, {})", place_of(definition, spec.operand));
    case ArgumentKind::kTensorMap:
      return fmt::format("map(k, number_of_{}())", spec.tensor_map);
    case ArgumentKind::kInt32:
      return fmt::format("int32(k, x, {})", scope.text(*spec.expression));
    case ArgumentKind::kInt64:
      return fmt::format("int64(k, {})", scope.text(*spec.expression));
    case ArgumentKind::kFloat32:
      break;
  }
  return fmt::format("scalar(k, {}::scalar_{})", facts_type(definition), spec.scalar);
}

std::string kernel_code(const TemplateDefinition& definition, const space::KernelSpec& kernel, std::size_t symbol,
                        const CppScope& scope) {
  const bool first = &kernel == &definition.kernels.front();
  std::string out =
      fmt::format("  {} {{  // {}\n    KernelPlan& k = add_kernel(plan, {});\n",
                  kernel.when ? fmt::format("if (yes({}))", scope.text(*kernel.when)) : "", kernel.symbol, symbol);
  out +=
      fmt::format("    set(k.grid, {});\n    set(k.block, {});\n", scope.list(kernel.grid), scope.list(kernel.block));
  if (!kernel.cluster.empty()) out += fmt::format("    set(k.cluster, {});\n", scope.list(kernel.cluster));
  if (kernel.dynamic_smem_bytes) out += fmt::format("    k.smem_bytes = {};\n", scope.text(*kernel.dynamic_smem_bytes));
  if (kernel.waits_first)
    out += fmt::format("    k.overlaps = yes({});\n", scope.text(*kernel.waits_first));
  else if (kernel.programmatic_dependent_launch && !first)
    out += fmt::format("    if (plan.kernel_count > 1) k.overlaps = yes({});\n",
                       scope.text(*kernel.programmatic_dependent_launch));
  if (kernel.co_resident) out += fmt::format("    k.co_resident = yes({});\n", scope.text(*kernel.co_resident));
  for (const space::ArgumentSpec& spec : kernel.arguments)
    out += fmt::format("    {};\n", argument(definition, spec, scope));
  return out +
         "    if (x || !launchable(k, f)) return refuse(plan, x ? kNoValue : \"it would break a limit of CUDA\");\n  "
         "}\n";
}

std::string workspace_code(const TemplateDefinition& definition, const CppScope& scope) {
  if (!definition.workspace_bytes) return "";
  std::string out = fmt::format("  plan.workspace_bytes = {};\n", scope.text(*definition.workspace_bytes));
  if (definition.zero_workspace) out += "  plan.zeroes_workspace = true;\n";
  return out + "  if (x || plan.workspace_bytes < 0) return refuse(plan, kNoValue);\n";
}

void add_values(std::string& out, const std::vector<NamedExpression>& values, const CppScope& scope) {
  for (const NamedExpression& entry : values)
    out += fmt::format("  [[maybe_unused]] const Int v_{} = {};\n", entry.name, scope.text(entry.expression));
  if (!values.empty()) out += "  if (x) return refuse(plan, kNoValue);\n";
}

void add_rules(std::string& out, const std::vector<space::Rule>& rules, const CppScope& scope) {
  for (const space::Rule& rule : rules) {
    if (!scope.depends_on_call(rule.expression)) continue;
    out += fmt::format("  if (breaks(plan, x, {},\n             {}))\n    return false;\n", scope.text(rule.expression),
                       cpp_string(rule.reason));
  }
}

void add_macro_checks(std::string& out, const TemplateDefinition& definition, CppScope scope) {
  std::size_t number = 0;
  for (const NamedExpression& entry : definition.derived) {
    if (scope.depends_on_call(entry.name))
      out += fmt::format("  if (differs(plan, x, v_{}, built[{}])) return false;\n", entry.name, number++);
  }
  for (const NamedExpression& entry : definition.defines) {
    const bool of_call = scope.depends_on_call(entry.expression);
    out += fmt::format("  [[maybe_unused]] const Int d_{} = {};\n", entry.name, scope.text(entry.expression));
    const bool edge = of_call && entry.name == space::kEdgeDefine;
    // What follows from edges follows from those that the kernel was built for.
    scope.add(entry.name, edge ? fmt::format("built[{}]", number) : "d_" + entry.name, of_call);
    if (of_call)
      out += fmt::format("  if ({}(plan, x, d_{}, built[{}])) return false;\n", edge ? "exceeds" : "differs",
                         entry.name, number++);
  }
}

void add_cost(std::string& out, const TemplateDefinition& definition, CppScope scope) {
  if (!definition.cost) return;
  for (const NamedExpression& step : definition.cost->steps) {
    out += fmt::format("  [[maybe_unused]] const Int c_{} = {};\n", step.name, scope.text(step.expression));
    scope.add(step.name, "c_" + step.name, true);
  }
  out += fmt::format("  plan.cost = {};\n  if (x) plan.cost = -1;\n", scope.text(definition.cost->clocks));
}

template <typename Visit>
void each_expression(const TemplateDefinition& definition, const Visit& visit) {
  const auto named = [&](const std::vector<NamedExpression>& entries) {
    for (const NamedExpression& entry : entries) visit(entry.expression);
  };
  const auto all = [&](const std::vector<Expression>& expressions) {
    for (const Expression& expression : expressions) visit(expression);
  };
  const auto maybe = [&](const std::optional<Expression>& expression) {
    if (expression) visit(*expression);
  };
  for (const auto* rules : {&definition.constraints, &definition.legality}) {
    for (const space::Rule& rule : *rules) visit(rule.expression);
  }
  named(definition.values);
  named(definition.defines);
  maybe(definition.workspace_bytes);
  for (const space::TensorMapSpec& map : definition.tensor_maps) {
    maybe(map.when);
    for (const auto* list : {&map.dims, &map.strides, &map.box}) all(*list);
    maybe(map.swizzle_bytes);
    maybe(map.l2_promotion_bytes);
  }
  for (const space::KernelSpec& kernel : definition.kernels) {
    for (const auto* list : {&kernel.grid, &kernel.block, &kernel.cluster}) all(*list);
    for (const auto* one : {&kernel.when, &kernel.dynamic_smem_bytes, &kernel.programmatic_dependent_launch,
                            &kernel.waits_first, &kernel.co_resident})
      maybe(*one);
    for (const space::ArgumentSpec& spec : kernel.arguments) maybe(spec.expression);
  }
}

}  // namespace

std::optional<std::string> why_not_exported(const TemplateDefinition& definition) {
  for (const space::KernelSpec& kernel : definition.kernels) {
    if (kernel.l2_window)
      return fmt::format("kernel '{}' asks for an L2 window, which depends on settings of the whole device",
                         kernel.symbol);
  }
  return std::nullopt;
}

std::vector<std::string> call_macros(const TemplateDefinition& definition) {
  CppScope scope(definition);
  std::vector<std::string> out;
  for (const NamedExpression& entry : definition.derived) {
    if (scope.depends_on_call(entry.name)) out.push_back(entry.name);
  }
  for (const NamedExpression& entry : definition.defines) {
    const bool of_call = scope.depends_on_call(entry.expression);
    scope.add(entry.name, "", of_call);
    if (of_call) out.push_back(entry.name);
  }
  return out;
}

std::vector<std::int64_t> built_values(const TemplateDefinition& definition, const std::vector<Define>& defines) {
  std::vector<std::int64_t> out;
  for (const std::string& name : call_macros(definition)) {
    const auto define =
        std::find_if(defines.begin(), defines.end(), [&](const Define& other) { return other.name == name; });
    std::int64_t value = 0;
    std::from_chars(define->value.data(), define->value.data() + define->value.size(), value);
    out.push_back(value);
  }
  return out;
}

bool is_served(const TemplateDefinition& definition, const Variant& variant, const Problem& problem,
               const DeviceInfo& device, const std::vector<std::int64_t>& built) {
  const auto builds_so = [&](space::Edges edges) {
    const auto defines = space::make_defines(definition, variant, problem, device, edges);
    return defines && built_values(definition, *defines) == built;
  };
  return builds_so(space::Edges::kOfProblem) || builds_so(space::Edges::kAlways);
}

std::string facts_type(const TemplateDefinition& definition) {
  return definition.interface == nullptr ? "GemmFacts" : "Facts_" + definition.operation;
}

std::vector<std::string> kernel_symbols(const TemplateDefinition& definition) {
  std::vector<std::string> out;
  for (const space::KernelSpec& kernel : definition.kernels) {
    if (std::find(out.begin(), out.end(), kernel.symbol) == out.end()) out.push_back(kernel.symbol);
  }
  return out;
}

std::size_t map_count(const TemplateDefinition& definition) {
  std::set<std::string> names;
  for (const space::TensorMapSpec& map : definition.tensor_maps) names.insert(map.name);
  return names.size();
}

std::size_t argument_count(const TemplateDefinition& definition) {
  std::size_t most = 0;
  for (const space::KernelSpec& kernel : definition.kernels) most = std::max(most, kernel.arguments.size());
  return most;
}

bool asks_for_scalars(const TemplateDefinition& definition) {
  bool asks = false;
  each_expression(definition, [&](const Expression& expression) {
    for (const std::string& name : expression.names())
      asks = asks || (definition.interface == nullptr && (name == "ALPHA_IS_ONE" || name == "BETA_IS_ZERO"));
  });
  return asks;
}

std::string evaluate_function(const TemplateDefinition& definition) {
  const CppScope scope(definition);
  std::string out = fmt::format(
      "/// Template {0}: rules, macros and launch of its JSON (content {1}).\n"
      "inline bool evaluate_{0}([[maybe_unused]] const {2}& f, [[maybe_unused]] const Int* p,\n"
      "    [[maybe_unused]] const Int* built, Plan& plan) noexcept {{\n  bool x = false;\n",
      definition.name, definition.content_hash.substr(0, 12), facts_type(definition));
  for (std::size_t i = 0; i < definition.parameters.size(); ++i)
    out += fmt::format("  [[maybe_unused]] const Int v_{} = p[{}];\n", definition.parameters[i].name, i);
  add_values(out, definition.derived, scope);
  add_rules(out, definition.constraints, scope);
  add_rules(out, definition.legality, scope);
  add_values(out, definition.values, scope);
  add_macro_checks(out, definition, scope);
  out += workspace_code(definition, scope);
  std::set<std::string> passed;
  for (const space::KernelSpec& kernel : definition.kernels) {
    for (const space::ArgumentSpec& spec : kernel.arguments) {
      if (spec.kind == ArgumentKind::kTensorMap && passed.insert(spec.tensor_map).second)
        out += map_function(definition, scope, spec.tensor_map);
    }
  }
  const std::vector<std::string> symbols = kernel_symbols(definition);
  for (const space::KernelSpec& kernel : definition.kernels) {
    const auto symbol = std::find(symbols.begin(), symbols.end(), kernel.symbol) - symbols.begin();
    out += kernel_code(definition, kernel, static_cast<std::size_t>(symbol), scope);
  }
  out += "  if (plan.kernel_count == 0) return refuse(plan, \"it launches no kernel for this problem\");\n";
  add_cost(out, definition, scope);
  return out + "  return true;\n}\n";
}

}  // namespace pgtune::tool
