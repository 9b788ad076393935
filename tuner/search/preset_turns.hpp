// SPDX-License-Identifier: MIT
// Whose turn it is when a search goes beyond presets: the presets' variants, or the others. The others are many times
// as many, so that prediction errors alone would rank many of them before the presets'.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace pgtune::search {

/// The first few turns are the presets', where a small budget gains most; then both parts take turns. If the fastest of
/// one part is behind that of the other, it gets every fourth turn.
class PresetTurns {
 public:
  static constexpr std::size_t kFirst = 8;   ///< turns, the presets'
  static constexpr std::size_t kLeast = 6;   ///< variants of each that must be timed before one may count as behind
  static constexpr double kBehind = 0.03;    ///< as logarithm
  static constexpr std::size_t kSeldom = 4;  ///< one turn in this many

  /// Whether each variant is in its template's preset; empty if all are.
  explicit PresetTurns(std::vector<bool> in_preset) : in_preset_(std::move(in_preset)) {}

  [[nodiscard]] bool in_preset(std::size_t index) const { return in_preset_.empty() || in_preset_[index]; }
  /// Whether the next proposal is to be in a preset.
  [[nodiscard]] bool is_presets_turn() const;
  void propose() { ++made_; }
  /// `log_time`: of a variant that was right and timed completely.
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
