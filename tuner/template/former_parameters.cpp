// SPDX-License-Identifier: MIT
#include "tuner/template/former_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tuner/template/template_parser.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {
namespace {

const Parameter* parameter_called(const TemplateDefinition& definition, std::string_view name) {
  const auto found = std::find_if(definition.parameters.begin(), definition.parameters.end(),
                                  [&](const Parameter& parameter) { return parameter.name == name; });
  return found == definition.parameters.end() ? nullptr : &*found;
}

bool has_value(const Parameter& parameter, std::string_view value) {
  return std::any_of(parameter.values.begin(), parameter.values.end(),
                     [&](const ParameterValue& known) { return to_string(known) == value; });
}

FormerValue read_value(const JsonCursor& cursor, const TemplateDefinition& definition, const Parameter* namesake) {
  cursor.expect_fields({"was", "now"});
  const JsonCursor was = cursor.required("was"), now = cursor.required("now");
  if (namesake != nullptr && has_value(*namesake, was.string())) {
    was.problem(
        fmt::format("{} is a value of {} still, so a recorded one would be ambiguous", was.string(), namesake->name));
  }
  if (const auto meant = parse_variant(definition, now.string()); !meant) now.problem(meant.error());
  return {was.string(), now.string()};
}

/// Reads the value of a parameter that the template has gained: what variants did that were recorded without it.
std::string read_absent(const JsonCursor& absent, const JsonCursor& name, const Parameter* gained) {
  if (gained == nullptr) {
    name.problem(fmt::format("the template has no parameter '{}'", name.string()));
  } else if (!has_value(*gained, absent.string())) {
    absent.problem(fmt::format("{} is no value of {}", absent.string(), gained->name));
  }
  return absent.string();
}

FormerParameter read_former(const JsonCursor& cursor, const TemplateDefinition& definition) {
  cursor.expect_fields({"name", "now", "values", "absent"});
  const JsonCursor name = cursor.required("name");
  FormerParameter out;
  out.name = name.string();
  if (!is_identifier(out.name)) name.problem(fmt::format("'{}' cannot be a parameter's name", out.name));
  const Parameter* const namesake = parameter_called(definition, out.name);
  const auto now = cursor.optional("now"), absent = cursor.optional("absent");
  const std::vector<JsonCursor> values = cursor.optional_elements("values", kMaxValues);
  if (now.has_value() + absent.has_value() + !values.empty() != 1) {
    cursor.problem(
        "give either 'now', the present name, or 'values', what each value means now, or 'absent', the value of "
        "variants "
        "recorded before there was the parameter");
  }
  if (absent) out.absent = read_absent(*absent, name, namesake);
  if (now) {
    out.now = now->string();
    if (parameter_called(definition, out.now) == nullptr)
      now->problem(fmt::format("the template has no parameter '{}'", out.now));
    if (namesake != nullptr) name.problem(fmt::format("{} is a parameter still", out.name));
  }
  for (const JsonCursor& value : values) {
    FormerValue entry = read_value(value, definition, namesake);
    if (std::any_of(out.values.begin(), out.values.end(), [&](const auto& known) { return known.was == entry.was; }))
      value.problem(fmt::format("the value {} appears twice", entry.was));
    out.values.push_back(std::move(entry));
  }
  return out;
}

/// "NAME=VALUE" as the template says it now; as it is where it declares nothing of it.
std::string present(const TemplateDefinition& definition, std::string_view part) {
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string_view name = part.substr(0, equals);
  const auto former = std::find_if(definition.former_parameters.begin(), definition.former_parameters.end(),
                                   [&](const FormerParameter& entry) { return entry.name == name; });
  if (former == definition.former_parameters.end() || !former->absent.empty()) return std::string(part);
  if (!former->now.empty()) return former->now + std::string(part.substr(equals));
  const std::string_view value = part.substr(std::min(equals + 1, part.size()));
  const auto meaning = std::find_if(former->values.begin(), former->values.end(),
                                    [&](const FormerValue& entry) { return entry.was == value; });
  return meaning == former->values.end() ? std::string(part) : meaning->now;
}

}  // namespace

std::vector<FormerParameter> read_former_parameters(const JsonCursor& root, const TemplateDefinition& definition) {
  std::vector<FormerParameter> out;
  for (const JsonCursor& element : root.optional_elements("former_parameters", kMaxEntries)) {
    FormerParameter former = read_former(element, definition);
    if (std::any_of(out.begin(), out.end(), [&](const auto& known) { return known.name == former.name; }))
      element.problem(fmt::format("the former parameter {} appears twice", former.name));
    out.push_back(std::move(former));
  }
  return out;
}

std::optional<Variant> recorded_variant(const TemplateDefinition& definition, std::string_view key) {
  std::string text;
  for (bool more = !key.empty(); more;) {
    const std::size_t comma = key.find(',');
    text += (text.empty() ? "" : ",") + present(definition, key.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) key.remove_prefix(comma + 1);
  }
  for (const FormerParameter& gained : definition.former_parameters) {
    if (gained.absent.empty() || ("," + text).find("," + gained.name + "=") != std::string::npos) continue;
    text += (text.empty() ? "" : ",") + gained.name + "=" + gained.absent;
  }
  const auto named = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  auto variant = parse_variant(definition, text);
  if (!variant || named != definition.parameters.size()) return std::nullopt;
  return std::move(*variant);
}

std::string recorded_variant_id(const TemplateDefinition& definition, std::string_view key) {
  const auto variant = recorded_variant(definition, key);
  return variant ? variant->id() : fmt::format("{}/{}", definition.name, key);
}

}  // namespace pgtune::space
