// SPDX-License-Identifier: MIT
// What pgtune asks of a worker in the chain role, and what it answers:
//
//   op       request body      reply body
//   prepare  ChainPrepare      ChainPrepared
//   check    ChainCheckAsked   ChainCheck
//   round    ChainRound        RoundReport
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/chain.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::protocol {

/// What a step is launched as. Where it may overlap the launch before, and its template can, also as what does.
struct ChainKernel {
  BuiltVariant alone;
  std::optional<BuiltVariant> overlapping;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("alone", self.alone);
    visit("overlapping", self.overlapping);
  }
};

struct ChainPrepare {
  Chain chain;
  Conditions conditions;             ///< of these data and seed; the clock is observed, L2 rotated
  std::vector<ChainKernel> kernels;  ///< one a step

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("chain", self.chain);
    visit("conditions", self.conditions);
    visit("kernels", self.kernels);
  }
};

struct ChainPrepared {
  std::int64_t copies = 0;  ///< of all of the chain's buffers, which launches rotate over
  std::string unguarded;    ///< as BaselineReport::unguarded

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("copies", self.copies);
    visit("unguarded", self.unguarded);
  }
};

/// The chain with launches that overlap, or without.
struct ChainCheckAsked {
  bool overlapping = false;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("overlapping", self.overlapping);
  }
};

struct ChainCheck {
  Outcome outcome;                      ///< the reason names the step
  std::vector<CheckReport> steps = {};  ///< of each step, the worst; without those after one that failed
  /// Of the graph of one turn over the copies: edges across which a kernel starts before the one before it has ended,
  /// and how many launches asked for that.
  std::int64_t programmatic_edges = 0, overlapping_launches = 0;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("outcome", self.outcome);
    visit("steps", self.steps);
    visit("programmatic_edges", self.programmatic_edges);
    visit("overlapping_launches", self.overlapping_launches);
  }
};

/// Who gets a sample: the whole chain, or one step alone, on operands of its own that rotate too.
struct ChainContender {
  std::optional<int> step;   ///< nothing: the chain
  bool overlapping = false;  ///< of the chain

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("step", self.step);
    visit("overlapping", self.overlapping);
  }
  friend bool operator==(const ChainContender&, const ChainContender&) = default;
};

struct ChainRound {
  std::vector<ChainContender> contenders;
  std::vector<int> order = {};  ///< permutation of indices into contenders
  int round = 0;
  Stage stage = Stage::kFinal;
  double sample_s = 0;
  double settle_s = 0;  ///< least lead-in of settled samples; 0: short ones

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("contenders", self.contenders);
    visit("order", self.order);
    visit("round", self.round);
    visit("stage", self.stage);
    visit("sample_s", self.sample_s);
    visit("settle_s", self.settle_s);
  }
};

}  // namespace pgtune::protocol
