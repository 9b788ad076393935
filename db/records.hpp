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
  std::string math_mode, layout;
  std::string problem_json;
};

struct TemplateRow {
  std::string name, content_hash;
};

struct SessionRow {
  RowId id = 0;
  std::string device_uuid, problem_key, template_name, template_hash, driver_branch;
  std::string source;       ///< "gpu" or "replay"
  std::string started_at;   ///< UTC ISO 8601, set by the database layer
  std::string finished_at;  ///< empty while running or after a crash
  std::uint64_t seed = 0;
  std::string command_line;
};

struct VariantRow {
  std::string key;  ///< unique inside a template
  std::string parameters_json;
};

struct BuildRow {
  std::string key_hash;  ///< unique, not empty; a second build with the same hash is the first one again
  std::string cubin_hash;
  int registers = 0;
  std::int64_t static_smem_bytes = 0, local_bytes = 0, spill_bytes = 0;
  double compile_s = 0;
};

struct BlockRow {
  std::string stage;  ///< "screen" or "final"
  int round = 0, position = 0;
  std::int64_t launches = 0;
  double time_s = 0, sm_clock_hz = 0;
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
  std::vector<BlockRow> blocks;
};

struct ReferenceRow {
  std::string library;
  std::string report_json;  ///< all algorithms, in rank order
};

/// Blocks of one algorithm of the reference in the final.
struct ReferenceBlocksRow {
  int algorithm = 0;
  std::vector<BlockRow> blocks;
};

/// Best variant of a finished session.
struct BestRow {
  RowId session = 0;
  std::string device_uuid, device_name, architecture, problem_key, template_name, template_hash, source, finished_at,
      driver_branch;
  std::string problem_json, device_json;
  std::string variant_key, parameters_json;
  double time_s = 0, tflops = 0, ratio = 0, ratio_low = 0, ratio_high = 0;
  double reference_first_s = 0, reference_best_s = 0;
  bool complete = false;
  std::string answer_json;  ///< the whole answer as shown, for --json and for answering again
};

/// What `show` and `report` filter by; empty fields match everything.
struct BestFilter {
  std::optional<std::string> problem_key = {}, device_uuid = {}, template_name = {}, template_hash = {}, source = {},
                             driver_branch = {};
};

/// Totals for `db info`.
struct Totals {
  std::map<std::string, std::int64_t> rows;      ///< table name -> rows
  std::map<std::string, std::int64_t> outcomes;  ///< outcome kind -> variants, each by its newest trial under a key
};

}  // namespace pgtune::db
