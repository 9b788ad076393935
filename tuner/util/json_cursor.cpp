// SPDX-License-Identifier: MIT
#include "tuner/util/json_cursor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "tuner/util/suggestion.hpp"

namespace pgtune {
namespace {

const nlohmann::json kNothing;

std::string field_path(const std::string& path, std::string_view field) {
  return path.empty() ? std::string(field) : fmt::format("{}.{}", path, field);
}

std::string found(const nlohmann::json& value) {
  return fmt::format("found {}", value.is_number_float() ? "a fraction" : value.type_name());
}

}  // namespace

void JsonProblems::add(const std::string& path, Error error) {
  if (first_) return;
  first_ = std::move(error);
  if (!path.empty()) first_->context.push_back(path);
}

void JsonCursor::problem(std::string message) const {
  problems_->add(path_, Error{ErrorKind::kUsage, std::move(message), {}});
}

JsonCursor JsonCursor::child(const nlohmann::json& value, std::string_view field) const {
  return {value, field_path(path_, field), *problems_};
}

void JsonCursor::expect_fields(std::initializer_list<std::string_view> fields) const {
  if (!value_->is_object()) {
    problem(fmt::format("expected an object with the fields {}; {}", fmt::join(fields, ", "), found(*value_)));
    return;
  }
  for (const auto& [key, unused] : value_->items()) {
    if (std::find(fields.begin(), fields.end(), key) != fields.end()) continue;
    const std::vector<std::string> known(fields.begin(), fields.end());
    problem(fmt::format("unknown field '{}'{}", key, suggestion(key, known)));
  }
}

JsonCursor JsonCursor::required(std::string_view field) const {
  if (auto there = optional(field)) return *there;
  problem(fmt::format("the field '{}' is missing", field));
  return child(kNothing, field);
}

std::optional<JsonCursor> JsonCursor::optional(std::string_view field) const {
  if (!value_->is_object()) return std::nullopt;
  const auto found_field = value_->find(field);
  if (found_field == value_->end()) return std::nullopt;
  return child(*found_field, field);
}

std::vector<JsonCursor> JsonCursor::elements(std::size_t least, std::size_t most) const {
  if (!value_->is_array()) {
    problem(fmt::format("expected an array; {}", found(*value_)));
    return {};
  }
  if (value_->size() < least || value_->size() > most) {
    const std::string range = least == most ? fmt::format("{} {}", least, least == 1 ? "entry" : "entries")
                                            : fmt::format("{} to {} entries", least, most);
    problem(value_->empty() ? std::string("the list is empty; give at least one entry")
                            : fmt::format("expected {}; found {}", range, value_->size()));
    return {};
  }
  std::vector<JsonCursor> out;
  out.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    out.emplace_back((*value_)[i], fmt::format("{}[{}]", path_, i), *problems_);
  }
  return out;
}

std::vector<JsonCursor> JsonCursor::optional_elements(std::string_view field, std::size_t most) const {
  const auto list = optional(field);
  return list ? list->elements(0, most) : std::vector<JsonCursor>{};
}

std::string JsonCursor::string() const {
  if (!value_->is_string()) {
    problem(fmt::format("expected a string; {}", found(*value_)));
    return {};
  }
  auto text = value_->get<std::string>();
  if (text.empty()) problem("the string is empty");
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' && c != '\n' && c != '\t'; }))
    problem("the string has a control character");
  return text;
}

std::int64_t JsonCursor::integer() const {
  if (!value_->is_number_integer()) {
    problem(fmt::format("expected an integer; {}", found(*value_)));
    return 0;
  }
  if (value_->is_number_unsigned() &&
      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    problem("the integer does not fit in 64 bits");
    return 0;
  }
  return value_->get<std::int64_t>();
}

double JsonCursor::number() const {
  if (!value_->is_number()) {
    problem(fmt::format("expected a number; {}", found(*value_)));
    return 0;
  }
  return value_->get<double>();
}

std::string JsonCursor::choice(const std::vector<std::string_view>& choices) const {
  std::string text = string();
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    problem(choices.empty() ? fmt::format("there is no '{}', and nothing else to name here; define it first", text)
                            : fmt::format("'{}' is not one of {}", text, fmt::join(choices, ", ")));
  }
  return text;
}

}  // namespace pgtune
