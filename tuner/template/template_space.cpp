// SPDX-License-Identifier: MIT
// Reads the parts of a template's space: parameters, named expressions, rules.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "tuner/template/template_parser.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {
namespace {

std::optional<ParameterValue> read_value(const JsonCursor& cursor) {
  if (cursor.value().is_number_integer()) return cursor.integer();
  if (!cursor.value().is_string()) {
    cursor.problem("a parameter's value is an integer or a label");
    return std::nullopt;
  }
  std::string label = cursor.string();
  if (!is_label(label)) {
    cursor.problem(fmt::format("'{}' cannot be a label: use letters, digits and '_'", label));
    return std::nullopt;
  }
  return label;
}

std::vector<ParameterValue> read_values(const JsonCursor& cursor) {
  std::vector<ParameterValue> out;
  for (const JsonCursor& element : cursor.elements(1, kMaxValues)) {
    const auto value = read_value(element);
    if (!value) return out;
    if (!out.empty() && value->index() != out.front().index()) {
      element.problem("integers and labels cannot be mixed in one parameter");
    }
    if (std::find(out.begin(), out.end(), *value) != out.end()) {
      element.problem(fmt::format("the value {} appears twice", to_string(*value)));
    }
    out.push_back(*value);
  }
  return out;
}

Parameter read_parameter(const JsonCursor& cursor, KnownNames& names) {
  cursor.expect_fields({"name", "values", "default", "description"});
  const JsonCursor name = cursor.required("name");
  Parameter out;
  out.name = name.string();
  names.add(out.name, NameKind::kParameter, name);
  out.values = read_values(cursor.required("values"));
  if (!out.values.empty() && std::holds_alternative<std::string>(out.values.front())) {
    std::vector<std::string> labels;
    for (const ParameterValue& value : out.values) labels.push_back(to_string(value));
    names.set_labels(out.name, std::move(labels));
  }
  const JsonCursor chosen = cursor.required("default");
  if (const auto value = read_value(chosen)) {
    out.default_value = *value;
    if (std::find(out.values.begin(), out.values.end(), *value) == out.values.end()) {
      std::vector<std::string> known;
      for (const ParameterValue& entry : out.values) known.push_back(to_string(entry));
      chosen.problem(
          fmt::format("the default {} is not among the values {}", to_string(*value), fmt::join(known, ", ")));
    }
  }
  if (const auto description = cursor.optional("description")) out.description = description->string();
  return out;
}

/// Labels are compared by number, so two of a template's labels, or one and a dtype's or activation's, must not
/// share one.
void check_label_values(const std::vector<Parameter>& parameters, const JsonCursor& root) {
  std::unordered_map<std::int64_t, std::string> labels;
  for (const Dtype dtype : all_dtypes()) labels.emplace(label_value(to_string(dtype)), to_string(dtype));
  for (const Activation word : all_activations()) labels.emplace(label_value(to_string(word)), to_string(word));
  for (const Parameter& parameter : parameters) {
    for (const ParameterValue& value : parameter.values) {
      const auto* const label = std::get_if<std::string>(&value);
      if (label == nullptr) continue;
      const auto [known, inserted] = labels.emplace(label_value(*label), *label);
      if (!inserted && known->second != *label) {
        root.problem(
            fmt::format("the labels '{}' and '{}' have the same internal number; rename one", known->second, *label));
      }
    }
  }
}

/// {"name": "TRANS_A", "expr": "TRANS_A"} gives the kernel a built-in fact as the macro of that name.
bool hands_on_fact(NameKind kind, const std::string& name, const Expression& expression, const KnownNames& names) {
  return kind == NameKind::kDefine && expression.text() == name && names.is_fact(name);
}

}  // namespace

std::vector<Parameter> read_parameters(const JsonCursor& root, KnownNames& names) {
  std::vector<Parameter> out;
  const JsonCursor list = root.required("parameters");
  for (const JsonCursor& element : list.elements(1, kMaxParameters)) out.push_back(read_parameter(element, names));
  check_label_values(out, list);
  return out;
}

std::vector<NamedExpression> read_named_expressions(const JsonCursor& root, std::string_view field, NameKind kind,
                                                    Reach reach, KnownNames& names) {
  const std::vector<JsonCursor> elements = root.optional_elements(field, kMaxEntries);
  for (const JsonCursor& element : elements) {
    element.expect_fields({"name", "expr"});
    names.announce(element.required("name").string());
  }
  std::vector<NamedExpression> out;
  for (const JsonCursor& element : elements) {
    const JsonCursor name = element.required("name");
    Expression expression = names.read(element.required("expr"), reach);
    if (!hands_on_fact(kind, name.string(), expression, names)) names.add(name.string(), kind, name);
    out.push_back({name.string(), std::move(expression)});
  }
  return out;
}

std::vector<Rule> read_rules(const JsonCursor& root, std::string_view field, Reach reach, const KnownNames& names) {
  std::vector<Rule> out;
  for (const JsonCursor& element : root.optional_elements(field, kMaxEntries)) {
    element.expect_fields({"expr", "reason"});
    out.push_back({names.read(element.required("expr"), reach), element.required("reason").string()});
  }
  return out;
}

std::vector<Variant> read_seeds(const JsonCursor& root, const TemplateDefinition& definition) {
  std::vector<Variant> out;
  for (const JsonCursor& element : root.optional_elements("seeds", kMaxEntries)) {
    auto seed = parse_variant(definition, element.string());
    if (!seed) {
      element.problem(std::move(seed.error()));
    } else if (std::find(out.begin(), out.end(), *seed) != out.end()) {
      element.problem("this seed appears twice");
    } else {
      out.push_back(std::move(*seed));
    }
  }
  return out;
}

}  // namespace pgtune::space
