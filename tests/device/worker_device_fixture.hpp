// SPDX-License-Identifier: MIT
// A WorkerDevice on the fake worker.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/fake_worker_test.hpp"
#include "tuner/device/worker_device.hpp"

namespace pgtune::device {

class WorkerDeviceTest : public FakeWorkerTest {
 protected:
  [[nodiscard]] WorkerDevice::Options options() const {
    WorkerDevice::Options options;
    options.worker_path = worker_path();
    options.compile = std::make_shared<CompileService>(CompilePool::Options{.worker_path = worker_path(),
                                                                            .cache_dir = folder_.string(),
                                                                            .jobs = 2,
                                                                            .hello_timeout = options.hello_timeout});
    return options;
  }
  /// For tests in which something hangs.
  [[nodiscard]] WorkerDevice::Options impatient_options() const {
    WorkerDevice::Options impatient = options();
    impatient.launch_floor = std::chrono::milliseconds(0);
    impatient.trial_floor = impatient.call_floor = std::chrono::milliseconds(300);
    return impatient;
  }
  [[nodiscard]] static std::unique_ptr<WorkerDevice> open_prepared(const WorkerDevice::Options& options) {
    auto device = WorkerDevice::open(options).value();
    EXPECT_TRUE(device->prepare({problem(), {}}));
    return device;
  }
  static protocol::PrepareRequest alone(const std::string& shape) {
    protocol::PrepareRequest request{with_default_strides(*parse_shape(shape)).value(), {}};
    request.alone = true;
    return request;
  }
  static Result<TrialReport> trial(WorkerDevice& device, int tile) {
    device.submit_trial(trial_request(tile, tile));
    for (;;) {
      auto events = device.wait(std::chrono::milliseconds(10'000));
      if (!events) return tl::unexpected<Error>(events.error());
      if (events->empty()) continue;
      EXPECT_EQ(std::get<protocol::TrialDone>(events->front()).id, tile);
      return std::get<protocol::TrialDone>(events->front()).report;
    }
  }
  static Outcome trial_outcome(WorkerDevice& device, int tile) { return trial(device, tile).value().outcome; }

  static protocol::RoundRequest round_of(const std::vector<int>& tiles, std::vector<int> order) {
    protocol::RoundRequest request{{}, std::move(order), 5};
    for (const int tile : tiles) request.contenders.emplace_back(protocol::BuiltVariant{variant(tile), {}, {}});
    request.contenders.emplace_back(BaselineAlgorithm{0});
    return request;
  }
};

}  // namespace pgtune::device
