// SPDX-License-Identifier: MIT
// The real thing: a GPU behind one measure worker, and compile workers that it may share with other devices.
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

/// What happens to a variant that takes its worker with it: the trial gets kCrashed or kTimeout with the reason, the
/// worker is replaced and the problem prepared again. What a launch may take follows from the best time so far, that of
/// the incumbent or of the baseline's first heuristic, whichever is less: a hundred times that, and launch_floor at
/// least. The worker itself cuts the checked launch there, which is where a variant hangs as a rule. For the rest the
/// whole trial may take trial_floor, as long as preparing the problem took (a wrong result may cost a new float64
/// baseline), and two such launches; a round as much, with a launch and its samples for each contender. A round whose
/// worker died, hung or lost its context is run again one contender at a time, so that the guilty one is found and the
/// others still get their samples.
class WorkerDevice final : public Device {
 public:
  struct Options {
    std::string worker_path;
    std::string gpu = "0";                           ///< ordinal or UUID
    std::shared_ptr<CompileService> compile;         ///< what builds
    std::shared_ptr<const GpusAtWork> at_work = {};  ///< of the machine; null: this GPU works alone
    std::chrono::milliseconds prepare_timeout{120'000};
    std::chrono::milliseconds launch_floor{500};
    std::chrono::milliseconds trial_floor{2'000};
    std::chrono::milliseconds call_floor{10'000};  ///< beyond the expected time of an energy window or of the ceilings
    std::string cache_dir = {};                    ///< where cubins of references go; empty: nowhere
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
  [[nodiscard]] Result<EnergyWindow> measure_energy(const protocol::EnergyRequest& request) override;
  [[nodiscard]] Result<Ceilings> measure_ceilings() override;
  /// Asks a process of its own, which needs no CUDA: the measure worker's state is left alone.
  [[nodiscard]] OtherProcesses other_processes() override;
  [[nodiscard]] std::vector<ClockBeside> clocks_beside() const override { return neighbour_clocks_.clocks(); }

 private:
  explicit WorkerDevice(const Options& options);

  [[nodiscard]] Result<void> poll(std::vector<protocol::Event>& events);
  /// Of one launch.
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
  double baseline_s_ = 0;          ///< time of the baseline's first heuristic on the current problem
  double prepare_s_ = 0;           ///< what its first preparation took
  protocol::RequestId trial_ = 0;  ///< in flight
};

}  // namespace pgtune::device
