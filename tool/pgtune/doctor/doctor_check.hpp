// SPDX-License-Identifier: MIT
// One check of `pgtune doctor`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "tool/pgtune/cli/paths.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

enum class CheckState {
  kOk,
  kNote,     ///< pgtune works without it, or it needs attention
  kMissing,  ///< a search on a GPU needs it
};

struct Check {
  std::string name;
  CheckState state = CheckState::kOk;
  std::string finding;
  std::string remedy;  ///< what to do; empty for kOk
};

/// From a message of the form "<cause>; <remedy>" or "<cause>. <remedy>".
[[nodiscard]] Check failed_check(std::string name, CheckState state, const std::string& message);

/// At most 80 columns: a line with name, state and finding, and one below it with the remedy.
[[nodiscard]] std::string checks_text(const std::vector<Check>& checks, const Terminal& terminal);
/// [{"name", "state": "ok" | "note" | "missing", "finding", "remedy"?}]
[[nodiscard]] nlohmann::json checks_json(const std::vector<Check>& checks);

// `pgtune doctor`, the part about files: configuration, database, file system, space.

/// Changes nothing: a missing database is not created.
[[nodiscard]] std::vector<Check> file_checks(const Paths& paths, const std::filesystem::path& database);

// `pgtune doctor`, the part about CUDA and the GPU: runs the worker's doctor role and evaluates its report.

/// The worker's JSON line (tool/worker/roles.hpp) about `gpu`, an ordinal or UUID. Errors (environment): there is no
/// worker, or it does not reply.
[[nodiscard]] Result<nlohmann::json> ask_worker(const std::string& worker_path, const std::string& gpu);

/// Evaluates such a line. Throws nlohmann::json::exception if it is none.
[[nodiscard]] std::vector<Check> gpu_checks(const nlohmann::json& facts);

/// The checks without a worker. `driver_folder`: /proc/driver/nvidia.
[[nodiscard]] std::vector<Check> checks_without_worker(const Error& problem, const std::string& driver_folder);

}  // namespace pgtune::tool
