// SPDX-License-Identifier: MIT
// Variants from text and by default.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/template/variant_check.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::space {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Result<std::size_t> find_parameter(const TemplateDefinition& definition, std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    if (definition.parameters[i].name == name) return i;
    known.push_back(definition.parameters[i].name);
  }
  return fail(ErrorKind::kUsage,
              fmt::format("the template '{}' has no parameter '{}'{}", definition.name, name, suggestion(name, known)));
}

}  // namespace

Variant TemplateDefinition::default_variant() const {
  Variant out;
  out.template_name = name;
  for (const Parameter& parameter : parameters) out.parameters.push_back({parameter.name, parameter.default_value});
  return out;
}

Result<Variant> parse_variant(const TemplateDefinition& definition, std::string_view text) {
  Variant out = definition.default_variant();
  std::vector<bool> given(definition.parameters.size());
  if (trimmed(text).empty()) return out;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);

    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return fail(ErrorKind::kUsage, fmt::format("'{}' is not of the form NAME=VALUE; separate them by commas", part));
    }
    TRY_ASSIGN(const auto index, find_parameter(definition, trimmed(part.substr(0, equals))));
    const Parameter& parameter = definition.parameters[index];
    if (given[index]) return fail(ErrorKind::kUsage, fmt::format("{} is given twice", parameter.name));
    given[index] = true;

    const std::string_view wanted = trimmed(part.substr(equals + 1));
    const auto value = std::find_if(parameter.values.begin(), parameter.values.end(),
                                    [&](const ParameterValue& entry) { return to_string(entry) == wanted; });
    if (value == parameter.values.end()) return tl::unexpected<Error>(not_a_value(parameter, wanted));
    out.parameters[index].value = *value;
  }
  return out;
}

std::optional<Variant> recorded_variant(const TemplateDefinition& definition, std::string_view key) {
  const auto named = static_cast<std::size_t>(std::count(key.begin(), key.end(), '='));
  auto variant = parse_variant(definition, key);
  if (!variant || named != definition.parameters.size()) return std::nullopt;
  return std::move(*variant);
}

}  // namespace pgtune::space
