// SPDX-License-Identifier: MIT
// What pgtune stores in the database and reads from it: records of tuner/model, and rows for what only the database
// knows (keys, the contender of a sample). Times in seconds, sizes in bytes. Text named *_json is JSON that the
// database only stores.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/contender.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/family.hpp"
#include "tuner/model/kernel_counters.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::db {

using RowId = std::int64_t;

/// The program that measures and its system. With a device's driver and compilers this is a session's environment.
struct Program {
  std::string version, host_os;
};

struct TemplateRow {
  std::string name, content_hash;
  friend bool operator==(const TemplateRow&, const TemplateRow&) = default;
};

struct SessionRow {
  RowId id = 0;
  std::string uid;           ///< the session's name in every copy and merged file; set by the database layer
  std::string device_uuid;   ///< the board
  std::string device_class;  ///< DeviceClass::text(), and hardware its hardware()
  std::string hardware;
  std::string problem_key;
  std::string template_name, template_hash;  ///< searched: a template, or a set of several
  std::string driver_branch;
  std::string conditions_key;   ///< canonical text
  std::string conditions_json;  ///< the same fields; written only
  std::string kind = "search";  ///< or "bench", "pipeline", "family"
  bool recorded = false;        ///< measured on another machine, by a recording; no search here reuses it
  std::string started_at;       ///< UTC ISO 8601, set by the database layer
  std::string finished_at;      ///< empty while running or after a crash
  std::uint64_t seed = 0;
  std::string command_line;
};

struct VariantRow {
  std::string key;  ///< unique inside a template
  std::string parameters_json;
  TemplateRow origin = {};  ///< the variant's template; when writing, empty means the session's
};

/// Builds with the same key_hash, which must not be empty, are one build. The cubin's path and whether it came from the
/// cache are not stored.
struct TrialRow {
  VariantRow variant;
  std::optional<BuildInfo> build = {};  ///< absent when nothing was compiled
  TrialReport report = {};
  std::string device_uuid = {};  ///< the board it ran on; in reading only
};

/// A trial as a search's history shows it.
struct PastTrialRow {
  TrialRow trial;
  std::int64_t recorded_at_ms = 0;  ///< Unix time
};

/// What is measured. The idle GPU has a row too, with neither variant nor algorithm.
using ContenderRow = std::variant<VariantRow, BaselineAlgorithm>;

/// A contender's samples of rounds. In the floor stage one algorithm has two samples in a round, which differ in
/// position.
struct ContenderSamplesRow {
  ContenderRow contender;
  std::vector<Sample> samples;
};

struct EnergyWindowRow {
  std::optional<ContenderRow> contender = {};  ///< nothing: the idle GPU
  int ordinal = 0;                             ///< number of the window within the contender, from 0
  EnergyWindow window = {};
};

/// Counters of one contender. A variant must have its origin; an algorithm is named by library and description, as no
/// session numbers it.
struct CountersRow {
  std::variant<VariantRow, std::string> contender;
  std::string device_uuid = {}, measured_at = {};  ///< the board, UTC ISO 8601; in reading only
  KernelCounters counters = {};
};

/// Best variant of a finished session. finish_session() writes what begins with the winner; the rest is the session's.
struct BestRow {
  RowId session = 0;
  std::string device_uuid;   ///< the board
  std::string device_class;  ///< DeviceClass::text()
  std::string device_name, architecture, problem_key, template_name, template_hash, finished_at, driver_branch,
      conditions_key;
  bool recorded = false;  ///< see SessionRow
  std::string kind;       ///< of the session; in reading only
  std::string problem_json, device_json;
  std::string variant_key, parameters_json;
  TemplateRow variant_origin = {};  ///< as VariantRow::origin; the other template fields are the session's
  double time_s = 0, tflops = 0, ratio = 0, ratio_low = 0, ratio_high = 0;
  double baseline_first_s = 0, baseline_best_s = 0;
  bool complete = false;
  std::string answer_json;  ///< the whole answer as shown, for --json and for later answers
};

/// What `show` and `report` filter by; empty fields match everything. template_name and template_hash are the
/// session's, winner_template is the best variant's.
struct BestFilter {
  std::optional<std::string> problem_key = {}, device_class = {}, device_uuid = {}, template_name = {},
                             template_hash = {}, conditions_key = {}, winner_template = {};
  std::optional<bool> recorded = {};
  std::string kind = "search";  ///< or "bench", "pipeline"
  bool each_board = false;      ///< the newest of each board instead of the newest of the class
};

/// A stored family and where it was measured.
struct FamilyRow {
  RowId session = 0;
  std::string device_uuid;   ///< the board
  std::string device_class;  ///< DeviceClass::text()
  std::string device_name, architecture, driver_branch, device_json;
  std::string template_hash;  ///< of what was searched
  std::string finished_at;
  bool recorded = false;  ///< see SessionRow
  Family family;
};

/// Empty fields match everything.
struct FamilyFilter {
  std::optional<Problem> problem = {};  ///< families that cover it
  std::optional<std::string> device_class = {}, device_uuid = {}, template_hash = {}, conditions_key = {};
  std::optional<bool> recorded = {};
  std::optional<bool> one_order = {};  ///< families with a sum_order, or those without one
};

/// Totals for `db info`.
struct Totals {
  std::map<std::string, std::int64_t> rows;      ///< table name -> rows
  std::map<std::string, std::int64_t> outcomes;  ///< outcome kind -> variants, each by its newest trial under a key
};

}  // namespace pgtune::db
