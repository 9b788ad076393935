// SPDX-License-Identifier: MIT
// All that the page shows, as one JSON document.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/report/room_report.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// What a room shows.
struct PageSection {
  const RoomReport& report;
  RoomResults results;
};

/// What a page is made from. Nothing here is owned.
struct PageContent {
  const db::Database& database;
  const std::string& database_name;          ///< as a reader knows it
  const std::vector<StoredResult>& results;  ///< of ResultFilter::load()
  const std::vector<StoredResult>& boards;   ///< of ResultFilter::load_boards()
  const std::vector<StoredResult>& before;   ///< of another database; empty: nothing is compared
  const std::string& before_name;
  const std::vector<PageSection>& sections;
};

/// Throws db::Error for what cannot be read.
[[nodiscard]] nlohmann::json page_data(const Context& context, const PageContent& content);

}  // namespace pgtune::tool
