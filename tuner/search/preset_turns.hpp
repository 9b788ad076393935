// SPDX-License-Identifier: MIT
// Whose turn it is where a search goes beyond presets: what they hold worth trying, or the many times as many other
// variants. Errors of what is expected of these decide who is first among so many, and crowd the presets' out.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace pgtune::search {

/// The first few are the presets', since a small budget is worth most there; then they take turns. If the fastest of
/// one lies behind that of the other, it has every fourth turn.
class PresetTurns {
 public:
  static constexpr std::size_t kFirst = 8;   ///< turns, the presets'
  static constexpr std::size_t kLeast = 6;   ///< variants of either that are timed before one may lie behind
  static constexpr double kBehind = 0.03;    ///< as logarithm
  static constexpr std::size_t kSeldom = 4;  ///< one turn of so many

  /// Of each variant whether it is in its template's preset; empty where all are.
  explicit PresetTurns(std::vector<bool> in_preset) : in_preset_(std::move(in_preset)) {}

  [[nodiscard]] bool in_preset(std::size_t index) const { return in_preset_.empty() || in_preset_[index]; }
  /// Whether the next proposal is to be in a preset.
  [[nodiscard]] bool is_presets_turn() const;
  void propose() { ++made_; }
  /// `log_time`: of a variant that was right and timed to the end.
  void report(std::size_t index, double log_time);

 private:
  struct Side {
    std::size_t timed = 0;
    double fastest = std::numeric_limits<double>::infinity();
  };

  std::vector<bool> in_preset_;
  std::size_t made_ = 0;         ///< proposals
  std::array<Side, 2> sides_{};  ///< of the others, of the presets
};

}  // namespace pgtune::search
