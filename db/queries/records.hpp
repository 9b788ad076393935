// SPDX-License-Identifier: MIT
// Plain rows of the database, as the rest of pgtune gives and gets them. Times in seconds, sizes in bytes. Text columns
// named *_json hold JSON that the database only stores.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pgtune::db {

using RowId = std::int64_t;

struct DeviceRow {
  std::string uuid, name, architecture;
  std::string info_json;  ///< the full device description
};

/// Software under a session: rows are shared between sessions with equal fields.
struct EnvironmentRow {
  std::string driver_version, driver_branch, nvrtc_version, cublaslt_version, pgtune_version, host_os;
};

struct ProblemRow {
  std::string key;  ///< canonical text, unique
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::string dtype, layout;
  std::string problem_json;
};

struct TemplateRow {
  std::string name, content_hash;
  friend bool operator==(const TemplateRow&, const TemplateRow&) = default;
};

struct SessionRow {
  RowId id = 0;
  std::string uid;  ///< the session's name in every copy and merged file; set by the database layer
  std::string device_uuid, problem_key;
  std::string template_name, template_hash;  ///< what was searched: a template, or a set of several
  std::string driver_branch;
  std::string conditions_key;   ///< canonical text
  std::string conditions_json;  ///< the same fields; written only
  std::string kind = "search";  ///< or "bench"
  std::string source;           ///< "gpu" or "replay"
  std::string started_at;       ///< UTC ISO 8601, set by the database layer
  std::string finished_at;      ///< empty while running or after a crash
  std::uint64_t seed = 0;
  std::string command_line;
};

struct VariantRow {
  std::string key;  ///< unique inside a template
  std::string parameters_json;
  TemplateRow origin = {};  ///< the variant's template; left empty in writing: the session's
};

struct BuildRow {
  std::string key_hash;  ///< unique, not empty; a second build with the same hash is the first one again
  std::string cubin_hash;
  int registers = 0;
  std::int64_t static_smem_bytes = 0, local_bytes = 0, spill_bytes = 0;
  double compile_s = 0;
};

struct SampleRow {
  std::string stage;  ///< "screen", "floor", "race" or "final"
  int round = 0, position = 0;
  std::int64_t launches = 0;
  double time_s = 0, sm_clock_hz = 0;
  bool graph = false;
  std::optional<double> temperature_c = {}, power_cap_s = {}, thermal_s = {};  ///< absent: not measured
};

struct OutcomeRow {
  std::string kind, reason;
  bool cut = false;
  std::optional<double> max_error, norm_error;
};

struct TrialRow {
  VariantRow variant;
  std::optional<BuildRow> build;  ///< absent when nothing was compiled
  OutcomeRow outcome;
  std::vector<SampleRow> samples;
};

/// A trial that crashed or hung, with where that was.
struct FatalTrialRow {
  std::string template_name, template_hash, variant_key;
  std::string cubin_hash;  ///< empty: nothing was compiled
  std::string kind, reason;
  std::string problem_json;
  RowId session = 0;
  std::string started_at;  ///< of the session
};

struct BaselineRow {
  std::string library;
  std::string report_json;  ///< all algorithms, in rank order
};

/// Who is measured: a variant, else an algorithm of the baseline (index in its report),
/// else, with neither, the idle GPU.
struct ContenderRow {
  std::optional<VariantRow> variant = {};
  int algorithm = -1;
};

/// A contender's samples of rounds. In the floor, one algorithm has two in a round, told apart by position.
struct ContenderSamplesRow {
  ContenderRow contender;
  std::vector<SampleRow> samples;
};

struct EnergyWindowRow {
  ContenderRow contender;
  int ordinal = 0;  ///< of this contender's windows, from 0
  double window_s = 0, energy_j = 0;
  std::int64_t steps = 0;
  double step_s = 0, uncertainty = 0, averaged_power_w = 0;
  std::int64_t launches = 0;
  double per_launch_s = 0, sm_clock_hz = 0;
  std::optional<double> power_cap_share = {}, thermal_share = {};  ///< absent: not measured
  double temperature_start_c = 0, temperature_end_c = 0;
};

struct CeilingsRow {
  std::string source;       ///< "gpu" or "replay"
  std::string measured_at;  ///< UTC ISO 8601, set by the database layer
  std::string ceilings_json;
};

/// Best variant of a finished session.
struct BestRow {
  RowId session = 0;
  std::string device_uuid, device_name, architecture, problem_key, template_name, template_hash, source, finished_at,
      driver_branch, conditions_key;
  std::string problem_json, device_json;
  std::string variant_key, parameters_json;
  TemplateRow variant_origin = {};  ///< as VariantRow::origin; the other template fields are the session's
  double time_s = 0, tflops = 0, ratio = 0, ratio_low = 0, ratio_high = 0;
  double baseline_first_s = 0, baseline_best_s = 0;
  bool complete = false;
  std::string answer_json;  ///< the whole answer as shown, for --json and for answering again
};

/// What `show` and `report` filter by; empty fields match everything. template_name and template_hash are the
/// session's, winner_template is the best variant's.
struct BestFilter {
  std::optional<std::string> problem_key = {}, device_uuid = {}, template_name = {}, template_hash = {}, source = {},
                             driver_branch = {}, conditions_key = {}, winner_template = {};
  std::string kind = "search";  ///< or "bench"
};

/// Totals for `db info`.
struct Totals {
  std::map<std::string, std::int64_t> rows;      ///< table name -> rows
  std::map<std::string, std::int64_t> outcomes;  ///< outcome kind -> variants, each by its newest trial under a key
};

}  // namespace pgtune::db
