// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/result_document.hpp"

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"

namespace pgtune::tool {

using nlohmann::json;

ResultDocument::ResultDocument(Terminal& terminal, bool as_json, std::size_t asked)
    : terminal_(terminal), as_json_(as_json), asked_(asked) {}

ResultDocument::~ResultDocument() = default;

void ResultDocument::add(const std::function<std::string()>& text, const std::function<json()>& object) {
  if (as_json_) {
    results_.push_back(object());
  } else {
    terminal_.print(text());
  }
}

void ResultDocument::add_error(const Problem& problem, const std::string& message) {
  if (as_json_) results_.push_back({{"schema", kJsonSchema}, {"problem", problem}, {"error", message}});
}

void ResultDocument::finish() {
  if (!as_json_) return;
  const bool alone = asked_ == 1 && results_.size() == 1;
  const json document = alone ? results_.front() : json{{"schema", kJsonSchema}, {"results", results_}};
  terminal_.print(document.dump(2) + '\n');
}

}  // namespace pgtune::tool
