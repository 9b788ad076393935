// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/energy_step.hpp"

#include <thread>
#include <utility>
#include <vector>

#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::size_t kChanges = 6;
/// A reading takes some milliseconds itself; this keeps cheaper ones from occupying a core.
constexpr double kBetweenReadings_s = 500e-6;

}  // namespace

std::optional<double> energy_step_s(const EnergyCounter& counter, double patience_s) {
  const double until_s = counter.now_s() + patience_s;
  std::optional<double> last_j = counter.energy_j();
  std::vector<double> changes_s;
  while (last_j && changes_s.size() < kChanges && counter.now_s() < until_s) {
    counter.sleep_s(kBetweenReadings_s);
    const auto now_j = counter.energy_j();
    if (now_j != last_j) changes_s.push_back(counter.now_s());
    last_j = now_j;
  }
  if (changes_s.size() < 3) return std::nullopt;
  std::vector<double> gaps_s;
  for (std::size_t i = 1; i < changes_s.size(); ++i) gaps_s.push_back(changes_s[i] - changes_s[i - 1]);
  return middle_of(std::move(gaps_s));
}

std::optional<double> energy_step_s(const NvmlDevice& device, std::chrono::milliseconds patience) {
  using Seconds = std::chrono::duration<double>;
  const EnergyCounter counter{
      .energy_j = [&device] { return device.energy_j(); },
      .now_s = [] { return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(); },
      .sleep_s = [](double time_s) { std::this_thread::sleep_for(Seconds(time_s)); }};
  return energy_step_s(counter, Seconds(patience).count());
}

}  // namespace pgtune::gpu
