// SPDX-License-Identifier: MIT
// Stored counters by contender.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/queries/records.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/kernel_counters.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/session/answer.hpp"

namespace pgtune::tool {

// Counters of a problem's variants and of the baseline's algorithm that they are compared with.

struct ContenderCounters {
  std::optional<Variant> variant = {};  ///< nothing: the baseline
  std::string algorithm = {};           ///< of the baseline, BaselineReport::title(); empty: the best found
  std::optional<KernelCounters> counters = {};
  std::string missing = {};      ///< why there are none
  std::string measured_at = {};  ///< UTC, ISO 8601; empty: just now
  double time_s = 0;             ///< pgtune's time of a launch; 0: not timed
};

/// The baseline of an algorithm with this BaselineReport::title(): "cuBLASLt", "copy".
[[nodiscard]] inline std::string baseline_of(const std::vector<ContenderCounters>& contenders) {
  for (const ContenderCounters& contender : contenders) {
    if (!contender.variant && !contender.algorithm.empty())
      return contender.algorithm.substr(0, contender.algorithm.find_first_of(" :"));
  }
  return "the baseline";
}

struct CounterReport {
  std::vector<ContenderCounters> contenders = {};  ///< the baseline last
  std::string missing = {};                        ///< why there are none
  std::string baseline = "cuBLASLt";               ///< BaselineReport::name()
  std::optional<Ceilings> ceilings = {};           ///< of the GPU, if known
};

/// The first `count` of the ranking and the baseline's algorithm of their ratios, without counters.
[[nodiscard]] std::vector<ContenderCounters> compared_contenders(const session::Answer& answer,
                                                                 const BaselineReport& baseline, std::size_t count);

/// Those of the variant with this key and content of its template; null: none.
[[nodiscard]] const db::CountersRow* find_row(const std::vector<db::CountersRow>& rows, const std::string& content_hash,
                                              const std::string& variant_key);
/// Those of the baseline's algorithm with this title; null: none.
[[nodiscard]] const db::CountersRow* find_row(const std::vector<db::CountersRow>& rows,
                                              const std::string& algorithm_title);

/// The stored counters under the key for these contenders; nothing unless each has some.
[[nodiscard]] std::optional<CounterReport> stored_report(DatabaseStore& store, const session::StoreKey& key,
                                                         std::vector<ContenderCounters> contenders);

}  // namespace pgtune::tool
