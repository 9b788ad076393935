// SPDX-License-Identifier: MIT
// Energy windows of this GPU, of a steady load and idle, and the load that runs while the sensors are watched.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// Launches timed between one pair of events.
struct EnergyChunk {
  double start_s = 0;  ///< on the host's clock
  double time_s = 0;
  std::int64_t launches = 0;
};

struct ChunkSum {
  std::int64_t launches = 0;
  double time_s = 0;
};

/// Sum of the chunks that start at `start_s` or later and have ended by `end_s`.
[[nodiscard]] ChunkSum sum_inside(const std::vector<EnergyChunk>& chunks, double start_s, double end_s);

/// Keeps a contender running while the sensors are read. The launches come from a thread of their own: a
/// reading of NVML may take 17 ms, and a full launch queue may hold up the host as long; neither must stop the other.
class EnergyLoad {
 public:
  /// Starts launching, in chunks of about 20 ms with three of them in flight. Until stop() or destruction the series,
  /// its stream and `kernels` must live and nothing else may use the series. `now_s`: the clock of the chunks; it is
  /// called here only.
  [[nodiscard]] static CudaResult<std::unique_ptr<EnergyLoad>> start(LaunchSeries& series, double per_launch_s,
                                                                     const HelperKernels& kernels, int sm_count,
                                                                     const std::function<double()>& now_s);
  ~EnergyLoad();
  EnergyLoad(const EnergyLoad&) = delete;
  EnergyLoad& operator=(const EnergyLoad&) = delete;

  /// Whether the load has ended by itself; stop() returns the reason.
  [[nodiscard]] bool failed() const { return failed_; }
  /// The mean clock is measured from the first to the second call, each as of the next chunk to be enqueued.
  void start_clock() { clock_wanted_[0] = true; }
  void stop_clock() { clock_wanted_[1] = true; }

  struct Record {
    std::vector<EnergyChunk> chunks;
    double sm_clock_hz = 0;  ///< 0 where start_clock() and stop_clock() were not both called
  };
  /// Ends the load, waits for what is in flight, and returns what was timed. Call once.
  [[nodiscard]] CudaResult<Record> stop();

 private:
  static constexpr std::size_t kInFlight = 3;

  struct Slot {
    Event start, stop;
    std::int64_t launches = 0;
  };

  EnergyLoad(LaunchSeries& series, ClockMeter clock) : series_(&series), clock_(std::move(clock)) {}
  [[nodiscard]] CudaResult<> prepare(double per_launch_s, const std::function<double()>& now_s);
  void run();
  [[nodiscard]] CudaResult<> launch_until_stopped();
  [[nodiscard]] CudaResult<> enqueue_chunk();
  [[nodiscard]] CudaResult<> retire_chunk();
  [[nodiscard]] CudaResult<> read_wanted_clocks();

  LaunchSeries* series_;
  ClockMeter clock_;  ///< before: of start_clock(), after: of stop_clock()
  int device_ = 0;
  std::int64_t launches_ = 0;  ///< of a chunk
  Event base_;                 ///< happened at base_s_
  double base_s_ = 0;
  std::array<Slot, kInFlight> slots_;
  std::array<std::atomic<bool>, 2> clock_wanted_{};
  std::atomic<bool> stopping_ = false, failed_ = false;

  // The thread's own until it has ended.
  std::size_t enqueued_ = 0, retired_ = 0;
  std::array<bool, 2> clock_read_{};
  std::vector<EnergyChunk> chunks_;
  CudaResult<> result_;

  std::thread thread_;
};

/// One window of `series` running back to back on the rotating operands, lead-in included; `per_launch_s` is an
/// estimate. Errors: as watch_energy(); internal where CUDA fails; usage where no launch fits into the window.
[[nodiscard]] Result<EnergyWindow> measure_load_energy(const protocol::EnergyRequest& request, const NvmlDevice& device,
                                                       LaunchSeries& series, double per_launch_s,
                                                       const HelperKernels& kernels, int sm_count);

/// One window of the GPU with nothing to do. The lead-in is time to settle. Errors: as watch_energy(), internal where
/// CUDA fails.
[[nodiscard]] Result<EnergyWindow> measure_idle_energy(const protocol::EnergyRequest& request,
                                                       const NvmlDevice& device);

}  // namespace pgtune::gpu
