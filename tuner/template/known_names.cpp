// SPDX-License-Identifier: MIT
#include "tuner/template/known_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/expression/expression_parser.hpp"
#include "tuner/expression/expression_program.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/epilogue.hpp"
#include "tuner/template/builtin_names.hpp"
#include "tuner/util/caret.hpp"
#include "tuner/util/identifier.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::space {
namespace {

constexpr std::string_view kLabelPrefix = "LABEL_";

std::string_view describe(NameKind kind) {
  switch (kind) {
    case NameKind::kDevice:
      return "a fact of the device";
    case NameKind::kTypes:
    case NameKind::kProblem:
      return "a fact of the problem";
    case NameKind::kFunction:
      return "a function";
    case NameKind::kParameter:
      return "a parameter";
    case NameKind::kDerived:
      return "a derived value";
    case NameKind::kValue:
      return "a value";
    case NameKind::kDefine:
      return "a define";
    case NameKind::kCount:
      return "a count of the data";
  }
  return "a name";
}

}  // namespace

KnownNames::KnownNames(const OperationInterface* operation) {
  for (const std::string& name : device_names()) kinds_.emplace(name, NameKind::kDevice);
  for (const std::string& name : operation == nullptr ? problem_names() : operation->names)
    kinds_.emplace(name, is_type_name(name) ? NameKind::kTypes : NameKind::kProblem);
  for (const std::string& name : function_names()) kinds_.emplace(name, NameKind::kFunction);
  for (const Dtype dtype : all_dtypes()) labels_["DTYPE"].emplace_back(to_string(dtype));
  for (const Activation activation : all_activations()) labels_["ACTIVATION"].emplace_back(to_string(activation));
}

KnownNames::KnownNames(const std::vector<std::pair<std::string, NameKind>>& names)
    : kinds_(names.begin(), names.end()) {
  for (const std::string& name : function_names()) kinds_.emplace(name, NameKind::kFunction);
}

void KnownNames::add(const std::string& name, NameKind kind, const JsonCursor& cursor) {
  if (!is_identifier(name)) {
    cursor.problem(fmt::format("'{}' cannot be a name: use letters, digits and '_', not starting with a digit", name));
  } else if (name.starts_with(kLabelPrefix)) {
    cursor.problem(
        fmt::format("'{}' starts with LABEL_, which is kept for the labels' macros; choose another name", name));
  } else if (const auto [taken, inserted] = kinds_.emplace(name, kind); !inserted) {
    cursor.problem(fmt::format("'{}' is already {}; choose another name", name, describe(taken->second)));
  }
}

bool KnownNames::is_fact(const std::string& name) const {
  const auto found = kinds_.find(name);
  return found != kinds_.end() && (found->second == NameKind::kDevice || found->second == NameKind::kProblem ||
                                   found->second == NameKind::kTypes);
}

bool KnownNames::usable(const std::string& name, Reach reach) const {
  const auto found = kinds_.find(name);
  if (found == kinds_.end()) return false;
  switch (found->second) {
    case NameKind::kProblem:
      return reach != Reach::kSpace;
    case NameKind::kValue:
      return reach != Reach::kSpace && reach != Reach::kPolicy;
    case NameKind::kDefine:
      return reach == Reach::kDefines;
    case NameKind::kCount:
      return reach == Reach::kCounts;
    case NameKind::kFunction:
      return false;
    default:
      return true;
  }
}

std::string KnownNames::why_not(const std::string& name, Reach reach) const {
  const auto found = kinds_.find(name);
  if (found != kinds_.end() && found->second == NameKind::kFunction) {
    return fmt::format("'{}' is a function: write its arguments in parentheses", name);
  }
  if (found != kinds_.end() && found->second == NameKind::kDefine) {
    return fmt::format("'{}' is a define, which only later defines may use", name);
  }
  if (found != kinds_.end() && found->second == NameKind::kCount) {
    return fmt::format(
        "'{}' is counted in the data, which nobody knows before buffers are filled: only \"flops\" and "
        "\"bytes\" may use it",
        name);
  }
  if (found != kinds_.end() && reach == Reach::kPolicy) {
    return fmt::format(
        "'{}' is one of \"values\", which \"policy\" does not know: it knows parameters, derived values and facts of "
        "the problem and the device, so write the expression out",
        name);
  }
  if (found != kinds_.end()) {
    return fmt::format(
        "'{}' belongs to the problem: derived values and constraints hold for every problem, so use it "
        "in \"legality\", \"defines\" or the launch",
        name);
  }
  if (later_.contains(name)) return fmt::format("'{}' is defined further down; move its definition before this", name);
  std::vector<std::string> candidates;
  for (const auto& [known, kind] : kinds_) {
    if (usable(known, reach)) candidates.push_back(known);
  }
  std::sort(candidates.begin(), candidates.end());
  return fmt::format("unknown name '{}'{}", name, suggestion(name, candidates));
}

Expression KnownNames::read(const JsonCursor& cursor, Reach reach) const {
  if (!cursor.value().is_string()) {
    cursor.problem("expected an expression in a string, such as \"256\" or \"BM / TM\"");
    return *Expression::parse("0");
  }
  return read(cursor, cursor.value().get_ref<const std::string&>(), reach);
}

Expression KnownNames::read(const JsonCursor& cursor, std::string_view text, Reach reach) const {
  auto parsed = Expression::parse(text);
  if (!parsed) {
    cursor.problem(std::move(parsed.error()));
    return *Expression::parse("0");
  }
  for (std::size_t i = 0; i < parsed->names().size(); ++i) {
    const std::string& name = parsed->names()[i];
    if (usable(name, reach)) continue;
    cursor.problem(with_caret(why_not(name, reach), parsed->text(), parsed->name_position(i)));
  }
  for (const LabelComparison& comparison : parsed->program().label_comparisons) {
    const auto found = labels_.find(comparison.name);
    if (found == labels_.end()) continue;
    const std::vector<std::string>& labels = found->second;
    if (std::find(labels.begin(), labels.end(), comparison.label) != labels.end()) continue;
    const std::string cause = fmt::format("'{}' is no label of '{}', which has {}", comparison.label, comparison.name,
                                          fmt::join(labels, ", "));
    cursor.problem(with_caret(cause, parsed->text(), comparison.position));
  }
  return *parsed;
}

}  // namespace pgtune::space
