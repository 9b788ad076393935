// SPDX-License-Identifier: MIT
// Scratch folders and sample rows for the database's tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "db/upkeep/dump.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::db::testing {

using support::ScratchFolder;

inline std::string contents(const std::filesystem::path& path) { return read_file(path).value_or(""); }

/// Everything a database holds, as text.
inline std::string dumped(const Database& database) {
  std::string all;
  dump(database, [&](const std::string& line) { all += line + '\n'; });
  return all;
}

/// What `action` throws, or a failed expectation.
template <typename Action>
Error error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no db::Error was thrown";
  return {"", 0};
}

inline Problem shaped(std::int64_t m, std::int64_t n, std::int64_t k) {
  return with_default_strides({.m = m, .n = n, .k = k}).value();
}

inline BaselineReport baseline(const std::string& library) { return {.library = library, .algorithms = {}}; }

inline Ceilings ceilings(double dram_bytes_per_s) { return {.dram_bytes_per_s = dram_bytes_per_s, .flops = {}}; }

/// A row of each kind, changeable before use.
struct TestSession {
  DeviceInfo device{.uuid = "GPU-1a2b",
                    .name = "H200",
                    .architecture = "sm_90a",
                    .sm_count = 132,
                    .memory_bytes = std::int64_t{140} << 30,
                    .power_limit_w = 700,
                    .mig_profile = {},
                    .driver_version = "580.10",
                    .nvrtc_version = "13.0",
                    .cublaslt_version = "13.0.2"};
  Program program{"0.1.0", "Linux"};
  Problem problem = shaped(512, 512, 512);
  TemplateRow template_row{"sgemm_simt", "c0ffee"};
  SessionRow session;

  TestSession() {
    session.conditions_key = "sustained rotated";
    session.conditions_json = R"({"regime":"sustained"})";
    session.seed = 0xfedcba9876543210U;
    session.command_line = "pgtune search --shape 512x512x512";
  }
  [[nodiscard]] RowId begin(Database& database) const {
    return begin_session(database, device, program, problem, template_row, session);
  }
  [[nodiscard]] ResultKey key() const {
    return {device_class(device).text(), problem.key(),    template_row.name,
            template_row.content_hash,   session.recorded, session.conditions_key};
  }
};

inline Sample sample(double time_s, int position = 0, Stage stage = Stage::kScreen, int round = 0) {
  return {stage, round, position, 100, time_s, 1.98e9};
}

/// Samples of a variant that is known by its key alone.
inline ContenderSamplesRow rounds_of(const std::string& key, std::vector<Sample> samples) {
  return {VariantRow{key, "{}"}, std::move(samples)};
}
inline ContenderSamplesRow rounds_of(int algorithm, std::vector<Sample> samples) {
  return {BaselineAlgorithm{algorithm}, std::move(samples)};
}

/// A right and timed trial of a variant, with a build of its own.
inline TrialRow good_trial(const std::string& key, double time_s = 1e-3) {
  TrialRow trial;
  trial.variant = {key, "{\"key\":\"" + key + "\"}"};
  trial.build = BuildInfo{.cubin_path = {},
                          .cubin_hash = "cubin-" + key,
                          .key_hash = "build-" + key,
                          .registers = 128,
                          .static_smem_bytes = 32768,
                          .compile_s = 0.25};
  trial.report.check = CheckReport{0.125, 1e-7};
  trial.report.samples = {sample(time_s, 0), sample(time_s * 1.01, 1), sample(time_s * 0.99, 2)};
  return trial;
}

inline TrialRow failed_trial(const std::string& key, OutcomeKind kind, const std::string& reason) {
  TrialRow trial;
  trial.variant = {key, "{}"};
  trial.report.outcome = {kind, reason};
  return trial;
}

}  // namespace pgtune::db::testing
