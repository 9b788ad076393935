// SPDX-License-Identifier: MIT
// A variant: one point of a template's space.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pgtune {

/// Parameters hold integers or labels (for example COPY = "cp_async").
using ParameterValue = std::variant<std::int64_t, std::string>;
[[nodiscard]] std::string to_string(const ParameterValue& value);

struct Assignment {
  std::string name;
  ParameterValue value;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

struct Variant {
  std::string template_name;
  std::vector<Assignment> parameters;  ///< in the template's order

  friend bool operator==(const Variant&, const Variant&) = default;
  /// "BM=128,BN=128,COPY=cp_async": unique inside its template, stable between runs; stored in the database.
  [[nodiscard]] std::string key() const;
  /// "template_name/key": unique among templates.
  [[nodiscard]] std::string id() const;
  /// The value of a parameter, or nullptr.
  [[nodiscard]] const ParameterValue* find(std::string_view name) const;
};

}  // namespace pgtune
