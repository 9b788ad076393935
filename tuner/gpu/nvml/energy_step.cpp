// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/energy_step.hpp"

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace pgtune::gpu {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kChanges = 6;
/// A reading takes some milliseconds itself; this keeps cheaper ones from occupying a core.
constexpr std::chrono::microseconds kBetweenReadings{500};

}  // namespace

std::optional<double> energy_step_s(const NvmlDevice& device, std::chrono::milliseconds patience) {
  const Clock::time_point until = Clock::now() + patience;
  std::optional<double> last_j = device.energy_j();
  std::vector<Clock::time_point> changes;
  while (last_j && changes.size() < kChanges && Clock::now() < until) {
    std::this_thread::sleep_for(kBetweenReadings);
    const auto now_j = device.energy_j();
    if (now_j != last_j) changes.push_back(Clock::now());
    last_j = now_j;
  }
  if (changes.size() < 3) return std::nullopt;
  std::vector<double> gaps_s;
  for (std::size_t i = 1; i < changes.size(); ++i)
    gaps_s.push_back(std::chrono::duration<double>(changes[i] - changes[i - 1]).count());
  const auto middle = gaps_s.begin() + static_cast<std::ptrdiff_t>(gaps_s.size() / 2);
  std::nth_element(gaps_s.begin(), middle, gaps_s.end());
  return *middle;
}

}  // namespace pgtune::gpu
