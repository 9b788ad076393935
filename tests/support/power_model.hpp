// SPDX-License-Identifier: MIT
// A GPU at its power limit, for tests and simulations: its clock follows the load late, as an H200's does.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace pgtune::support {

/// What a contender asks of the GPU.
struct PowerLoad {
  std::string name;              ///< tells loads apart: a launch of another one is a switch
  double cycles_per_launch = 0;  ///< of the SM clock
  /// Of the whole cool board at PowerGpu::reference_hz; it grows with the square of the clock f, as voltage does with
  /// f.
  double joules_per_cycle = 0;
};

/// The power regulation, fitted to what one H200 does at 700 W (docs/explanation/measuring.md).
struct PowerGpu {
  double cap_w = 700, top_hz = 1.98e9, reference_hz = 1.4e9;
  /// The regulator sees the board's power averaged with this time constant and moves the clock by `gain` times the
  /// relative excess in that time. What is left of a switch decays with twice the time constant, 70 ms.
  double average_s = 0.035, gain = 0.5;
  double switch_s = 1e-4;  ///< that the first launch of another load costs
  /// Heat: power grows by `leak` relative while the board warms up with this time constant.
  double leak = 0.02, heat_s = 40;
  /// Standard deviations, relative: of one sample; of a wandering level common to all, per square root of a second.
  double sample_noise = 0.002, wander = 0.0005;
};

/// The load that settles at `clock_hz`, below the top clock, and at `launch_s` per launch on a warm board.
[[nodiscard]] PowerLoad settling_load(std::string name, double launch_s, double clock_hz, const PowerGpu& gpu = {});

/// A stretch of launches timed together.
struct PowerSample {
  double launch_s = 0, clock_hz = 0, power_w = 0;  ///< means; the clock without noise
};

class PowerModel {
 public:
  /// Starts at the top clock, cold and idle.
  PowerModel(PowerGpu gpu, std::uint64_t seed) : gpu_(gpu), random_(seed), clock_hz_(gpu.top_hz) {}

  /// Launches `load` for `lead_in_s` and then, timed, for `timed_s`. The state goes on from the call before.
  [[nodiscard]] PowerSample sample(const PowerLoad& load, double lead_in_s, double timed_s);
  /// Seconds per launch that `load` settles at alone on a warm board, without noise: the truth.
  [[nodiscard]] double alone_s(const PowerLoad& load) const;
  [[nodiscard]] double now_s() const { return now_s_; }

 private:
  PowerSample run(const PowerLoad& load, double duration_s);
  double normal();

  PowerGpu gpu_;
  std::mt19937_64 random_;
  std::string running_;
  double clock_hz_, average_w_ = 0, heat_ = 0, level_ = 0, now_s_ = 0;
};

}  // namespace pgtune::support
