// SPDX-License-Identifier: MIT
// A real GPU behind one measure worker, with compile workers that it may share with other devices.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/compile_service.hpp"
#include "tuner/device/device.hpp"
#include "tuner/device/measure_worker.hpp"
#include "tuner/device/neighbour_clocks.hpp"

namespace pgtune::device {

/// When a variant ends its worker, the trial gets kCrashed or kTimeout with the reason, the worker is replaced and the
/// problem prepared again. A launch's time limit is a hundred times the lesser of the incumbent's time and that of the
/// baseline's first heuristic, and at least launch_floor; where neither is known, it follows from the problem's flops.
/// The worker itself cuts the checked launch at this limit; variants usually hang there. A whole trial may take
/// trial_floor, plus the time that preparing the problem took (a wrong result may need a new float64 baseline), plus
/// two launches at the limit. A round may take the same, plus a launch and the samples of each contender. A round whose
/// worker died, hung or lost its context is repeated with one contender at a time, so that the guilty one is found and
/// the others get their samples.
class WorkerDevice final : public Device {
 public:
  struct Options {
    std::string worker_path;
    std::string gpu = "0";                               ///< ordinal or UUID
    std::shared_ptr<CompileService> compile;             ///< the compile workers
    std::shared_ptr<const GpusAtWork> at_work = {};      ///< of the machine; null: only this GPU works
    std::chrono::milliseconds prepare_timeout{120'000};  ///< more for large problems
    std::chrono::milliseconds launch_floor{500};
    std::chrono::milliseconds trial_floor{2'000};
    std::chrono::milliseconds call_floor{10'000};     ///< added to the expected time of an energy window or of the
                                                      ///< ceilings
    std::string cache_dir = {};                       ///< where cubins of references go; empty: nowhere
    std::chrono::milliseconds hello_timeout{60'000};  ///< creating a context on a large host takes seconds
  };

  /// Starts the measure worker and waits until it has the GPU. Environment errors carry the remedy. The measure worker
  /// dies with the calling thread, in which everything here runs.
  [[nodiscard]] static Result<std::unique_ptr<WorkerDevice>> open(const Options& options);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] Result<BaselineReport> prepare(const protocol::PrepareRequest& request) override;
  [[nodiscard]] std::optional<protocol::PrepareRequest> prepared() const override { return measure_.prepared(); }
  [[nodiscard]] std::size_t build_slots() const override { return compile_->slots(); }
  void submit_build(protocol::BuildRequest request) override;
  void submit_trial(protocol::TrialRequest request) override;
  [[nodiscard]] Result<std::vector<protocol::Event>> wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<protocol::RoundReport> run_round(const protocol::RoundRequest& request) override;
  [[nodiscard]] Result<protocol::VerifyReport> verify(const protocol::VerifyRequest& request) override;
  [[nodiscard]] Result<protocol::RowsReport> compare_rows(const protocol::RowsRequest& request) override;
  [[nodiscard]] Result<EnergyWindow> measure_energy(const protocol::EnergyRequest& request) override;
  [[nodiscard]] Result<Ceilings> measure_ceilings() override;
  /// Uses a separate process, which needs no CUDA and leaves the measure worker's state unchanged.
  [[nodiscard]] OtherProcesses other_processes() override;
  [[nodiscard]] std::vector<ClockBeside> clocks_beside() const override { return neighbour_clocks_.clocks(); }

 private:
  explicit WorkerDevice(const Options& options);

  [[nodiscard]] Result<void> poll(std::vector<protocol::Event>& events);
  /// The time limit of one launch.
  [[nodiscard]] double launch_limit_s(double incumbent_s) const;
  [[nodiscard]] std::chrono::milliseconds trial_limit(double launch_limit_s) const;
  [[nodiscard]] std::chrono::milliseconds round_limit(const protocol::RoundRequest& request) const;
  [[nodiscard]] Result<protocol::RoundReport> run_one_by_one(const protocol::RoundRequest& request);
  template <typename T>
  [[nodiscard]] Result<T> call_for(const std::string& op, nlohmann::json body, double expected_s);

  std::string worker_path_;
  std::chrono::milliseconds launch_floor_, trial_floor_, call_floor_;
  std::shared_ptr<CompileService> service_;
  std::unique_ptr<CompileService::Client> compile_;
  MeasureWorker measure_;
  NeighbourClocks neighbour_clocks_;
  DeviceInfo info_;
  double baseline_s_ = 0;          ///< time of the baseline's first heuristic on the current problem; 0: there is none
  double slow_s_ = 0;              ///< what a launch may take while no other launch's time is known
  double prepare_s_ = 0;           ///< duration of its first preparation
  protocol::RequestId trial_ = 0;  ///< in flight
};

}  // namespace pgtune::device
