// SPDX-License-Identifier: MIT
#include "bench/simulated_loads.hpp"

#include <string>

namespace pgtune::bench {

std::vector<support::PowerLoad> simulated_loads(int count, double times, const support::PowerGpu& gpu,
                                                std::mt19937_64& random) {
  constexpr double kClocks = 0.08, kTypicalLaunch_s = 0.2e-3, kTypicalClock_hz = 1.35e9;
  const auto uniform = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  std::vector<support::PowerLoad> out;
  for (int i = 0; i < count; ++i) {
    const double launch_s = kTypicalLaunch_s * (1 + times * uniform());
    const double clock_hz = kTypicalClock_hz * (1 + kClocks * (uniform() - 0.5));
    out.push_back(support::settling_load(std::to_string(i), launch_s, clock_hz, gpu));
  }
  return out;
}

}  // namespace pgtune::bench
