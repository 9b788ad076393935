// SPDX-License-Identifier: MIT
// One chain checked and measured: its launches as one graph, with and without overlap, beside its steps alone, in
// balanced rounds.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/chain_device.hpp"
#include "tuner/model/sampling.hpp"
#include "tuner/session/clock.hpp"
#include "tuner/stats/paired.hpp"

namespace pgtune::session {

struct ChainOptions {
  Conditions conditions;
  int rounds = 0;  ///< 0: as many as short or settled samples need
  std::uint64_t seed = 1;
};

struct ChainProgress {
  enum class Phase { kPrepare, kCheck, kSteady, kRounds };
  Phase phase = Phase::kPrepare;
  int done = 0, total = 0;  ///< rounds
};
using ChainProgressCallback = std::function<void(const ChainProgress&)>;

/// Somebody's samples, one a round.
struct ChainTimes {
  std::vector<Sample> samples;
  /// Median per launch; 0 without samples.
  [[nodiscard]] double time_s() const;
};

struct ChainAnswer {
  protocol::ChainPrepared prepared;
  protocol::ChainCheck check;                       ///< of the chain without overlap
  std::optional<protocol::ChainCheck> overlapping;  ///< where some launch may overlap
  Sampling sampling = Sampling::kShort;
  int rounds = 0;
  ChainTimes chain, overlapping_chain;
  std::vector<ChainTimes> steps;  ///< each alone
  /// ln(the steps' times added / the chain's), and ln(the chain's time / with overlap), formed inside the rounds.
  stats::LogRatio steps_to_chain, chain_to_overlapping;
  std::vector<std::string> notes;

  /// Of the steps alone, added.
  [[nodiscard]] double steps_s() const;
  /// A step's part of that.
  [[nodiscard]] double share(std::size_t step) const;
};

struct ChainResult {
  ChainAnswer answer;
  Outcome outcome;  ///< of the chain without overlap: not kOk where nothing was measured
  bool interrupted = false;
};

/// Rounds of which there is an interval.
inline constexpr int kLeastChainRounds = 6;
/// Below the power cap, and at it.
inline constexpr int kShortChainRounds = 24, kSettledChainRounds = 8;

/// `kernels`: one a step. `stop` is polled between requests. Errors: as ChainDevice.
[[nodiscard]] Result<ChainResult> run_chain(const Chain& chain, const std::vector<protocol::ChainKernel>& kernels,
                                            device::ChainDevice& device, const ChainOptions& options,
                                            const std::atomic<bool>& stop, const ChainProgressCallback& progress,
                                            const Clock& clock = system_clock());

}  // namespace pgtune::session
