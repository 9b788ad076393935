// SPDX-License-Identifier: MIT
// JSON of every record that names its fields (util/fields.hpp): an object with a member for each. Include this to write
// or read such a record: nlohmann::json then converts it, alone and in arrays and objects.
//
// Reading replaces the whole record, and throws nlohmann::json::exception on a missing field, a wrong type or a word
// that names no enumerator. Members that the record does not name are ignored.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune {

/// A word that names no enumerator is a malformed message like any other. Throws nlohmann::json::exception.
template <NamedEnum Enum>
[[nodiscard]] Enum read_word(const nlohmann::json& word) {
  const auto known = enumerator_of<Enum>(word.get_ref<const std::string&>());
  if (!known) throw nlohmann::json::other_error::create(501, "unknown word " + word.dump(), &word);
  return *known;
}

// One overload for each kind of field; nlohmann's own for the others.

template <typename Value>
void write_field(nlohmann::json& out, const Value& value) {
  out = value;
}
template <NamedEnum Enum>
void write_field(nlohmann::json& out, const Enum& value) {
  out = to_string(value);
}
template <typename Number>
void write_field(nlohmann::json& out, const LowHigh<Number>& pair) {
  out = {pair.low, pair.high};
}
template <typename Value>
void write_field(nlohmann::json& out, const std::optional<Value>& value);
template <typename Record>
void write_field(nlohmann::json& out, const std::shared_ptr<const Record>& value);
template <typename Value>
void write_field(nlohmann::json& out, const std::vector<Value>& values);
template <NamedEnum Enum, typename Value>
void write_field(nlohmann::json& out, const std::map<Enum, Value>& values);

/// As an element of an array: null if empty. As a field it is left out then.
template <typename Value>
void write_field(nlohmann::json& out, const std::optional<Value>& value) {
  out = nullptr;
  if (value) write_field(out, *value);
}
/// The record that it points to; a default record for null.
template <typename Record>
void write_field(nlohmann::json& out, const std::shared_ptr<const Record>& value) {
  write_field(out, value ? *value : Record{});
}
template <typename Value>
void write_field(nlohmann::json& out, const std::vector<Value>& values) {
  out = nlohmann::json::array();
  for (const Value& value : values) write_field(out.emplace_back(), value);
}
template <NamedEnum Enum, typename Value>
void write_field(nlohmann::json& out, const std::map<Enum, Value>& values) {
  out = nlohmann::json::object();
  for (const auto& [key, value] : values) write_field(out[std::string(to_string(key))], value);
}

template <typename Value>
inline constexpr bool is_optional = false;
template <typename Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

template <typename Value>
concept PlainField = !is_low_high<Value> && !NamedEnum<Value>;

template <PlainField Value>
void read_field(const nlohmann::json& in, Value& value) {
  in.get_to(value);
}
template <NamedEnum Enum>
void read_field(const nlohmann::json& in, Enum& value) {
  value = read_word<Enum>(in);
}
template <typename Number>
void read_field(const nlohmann::json& in, const LowHigh<Number>& pair) {
  in.at(0).get_to(pair.low);
  in.at(1).get_to(pair.high);
}
template <typename Value>
void read_field(const nlohmann::json& in, std::optional<Value>& value);
template <typename Record>
void read_field(const nlohmann::json& in, std::shared_ptr<const Record>& value);
template <typename Value>
void read_field(const nlohmann::json& in, std::vector<Value>& values);
template <NamedEnum Enum, typename Value>
void read_field(const nlohmann::json& in, std::map<Enum, Value>& values);

template <typename Value>
void read_field(const nlohmann::json& in, std::optional<Value>& value) {
  value.reset();
  if (!in.is_null()) read_field(in, value.emplace());
}
template <typename Record>
void read_field(const nlohmann::json& in, std::shared_ptr<const Record>& value) {
  auto read = std::make_shared<Record>();
  read_field(in, *read);
  value = std::move(read);
}
template <typename Value>
void read_field(const nlohmann::json& in, std::vector<Value>& values) {
  values.clear();
  // Requests a reference to an array: nlohmann would iterate over a number as over an array of one element.
  for (const nlohmann::json& element : in.get_ref<const nlohmann::json::array_t&>()) {
    Value value{};
    read_field(element, value);
    values.push_back(std::move(value));
  }
}
template <NamedEnum Enum, typename Value>
void read_field(const nlohmann::json& in, std::map<Enum, Value>& values) {
  values.clear();
  for (const auto& [word, content] : in.get_ref<const nlohmann::json::object_t&>())
    read_field(content, values[read_word<Enum>(nlohmann::json(word))]);
}

/// Adds a record's fields to the object `out`.
template <HasFields Record>
void write_fields(nlohmann::json& out, const Record& record) {
  const auto write = [&]<typename Field, FieldRule rule = FieldRule::kRequired>(const char* name, const Field& field,
                                                                                FieldRuleTag<rule> /*rule*/ = {}) {
    if constexpr (is_optional<Field>) {
      if (!field) return;
    }
    if constexpr (rule == FieldRule::kUnlessDefault) {
      if (field == Field{}) return;
    }
    write_field(out[name], field);
  };
  Record::visit_fields(record, write);
}

/// Sets the fields that are present. Throws nlohmann::json::exception if a required one is missing.
template <HasFields Record>
void read_fields(const nlohmann::json& in, Record& record) {
  const auto read = [&]<typename Field, FieldRule rule = FieldRule::kRequired>(const char* name, Field&& field,
                                                                               FieldRuleTag<rule> /*rule*/ = {}) {
    if constexpr (rule == FieldRule::kRequired && !is_optional<std::remove_cvref_t<Field>>) {
      read_field(in.at(name), field);
    } else {
      if (const auto it = in.find(name); it != in.end()) read_field(*it, field);
    }
  };
  Record::visit_fields(record, read);
}

}  // namespace pgtune

template <pgtune::HasFields Record>
struct nlohmann::adl_serializer<Record, void> {
  static void to_json(json& out, const Record& record) {
    out = json::object();
    pgtune::write_fields(out, record);
  }
  static void from_json(const json& in, Record& record) {
    record = Record{};
    pgtune::read_fields(in, record);
  }
};
