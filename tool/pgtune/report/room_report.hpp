// SPDX-License-Identifier: MIT
// The report of a room's own results: `pgtune report --NAME`, and a section of the page.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "db/database.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// Results in each form that a report has.
struct RoomResults {
  std::size_t count = 0;
  std::string text;
  nlohmann::json json = nlohmann::json::array();
  nlohmann::json page = nlohmann::json::array();  ///< for the room's script
};

struct RoomReport {
  std::string name;         ///< "pipelines": the option, and the results' key in the page's document
  std::string noun;         ///< "pipeline": the name of one result
  std::string description;  ///< of the option
  std::string how_to_get;   ///< "search one with 'pgtune pipeline'"
  std::string_view script;  ///< JavaScript that adds a section to `roomSections` (page/assets/dom.js)
  /// The results that pass the filter. Throws db::Error for unreadable rows.
  std::function<RoomResults(const db::Database& database, const ResultFilter& filter)> read;
};

}  // namespace pgtune::tool
