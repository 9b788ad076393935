// SPDX-License-Identifier: MIT
// The measure worker of a device with one request at a time: opened on one GPU in one role, prepared, called.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "tuner/device/measure_worker.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::device {

struct RoleWorkerOptions {
  std::string worker_path;
  std::string gpu;  ///< ordinal or UUID
  std::chrono::milliseconds request_timeout{120'000};
  std::chrono::milliseconds prepare_timeout{120'000};
};

class RoleWorker {
 public:
  /// Starts the worker. Errors (environment) with the worker's own reason.
  [[nodiscard]] static Result<RoleWorker> open(const std::string& role, const RoleWorkerOptions& options);

  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  /// `what`: the error's text for a reply that is no T.
  template <typename T>
  [[nodiscard]] Result<T> prepare(nlohmann::json request, const std::string& what) {
    TRY_ASSIGN(const auto body, worker_.prepare(std::move(request)));
    return protocol::decode_body<T>(body, what);
  }
  [[nodiscard]] Result<MeasureWorker::Answer> call(const std::string& op, nlohmann::json body) {
    return worker_.call(op, std::move(body), timeout_);
  }

 private:
  RoleWorker(const std::string& role, const RoleWorkerOptions& options);

  MeasureWorker worker_;
  DeviceInfo info_;
  std::chrono::milliseconds timeout_;
};

}  // namespace pgtune::device
