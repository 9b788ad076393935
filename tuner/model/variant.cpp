// SPDX-License-Identifier: MIT
#include "tuner/model/variant.hpp"

#include <algorithm>

namespace pgtune {

std::string to_string(const ParameterValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

std::string Variant::key() const {
  std::string text;
  for (const Assignment& parameter : parameters) {
    if (!text.empty()) text += ',';
    text += parameter.name + '=' + to_string(parameter.value);
  }
  return text;
}

std::string Variant::id() const { return template_name + '/' + key(); }

const ParameterValue* Variant::find(std::string_view name) const {
  const auto it =
      std::find_if(parameters.begin(), parameters.end(), [&](const Assignment& a) { return a.name == name; });
  return it == parameters.end() ? nullptr : &it->value;
}

}  // namespace pgtune
