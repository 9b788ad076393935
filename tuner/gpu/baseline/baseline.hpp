// SPDX-License-Identifier: MIT
// What variants are compared with on the current problem: one or several algorithms that are timed in the same rounds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/launchable.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

class Baseline {
 public:
  Baseline(const Baseline&) = delete;
  Baseline& operator=(const Baseline&) = delete;
  virtual ~Baseline() = default;

  [[nodiscard]] const BaselineReport& report() const { return report_; }
  /// The algorithms beside report().algorithms as KnownBaseline::opaque.
  [[nodiscard]] std::vector<std::string> opaque() const;
  /// Series of report().algorithms[index], calibrated; index must be valid. Of a baseline that was taken over, that
  /// happens at the first call.
  [[nodiscard]] CudaResult<LaunchSeries*> series(std::size_t index, SampleTimer& timer);

  /// Says which of an operation's baselines this is, and what is known of the others.
  void stand_beside(int place, std::vector<OtherBaseline> others);

 protected:
  Baseline(const Rotation& rotation, cudaStream_t stream) : rotation_(rotation), stream_(stream) {}

  /// Checks the launchable where a checker is given, runs the first one until the clocks have risen, screens it like a
  /// variant, and adds it to report().algorithms. `described`: what is known of it beside time and error. Returns why
  /// it was not added, or nothing. A failure means that the context is lost.
  [[nodiscard]] CudaResult<std::string> add(std::unique_ptr<Launchable> launchable, AlgorithmReport described,
                                            std::string opaque, Checker* checker, SampleTimer& timer);
  /// Goes on with what a worker before this one reported, and in its LaunchMode.
  void take_over(const BaselineReport& report);
  /// Adds it without running it: report().algorithms has it already.
  void take_over(std::unique_ptr<Launchable> launchable, std::string opaque);
  /// Checks the best algorithm of a baseline that was taken over, where a checker is given, and runs it until the
  /// clocks have risen.
  [[nodiscard]] CudaResult<> warm_up(Checker* checker, SampleTimer& timer);
  /// Fills the report's `best` and what follows from the operands. Precondition: there is an algorithm.
  void finish(const std::string& library, std::uint64_t data_seed);

  BaselineReport report_;

 private:
  struct Algorithm {
    std::unique_ptr<Launchable> launchable;
    std::unique_ptr<LaunchSeries> series;
    std::string opaque;
    bool calibrated = false;
  };

  Rotation rotation_;
  cudaStream_t stream_;
  std::vector<Algorithm> algorithms_;  ///< beside report_.algorithms
};

}  // namespace pgtune::gpu
