// SPDX-License-Identifier: MIT
// Scratch folders and sample rows for the database's tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "db/upkeep/dump.hpp"

namespace pgtune::db::testing {

/// A folder of its own, gone at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = ::testing::TempDir() + "/pgtune_db_XXXXXX";
    const char* made = ::mkdtemp(name.data());
    EXPECT_NE(made, nullptr);
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

/// A row of each kind, changeable before use.
struct TestSession {
  DeviceRow device{"GPU-1a2b", "H200", "sm_90a", R"({"uuid":"GPU-1a2b"})"};
  EnvironmentRow environment{"580.10", "580", "13.0", "13.0.2", "0.1.0", "Linux"};
  ProblemRow problem{"f32 nn 512x512x512", 512, 512, 512, 1, "f32", "nn", R"({"m":512})"};
  TemplateRow template_row{"sgemm_simt", "c0ffee"};
  SessionRow session;

  TestSession() {
    session.source = "gpu";
    session.conditions_key = "sustained rotated";
    session.conditions_json = R"({"regime":"sustained"})";
    session.seed = 0xfedcba9876543210U;
    session.command_line = "pgtune search --shape 512x512x512";
  }
  [[nodiscard]] RowId begin(Database& database) const {
    return begin_session(database, device, environment, problem, template_row, session);
  }
  [[nodiscard]] ResultKey key() const {
    return {device.uuid,    environment.driver_branch, problem.key, template_row.name, template_row.content_hash,
            session.source, session.conditions_key};
  }
};

inline SampleRow sample(double time_s, int position = 0, const std::string& stage = "screen", int round = 0) {
  return {stage, round, position, 100, time_s, 1.98e9};
}

/// Samples of a variant that is known by its key alone.
inline ContenderSamplesRow rounds_of(const std::string& key, std::vector<SampleRow> samples) {
  return {{VariantRow{key, "{}"}, -1}, std::move(samples)};
}
inline ContenderSamplesRow rounds_of(int algorithm, std::vector<SampleRow> samples) {
  return {{std::nullopt, algorithm}, std::move(samples)};
}

/// A right and timed trial of a variant, with a build of its own.
inline TrialRow good_trial(const std::string& key, double time_s = 1e-3) {
  TrialRow trial;
  trial.variant = {key, "{\"key\":\"" + key + "\"}"};
  trial.build = BuildRow{"build-" + key, "cubin-" + key, 128, 32768, 0, 0, 0.25};
  trial.outcome = {"ok", "", false, 0.125, 1e-7};
  trial.samples = {sample(time_s, 0), sample(time_s * 1.01, 1), sample(time_s * 0.99, 2)};
  return trial;
}

inline TrialRow failed_trial(const std::string& key, const std::string& kind, const std::string& reason) {
  TrialRow trial;
  trial.variant = {key, "{}"};
  trial.outcome.kind = kind;
  trial.outcome.reason = reason;
  return trial;
}

}  // namespace pgtune::db::testing
