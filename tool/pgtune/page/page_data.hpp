// SPDX-License-Identifier: MIT
// The page's content as one JSON document.
#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/report/roofline_report.hpp"
#include "tool/pgtune/report/room_report.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

// Keeps the page's data small: numbers with only the digits that a chart shows, and each text once.

/// Rounded to `digits` significant digits, so that JSON writes no more; null if not finite.
[[nodiscard]] nlohmann::json compact(double value, int digits = 5);
/// null if not positive: not measured.
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

/// What a room shows.
struct PageSection {
  const RoomReport& report;
  RoomResults results;
};

/// The inputs of a page. Owns nothing.
struct PageContent {
  const db::Database& database;
  const std::string& database_name;          ///< as shown to readers
  const std::vector<StoredResult>& results;  ///< of ResultFilter::load()
  const std::vector<StoredResult>& boards;   ///< of ResultFilter::load_boards()
  const std::vector<StoredResult>& before;   ///< of another database; empty: no comparison
  const std::string& before_name;
  const std::vector<db::FamilyRow>& families;  ///< of ResultFilter::load_families()
  const std::vector<PageSection>& sections;
};

/// Throws db::Error for unreadable rows.
[[nodiscard]] nlohmann::json page_data(const Context& context, const PageContent& content);

// The page's data of one search: the best time over the trials, the variants with their parameters, the importance of
// parameters, and the failures.

/// {"tried", "timed", "progress": [[number of the trial, us, Unix time in ms], ...], "spaces": [one a template that has
/// timed variants], "outcomes": [[kind, reason, count], ...]}. A space is {"template", "timed", "parameters":
/// [["NAME=value,value,...", importance], ...], "rows": [[us, cut, index of each parameter's value...], ...]}:
/// parameters that take several values among the timed variants, the most important first, and of the variants the
/// fastest and then others evenly, as many as `variant_limit`. Reasons and parameters are numbers in `texts`.
[[nodiscard]] nlohmann::json search_data(const std::vector<db::PastTrialRow>& history, std::size_t variant_limit,
                                         SharedTexts& texts);

// What the page shows of a final over time: the samples of the winner, its runner-up and cuBLASLt, with clock
// and power.

/// [{"name", "stage", "positions", "place": [...], "us": [...], "mhz": [...], "w": [...]}, ...], one a
/// contender and stage (final, confirm). "place" counts a stage's samples in the order in which they were taken, from
/// 0, and a round has "positions" of them. Of more rounds than `round_limit` every second, third, ... is told. "mhz"
/// and "w" are left out where no sample has them.
[[nodiscard]] nlohmann::json sample_data(const StoredResult& result, const std::vector<db::ContenderSamplesRow>& rounds,
                                         int round_limit);

// The page's data of one problem: its row in tables and charts, and its section.

/// Names of the columns of a finalist's row in "ranking".
[[nodiscard]] nlohmann::json ranking_columns();

/// One result in the table and the charts, with its finalists. Times in us, energies in mJ, clocks in MHz, intensities
/// in FLOP/byte; null if not measured. Long texts are numbers in `texts`.
[[nodiscard]] nlohmann::json problem_data(const StoredResult& result, const RooflinePoint& point, SharedTexts& texts);

/// "names" of the contenders, "rows" of a title and a cell for each, "why": texts for each.
[[nodiscard]] nlohmann::json counters_data(const CounterReport& report, SharedTexts& texts);

/// [[what, text], ...]: the verdict and the facts for judging the numbers, in the words of `pgtune show`.
[[nodiscard]] nlohmann::json judgement_data(const StoredResult& result, SharedTexts& texts);

/// [[what, text], ...]: the origin: program, device, software, and command line.
[[nodiscard]] nlohmann::json provenance_data(const StoredResult& result, const db::SessionRow& session,
                                             const db::Program& program, SharedTexts& texts);

}  // namespace pgtune::tool
