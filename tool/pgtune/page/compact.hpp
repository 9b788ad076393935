// SPDX-License-Identifier: MIT
// What keeps the page's data small: numbers of as many digits as a chart shows, and texts that are told once.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace pgtune::tool {

/// Rounded to so many significant digits, of which JSON then writes no more; null for what is not finite.
[[nodiscard]] nlohmann::json compact(double value, int digits = 5);
/// null for what is not positive: not measured.
[[nodiscard]] nlohmann::json compact_positive(double value, int digits = 5);

/// Texts by number, each once.
class SharedTexts {
 public:
  /// The number of a text.
  [[nodiscard]] std::size_t number_of(const std::string& text);
  [[nodiscard]] const nlohmann::json& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  nlohmann::json texts_ = nlohmann::json::array();
};

}  // namespace pgtune::tool
