// SPDX-License-Identifier: MIT
// The real thing: a GPU behind one measure worker, and a pool of compile workers.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/compile_pool.hpp"
#include "tuner/device/device.hpp"
#include "tuner/device/measure_worker.hpp"

namespace pgtune::device {

/// What happens to a variant that takes its worker with it: the trial gets kCrashed or kTimeout with the reason, the
/// worker is replaced and the problem prepared again. A trial may take trial_floor plus 100 launches of the reference's
/// first heuristic (of the incumbent where there is no reference); a round as much for each contender. A round whose
/// worker died, hung or lost its context is run again one contender at a time, so that the guilty one is found and the
/// others still get their blocks.
class WorkerDevice final : public Device {
 public:
  struct Options {
    std::string worker_path;
    std::string gpu = "0";  ///< ordinal or UUID
    std::string cache_dir;  ///< of cubins
    std::size_t jobs = 0;   ///< compile workers; 0: one a core
    std::chrono::milliseconds compile_timeout{60'000};
    std::chrono::milliseconds prepare_timeout{120'000};
    std::chrono::milliseconds trial_floor{10'000};
    std::chrono::milliseconds hello_timeout{60'000};  ///< creating a context on a large host takes seconds
  };

  /// Starts the measure worker and waits until it has the GPU. Environment errors carry the remedy. Everything runs in
  /// the calling thread; the workers die with it.
  [[nodiscard]] static Result<std::unique_ptr<WorkerDevice>> open(const Options& options);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] std::string source() const override { return "gpu"; }
  [[nodiscard]] Result<ReferenceReport> prepare(const PrepareRequest& request) override;
  [[nodiscard]] std::size_t build_slots() const override { return compile_.slots(); }
  void submit_build(BuildRequest request) override;
  void submit_trial(TrialRequest request) override;
  [[nodiscard]] Result<std::vector<Event>> wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<RoundReport> run_round(const RoundRequest& request) override;
  [[nodiscard]] Result<EnergyWindow> measure_energy(const EnergyRequest& request) override;
  [[nodiscard]] Result<Ceilings> measure_ceilings() override;

 private:
  explicit WorkerDevice(const Options& options);

  [[nodiscard]] Result<void> poll(std::vector<Event>& events);
  [[nodiscard]] std::chrono::milliseconds limit(double expected_s, std::size_t contenders) const;
  [[nodiscard]] Result<RoundReport> run_one_by_one(const RoundRequest& request);
  template <typename T>
  [[nodiscard]] Result<T> call_for(const std::string& op, nlohmann::json body, double expected_s);

  std::chrono::milliseconds trial_floor_;
  CompilePool compile_;
  MeasureWorker measure_;
  DeviceInfo info_;
  double reference_s_ = 0;  ///< time of the reference's first heuristic on the current problem
  RequestId trial_ = 0;     ///< in flight
};

}  // namespace pgtune::device
