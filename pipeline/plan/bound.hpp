// SPDX-License-Identifier: MIT
// The time that no pipeline can beat: the slowest worker's work, with what it has to wait for before and after.
#pragma once

#include <array>

#include "pipeline/plan/machine.hpp"

namespace pgtune::pipeline {

/// The bus is a worker of its own where both directions at once are slower than each alone.
enum class Limiter { kCopyIn, kCompute, kCopyOut, kBus };
/// "copy in", "compute", "copy out", "bus".
[[nodiscard]] EnumTable<Limiter> enum_table(Limiter limiter);

struct Bound {
  double total_s = 0;  ///< fill + work + drain of the limiter
  Limiter limiter = Limiter::kCopyIn;
  double work_s = 0;   ///< of the limiter, all chunks
  double fill_s = 0;   ///< before its first operation at the earliest
  double drain_s = 0;  ///< after its last at the earliest

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("total_s", self.total_s);
    visit("limiter", self.limiter);
    visit("work_s", self.work_s);
    visit("fill_s", self.fill_s);
    visit("drain_s", self.drain_s);
  }
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// Of pinned memory, as many buffers as chunks, calls that cost nothing, and chunks of `extent` along `cut`; each
/// worker at the rate that it has alone and can hold.
[[nodiscard]] Bound bound_of(const StreamedProblem& streamed, const Machine& machine, Cut cut, std::int64_t extent);

}  // namespace pgtune::pipeline
