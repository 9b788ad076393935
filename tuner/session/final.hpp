// SPDX-License-Identifier: MIT
// The final: fresh rounds of blocks in which the best variants and the reference meet, so that the winner's numbers are
// not those it was picked by.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/finalist_builds.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/ranking.hpp"
#include "tuner/session/search_state.hpp"

namespace pgtune::session {

struct FinalResult {
  std::vector<MeasuredVariant> variants;  ///< those that lived through every round run; each has a block
  std::vector<MeasuredReference> references;
  bool complete = false;  ///< false: stopped by the user
};

class Final {
 public:
  /// All references must outlive the final.
  Final(const Context& context, SearchState& state, const ReferenceReport& reference, ProgressReporter& progress);

  /// Picks finalists by screening, runs the rounds, and saves their blocks. Whoever fails in a round is out and gets
  /// the failure as its outcome; when nobody is left, the next best variants get their final. Empty variants: nobody
  /// lived through a final. A time budget may shorten it to as few rounds as an interval needs. Errors: those of the
  /// device, or a reference that failed in every round.
  [[nodiscard]] Result<FinalResult> run();

 private:
  struct Entry {
    device::Contender contender;
    std::optional<std::size_t> index;  ///< into the state; nothing for a reference algorithm
    std::vector<Block> blocks;
    bool out = false;
  };

  [[nodiscard]] static bool has_survivor(const std::vector<Entry>& field);
  [[nodiscard]] std::vector<std::size_t> pick() const;
  [[nodiscard]] std::vector<Entry> entries(std::vector<Finalist> finalists) const;
  [[nodiscard]] Result<bool> run_rounds(std::vector<Entry>& field);
  [[nodiscard]] Result<void> run_round(std::vector<Entry>& field, const std::vector<std::size_t>& order, int round);
  void drop(Entry& entry, const Outcome& outcome);
  void save(const std::vector<Entry>& field) const;
  [[nodiscard]] Result<FinalResult> result(std::vector<Entry> field, bool complete) const;

  const Context& context_;
  SearchState& state_;
  const ReferenceReport& reference_;
  ProgressReporter& progress_;
  std::set<std::size_t> tried_;  ///< finalists of finals nobody survived
};

/// Rounds the sign test needs for a 95 % interval.
inline constexpr int kMinimumFinalRounds = 6;

}  // namespace pgtune::session
