// SPDX-License-Identifier: MIT
// A chain: problems whose launches follow one another on shared buffers, such as the operations of a network's layer,
// as plain numbers. The parent makes one of a chain's JSON (tuner/chain); who executes it learns no more than this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/problem.hpp"

namespace pgtune {

inline constexpr std::size_t kMaxChainSteps = 32, kMaxChainBuffers = 256;

struct ChainBuffer {
  std::string name;
  std::int64_t bytes = 0;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("name", self.name);
    visit("bytes", self.bytes);
  }
  friend bool operator==(const ChainBuffer&, const ChainBuffer&) = default;
};

struct ChainStep {
  std::string name;
  Problem problem;                    ///< by itself: never Problem::chained
  std::vector<std::int64_t> buffers;  ///< of the chain, one for each of operands_of(problem)
  bool overlaps = false;              ///< may start before the launch before it has ended

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("name", self.name);
    visit("problem", self.problem);
    visit("buffers", self.buffers);
    visit("overlaps", self.overlaps);
  }
  friend bool operator==(const ChainStep&, const ChainStep&) = default;
};

struct Chain {
  std::string name;
  std::vector<NamedValue> sizes;
  std::vector<ChainBuffer> buffers;
  std::vector<ChainStep> steps;  ///< in the order of their launches

  /// "mlp T=16,H=4096,F=11008".
  [[nodiscard]] std::string title() const;
  /// Of all buffers.
  [[nodiscard]] std::int64_t bytes() const;
  /// The step that writes the buffer anew; nothing where a launch of the chain finds data in it, as in weights.
  /// Precondition, here and below: check_chain() passes.
  [[nodiscard]] std::optional<std::size_t> writer(std::size_t buffer) const;
  /// The step reads the buffer and writes what comes of it into the same.
  [[nodiscard]] bool changes_in_place(std::size_t step, std::size_t buffer) const;
  /// The first step behind `step` that changes the buffer in place: what it held when `step` had ended is gone then.
  [[nodiscard]] std::optional<std::size_t> next_change(std::size_t buffer, std::size_t step) const;
  /// Buffers that steps change in place and none writes anew: they hold other data after a launch of the chain.
  [[nodiscard]] std::vector<std::size_t> kept_up() const;
  /// What `step` is launched as where launches of the chain may overlap: its problem as one of a chain.
  [[nodiscard]] Problem overlapping_problem(std::size_t step) const;
  [[nodiscard]] bool any_overlaps() const;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("name", self.name);
    visit("sizes", self.sizes);
    visit("buffers", self.buffers);
    visit("steps", self.steps);
  }
  friend bool operator==(const Chain&, const Chain&) = default;
};

/// Errors (usage): what cannot be executed and checked. Each buffer is written anew by one step at most, and not read
/// before that; operands that share one are the same elements of it; no step has another use for what it writes or
/// changes in place; one that changes a buffer in place overlaps no launch before it; pointers belong to one step; and
/// what an overlapping GEMM may read before the launch before it has ended, its B, no step writes. Whatever passes may
/// be handed to a worker.
[[nodiscard]] Result<void> check_chain(const Chain& chain);

}  // namespace pgtune
