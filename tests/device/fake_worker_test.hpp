// SPDX-License-Identifier: MIT
// A fixture for tests that talk to pgtune-fake-worker: its faults and its log, and requests to send.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"
#include "tuner/device/device.hpp"

namespace pgtune::device {

/// One line of the fake worker's log.
struct LoggedRequest {
  pid_t pid = 0;
  std::string role, op, key;
};

class FakeWorkerTest : public testing::Test {
 protected:
  FakeWorkerTest() {
    ::setenv("PGTUNE_FAKE_LOG", (folder_ / "log").c_str(), 1);
    ::unsetenv("PGTUNE_FAKE");
  }
  ~FakeWorkerTest() override {
    ::unsetenv("PGTUNE_FAKE");
    ::unsetenv("PGTUNE_FAKE_LOG");
  }

  static std::string worker_path() { return PGTUNE_FAKE_WORKER; }
  static void set_faults(const std::string& faults) { ::setenv("PGTUNE_FAKE", faults.c_str(), 1); }

  [[nodiscard]] std::vector<LoggedRequest> log() const {
    std::vector<LoggedRequest> requests;
    std::ifstream file(folder_ / "log");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      LoggedRequest request;
      words >> request.pid >> request.role >> request.op;
      std::getline(words >> std::ws, request.key);
      requests.push_back(request);
    }
    return requests;
  }
  /// Operations the measure workers were asked for, in order: "hello prepare trial".
  [[nodiscard]] std::string measure_operations() const {
    std::string operations;
    for (const LoggedRequest& request : log()) {
      if (request.role == "measure") operations += (operations.empty() ? "" : " ") + request.op;
    }
    return operations;
  }

  static Problem problem() { return with_default_strides(*parse_shape("512x512x512")).value(); }
  static Variant variant(std::int64_t tile) { return {"sgemm_simt", {{"BM", tile}, {"BN", std::int64_t{64}}}}; }
  static protocol::BuildRequest build_request(protocol::RequestId id, std::int64_t tile) {
    static const auto source = std::make_shared<const TemplateSource>(
        TemplateSource{"sgemm_simt.cu", "kernel text", {{"device/x.cuh", "header text"}}});
    return {id, variant(tile), source, {{"BM", std::to_string(tile)}}, "sm_90a"};
  }
  static protocol::TrialRequest trial_request(protocol::RequestId id, std::int64_t tile) {
    return {id, {variant(tile), {}, {}}, 0};
  }

  const support::ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace pgtune::device
