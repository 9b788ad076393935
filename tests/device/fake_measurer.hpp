// SPDX-License-Identifier: MIT
// The GPU of the fake worker: made-up times, clocks and energies that follow from a variant's key, the same in every
// run.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/protocol/codec.hpp"

namespace pgtune::device::fake {

using nlohmann::json;

/// FNV-1a with a final mix, so that neighbouring keys get unrelated times.
inline std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char letter : text) value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  value = (value ^ (value >> 31U)) * 0x9e3779b97f4a7c15U;
  return value ^ (value >> 29U);
}

/// In [0, 1).
inline double uniform(const std::string& text) { return static_cast<double>(hash(text) >> 11U) * 0x1p-53; }

inline std::string setting(const char* name, const char* otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}

/// PGTUNE_FAKE_UUID makes it another board, PGTUNE_FAKE_POWER_W limits its power otherwise than to 700 W.
inline DeviceInfo gpu(int number) {
  DeviceInfo device;
  const char* const kind = std::getenv("PGTUNE_FAKE_MIG") != nullptr ? "MIG" : "GPU";
  device.uuid = fmt::format("{}-fa4efa4e-0000-0000-0000-{:012}", kind, number);
  device.name = "Fake GPU";
  device.architecture = "sm_90a";
  device.compute_major = 9;
  device.sm_count = 132;
  device.memory_bytes = std::int64_t{80} << 30U;
  device.l2_bytes = std::int64_t{50} << 20U;
  device.smem_per_block_bytes = 227 << 10U;
  device.smem_per_sm_bytes = 228 << 10U;
  device.registers_per_sm = 65536;
  device.threads_per_sm = 2048;
  device.max_sm_clock_hz = 1.98e9;
  device.power_limit_w = std::stod(setting("PGTUNE_FAKE_POWER_W", "700"));
  device.driver_version = "580.00.00";
  device.nvrtc_version = "13.0";
  device.cublaslt_version = "13.0.0";
  device.uuid = setting("PGTUNE_FAKE_UUID", device.uuid.c_str());
  return device;
}

/// One measure worker's state: the problem, and times that follow from it.
class FakeMeasurer {
 public:
  /// A variant's key, or "baseline 1".
  static std::string name(const protocol::BuiltContender& contender) {
    if (const auto* const algorithm = algorithm_of(contender)) return fmt::format("baseline {}", algorithm->index);
    return variant_of(contender)->variant.key();
  }

  json prepare(const protocol::PrepareRequest& request) {
    problem_ = request.problem;
    const std::vector<NamedScalar> counts = counted();
    problem_ = with_counts(problem_, counts);
    baseline_.library = "cuBLASLt 13.0.0 (fake)";
    baseline_.algorithms = {{0, "first heuristic", 0, at_tflops(42), 0.01},
                            {1, "split-K 2", 4096, at_tflops(45), 0.02}};
    baseline_.best = 1;
    if (!problem_.is_gemm()) compare_operation(request.builds);
    if (request.alone) baseline_.algorithms.clear();
    baseline_.counts = counts;
    baseline_.buffer_copies = 2;
    baseline_.data_seed = request.conditions.data_seed;
    const auto larger = [](std::int64_t extent) { return (extent + 15) / 16 * 16; };
    const Problem& p = problem_;
    baseline_.enlarged_shape =
        p.dtype == Dtype::kE4m3 && p.n % 16 != 0 ? fmt::format("{}x{}x{}", larger(p.m), larger(p.n), larger(p.k)) : "";
    lay_out(p);
    return baseline_;
  }

  [[nodiscard]] TrialReport trial(const protocol::TrialRequest& request) const {
    TrialReport report;
    report.check = CheckReport{0.1, 1e-7};
    const std::string key = request.built.variant.key();
    report.cut = request.incumbent_s > 0 && variant_s(key) > 1.5 * request.incumbent_s;
    for (int index = 0; index < (report.cut ? 1 : 3); ++index) {
      report.samples.push_back(sample(variant_s(key), key, 0));
      report.samples.back().position = index;
    }
    return report;
  }

  [[nodiscard]] Sample round_sample(const protocol::RoundRequest& request, const protocol::BuiltContender& contender,
                                    int position, const std::string& behaviour) const {
    Sample result = sample(launch_s(contender),
                           fmt::format("{} {} {}", name(contender), to_string(request.stage), position), request.round);
    result.launches = std::max<std::int64_t>(5, std::llround(request.sample_s / result.per_launch_s()));
    result.time_s *= static_cast<double>(result.launches) / 10;
    result.stage = request.stage;
    result.position = position;
    if (behaviour == "slow_clock") {
      result.sm_clock_hz /= 2;
      result.time_s *= 2;
    }
    if (behaviour == "slower" && variant_of(contender) != nullptr) result.time_s *= 1.1;
    if (behaviour == "no_nvml") return result;
    result.temperature_c = 55;
    result.power_cap_s = behaviour == "capped" ? result.time_s : 0;
    result.thermal_s = 0;
    return result;
  }

