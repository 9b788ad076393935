// SPDX-License-Identifier: MIT
// A command's results on standard output: as text one by one, or as one JSON document at the end.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::tool {

/// Bumped when a field changes its meaning or goes away; new fields may appear at any time.
inline constexpr int kJsonSchema = 2;

template <class T>
[[nodiscard]] nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

class ResultDocument {
 public:
  /// `asked`: the number of requested problems. The result of a single problem is the whole document; otherwise the
  /// document has a list of "results". `terminal` must outlive this.
  ResultDocument(Terminal& terminal, bool as_json, std::size_t asked);
  ResultDocument(const ResultDocument&) = delete;
  ResultDocument& operator=(const ResultDocument&) = delete;
  ~ResultDocument();

  /// Calls the function for the requested form.
  void add(const std::function<std::string()>& text, const std::function<nlohmann::json()>& object);
  /// Replaces a missing result in the list of several; text output omits it.
  void add_error(const Problem& problem, const std::string& message);
  /// Prints the document, unless results were printed as text.
  void finish();

 private:
  Terminal& terminal_;
  bool as_json_;
  std::size_t asked_;
  std::vector<nlohmann::json> results_;
};

}  // namespace pgtune::tool
