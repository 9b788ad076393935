// SPDX-License-Identifier: MIT
// Reads a checked JSON document: values with their path, and the first problem found.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/named_enum.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

/// Keeps the first problem. After it reading continues with empty values, so readers need no error handling.
class JsonProblems {
 public:
  void add(const std::string& path, Error error);
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  std::optional<Error> first_;
};

/// A value of the document with its path ("kernels[0].grid[1]"). Borrows the document and the problems.
class JsonCursor {
 public:
  JsonCursor(const nlohmann::json& value, std::string path, JsonProblems& problems)
      : value_(&value), path_(std::move(path)), problems_(&problems) {}

  /// Checks that this is an object with only these fields.
  void expect_fields(std::initializer_list<std::string_view> fields) const;
  /// A required field; if it is missing, an empty value and a problem.
  [[nodiscard]] JsonCursor required(std::string_view field) const;
  [[nodiscard]] std::optional<JsonCursor> optional(std::string_view field) const;
  /// Elements of an array with `least` to `most` of them.
  [[nodiscard]] std::vector<JsonCursor> elements(std::size_t least, std::size_t most) const;
  /// Elements of an array field that may be absent.
  [[nodiscard]] std::vector<JsonCursor> optional_elements(std::string_view field, std::size_t most) const;

  [[nodiscard]] std::string string() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number() const;
  /// A string that must be one of `choices`.
  [[nodiscard]] std::string choice(const std::vector<std::string_view>& choices) const;
  /// The enumerator of a string that must be one of the enumeration's words; after a problem the one whose value is 0.
  template <NamedEnum Enum>
  [[nodiscard]] Enum choice_of() const {
    return enumerator_of<Enum>(choice(words_of<Enum>())).value_or(Enum{});
  }

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  void problem(std::string message) const;
  void problem(Error error) const { problems_->add(path_, std::move(error)); }

 private:
  [[nodiscard]] JsonCursor child(const nlohmann::json& value, std::string_view field) const;

  const nlohmann::json* value_;
  std::string path_;
  JsonProblems* problems_;
};

/// Parses text as JSON without duplicate keys. Errors (usage) start with "origin:line:column:" and show the line.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const std::string& origin);

}  // namespace pgtune