  /// Nothing: the window is too short for the wanted uncertainty.
  [[nodiscard]] std::optional<EnergyWindow> energy(const protocol::EnergyRequest& request,
                                                   const std::string& behaviour) const {
    constexpr double kStep_s = 0.1, kTick_s = 3e-3, kIdle_w = 80;
    EnergyWindow window;
    window.window_s = request.window_s;
    window.step_s = kStep_s;
    window.steps = std::llround(request.window_s / kStep_s);
    window.uncertainty = kTick_s / request.window_s;
    if (window.uncertainty > request.max_uncertainty) return std::nullopt;
    double power_w = kIdle_w;
    if (request.contender) {
      const std::string text = fmt::format("energy {} {}", name(*request.contender), request.index);
      power_w = 400 + 200 * uniform(name(*request.contender)) + 2 * uniform(text);
      window.per_launch_s = launch_s(*request.contender);
      window.launches = std::llround(request.window_s / window.per_launch_s);
      window.sm_clock_hz = kClock_hz;
    }
    window.energy_j = power_w * request.window_s;
    window.averaged_power_w = behaviour == "suspect" ? 1.2 * power_w : power_w;
    window.power_cap_share = behaviour == "capped" ? 1 : 0;
    window.thermal_share = 0;
    window.temperature_start_c = 54;
    window.temperature_end_c = 55;
    return window;
  }

 private:
  /// A library that takes e4m3 only along K, in whole multiples of 16.
  void lay_out(const Problem& p) {
    baseline_.copied.clear();
    if (!p.is_gemm() || p.dtype != Dtype::kE4m3) return;
    const bool larger = !baseline_.enlarged_shape.empty();
    if (larger || p.trans_a) baseline_.copied = "A";
    if (larger || !p.trans_b) baseline_.copied += baseline_.copied.empty() ? "B" : ", B";
    if (larger) baseline_.copied += ", D";
    baseline_.others.clear();
    if (!baseline_.copied.empty())
      baseline_.others = {{baseline_.library + std::string(kLaidOutBefore), "split-K 2", at_tflops(60), {}}};
  }
  /// The first available one is the baseline; the others are reported with it. With PGTUNE_FAKE_NO_BASELINE the library
  /// has no algorithm for any operation; templates are there as they were built.
  void compare_operation(const std::vector<protocol::BaselineBuild>& builds) {
    std::vector<BaselineReport> available;
    std::vector<OtherBaseline> missing;
    std::size_t next = 0;
    const auto add = [&](const std::string& library, const std::vector<AlgorithmReport>& algorithms) {
      BaselineReport report;
      report.library = library;
      report.algorithms = algorithms;
      report.best = static_cast<int>(algorithms.size()) - 1;
      report.place = static_cast<int>(available.size() + missing.size());
      available.push_back(std::move(report));
    };
    for (const OperationBaseline& baseline : problem_.operation->baselines) {
      if (std::holds_alternative<LibraryProduct>(baseline)) {
        if (std::getenv("PGTUNE_FAKE_NO_BASELINE") == nullptr) {
          add(baseline_.library, baseline_.algorithms);
        } else {
          missing.push_back({baseline_.library, "", 0, "it has no algorithm for them"});
        }
        continue;
      }
      const protocol::BaselineBuild& build = builds.at(next++);
      if (build.built) {
        add(build.title, {{0, build.built->variant.key(), 0, at_tflops(15), 0.01}});
      } else {
        missing.push_back({build.title, "", 0, build.unavailable});
      }
    }
    add(std::string(kCopyBaseline), baseline_.algorithms);
    baseline_ = available.front();
    baseline_.others = missing;
    for (std::size_t i = 1; i < available.size(); ++i)
      baseline_.others.push_back(
          {available[i].library, available[i].algorithms.back().description, available[i].algorithms.back().time_s});
  }
  /// Three quarters of what the operation expects.
  [[nodiscard]] std::vector<NamedScalar> counted() const {
    std::vector<NamedScalar> out;
    if (!problem_.operation) return out;
    for (const OperationCount& count : problem_.operation->counts) out.push_back({count.name, 0.75 * count.expected});
    return out;
  }
  /// PGTUNE_FAKE_SLOWDOWN times as long as on the usual board.
  [[nodiscard]] double at_tflops(double tflops) const {
    return std::stod(setting("PGTUNE_FAKE_SLOWDOWN", "1")) * problem_.flops() / (tflops * 1e12);
  }
  /// Between 20 and 50 TFLOP/s.
  [[nodiscard]] double variant_s(const std::string& key) const { return at_tflops(20 + 30 * uniform(key)); }

  [[nodiscard]] static Sample sample(double launch_s, const std::string& key, int round) {
    Sample result;
    result.round = round;
    result.launches = 10;
    result.time_s = 10 * launch_s * (1 + 0.002 * uniform(fmt::format("{} {}", key, round)));
    result.sm_clock_hz = kClock_hz;
    return result;
  }

  [[nodiscard]] double launch_s(const protocol::BuiltContender& contender) const {
    if (const auto* const algorithm = algorithm_of(contender))
      return baseline_.algorithms.at(static_cast<std::size_t>(algorithm->index)).time_s;
    return variant_s(variant_of(contender)->variant.key());
  }

  static constexpr double kClock_hz = 1.7e9;

  Problem problem_;
  BaselineReport baseline_;
};

}  // namespace pgtune::device::fake
