// SPDX-License-Identifier: MIT
// A machine of three workers: copy in, compute, copy out. With measured rates it predicts what a candidate takes; with
// made-up ones it tests orders, limits and accounting.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pipeline/plan/schedule.hpp"
#include "pipeline/plan/timeline.hpp"

namespace pgtune::pipeline {

/// From the end of a copy to the beginning of the next one of its direction, where streams are used in this way.
struct StreamTurn {
  StreamUse use = StreamUse::kPerChunk;
  int streams = 1;
  Submission submission = Submission::kLoop;
  double turn_s = 0;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("stream_use", self.use);
    visit("streams", self.streams);
    visit("submission", self.submission);
    visit("turn_s", self.turn_s);
  }
  friend bool operator==(const StreamTurn&, const StreamTurn&) = default;
};

/// Copies between host and GPU, in bytes a second.
struct CopyRates {
  double pinned_in = 0, pinned_out = 0;
  double pinned_in_both = 0, pinned_out_both = 0;  ///< while the other direction copies too
  double pageable_in = 0, pageable_out = 0;
  double pageable_in_both = 0, pageable_out_both = 0;
  double host_copy = 0;                               ///< pageable to pinned by helper threads
  double latency_s = 0;                               ///< of a small copy between pinned memory and the GPU
  double issue_s = 0;                                 ///< the host's time for one asynchronous call
  std::optional<double> wait_s = {};                  ///< until the host goes on after an operation that it waits for
  std::optional<std::vector<StreamTurn>> turns = {};  ///< of pinned memory; absent where they were not measured

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("pinned_in", self.pinned_in);
    visit("pinned_out", self.pinned_out);
    visit("pinned_in_both", self.pinned_in_both);
    visit("pinned_out_both", self.pinned_out_both);
    visit("pageable_in", self.pageable_in);
    visit("pageable_out", self.pageable_out);
    visit("pageable_in_both", self.pageable_in_both);
    visit("pageable_out_both", self.pageable_out_both);
    visit("host_copy", self.host_copy);
    visit("latency_s", self.latency_s);
    visit("issue_s", self.issue_s);
    visit("wait_s", self.wait_s);
    visit("turns", self.turns);
  }
  friend bool operator==(const CopyRates&, const CopyRates&) = default;
};

/// Seconds of the kernel for a chunk of so much extent, by cut and extent.
using ComputeTimes = std::map<Cut, std::map<std::int64_t, double>>;
/// Between the known extents linearly, beyond them in proportion; 0 where the cut has none.
[[nodiscard]] double compute_time(const ComputeTimes& times, Cut cut, std::int64_t extent);

struct Machine {
  CopyRates rates;
  ComputeTimes compute;  ///< in a few launches
  double slowdown = 1;   ///< of kernels that run all the time, by the power cap
  bool one_copy_engine = false;
  /// Each worker takes operations strictly in the order of issue, as GPUs with one hardware queue do: an operation that
  /// is not ready holds up those behind it.
  bool in_issue_order = false;
};

/// What `candidate`, whose schedule is given, does on the machine.
[[nodiscard]] Timeline simulate(const Machine& machine, const Candidate& candidate, const Schedule& schedule);

}  // namespace pgtune::pipeline
