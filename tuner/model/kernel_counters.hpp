// SPDX-License-Identifier: MIT
// Hardware counters of one computation of a problem: what a profiler read while its kernels ran once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/util/fields.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

/// One field for each counter; absent where the profiler has no number for it on that GPU. Shares are fractions: of a
/// pipe of what it could do while multiprocessors were busy, of a stall of the time between two instructions of a warp.
/// docs/how-to/reports.md names the profiler's metric behind each.
struct KernelCounters {
  std::string profiler;   ///< "ncu 2025.3.1.0"
  std::string kernel;     ///< the longest one's name
  int kernels = 1;        ///< that the computation launched
  double duration_s = 0;  ///< of all kernels, under the profiler: one launch alone, from caches in a known state
  std::optional<double> sm_clock_hz = {};
  // Sums over the kernels.
  std::optional<double> dram_read_bytes = {}, dram_write_bytes = {};
  std::optional<double> l2_read_bytes = {}, l2_write_bytes = {};  ///< of the multiprocessors, in L2
  /// That arrived in multiprocessors from L2: more than was read there where one read serves several of them.
  std::optional<double> sm_read_bytes = {};
  std::optional<double> smem_bytes = {};  ///< of shared memory and L1 data, read and written
  std::optional<double> smem_wavefronts = {},
                        bank_conflicts = {};  ///< of shared memory; conflicts are among the former
  // Of several kernels: means weighted by duration.
  std::optional<double> l2_hit_share = {}, occupancy_share = {};
  std::optional<double> tensor_pipe_share = {}, fma_pipe_share = {}, issue_slot_share = {};
  std::optional<double> stall_long_scoreboard = {}, stall_short_scoreboard = {}, stall_mio_throttle = {},
                        stall_lg_throttle = {}, stall_barrier = {}, stall_dispatch = {}, stall_math_pipe_throttle = {},
                        stall_gmma = {}, stall_wait = {}, stall_no_instruction = {}, stall_not_selected = {},
                        stall_membar = {}, stall_sleeping = {}, stall_branch_resolve = {}, stall_drain = {},
                        stall_imc_miss = {}, stall_tex_throttle = {};

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("profiler", self.profiler);
    visit("kernel", self.kernel);
    visit("kernels", self.kernels);
    visit("duration_s", self.duration_s);
    visit("sm_clock_hz", self.sm_clock_hz);
    visit_sums(self, visit);
    visit_shares(self, visit);
  }
  /// Those that add up over the kernels of a computation.
  template <typename Self, typename Visit>
  static void visit_sums(Self& self, const Visit& visit) {
    visit("dram_read_bytes", self.dram_read_bytes);
    visit("dram_write_bytes", self.dram_write_bytes);
    visit("l2_read_bytes", self.l2_read_bytes);
    visit("l2_write_bytes", self.l2_write_bytes);
    visit("sm_read_bytes", self.sm_read_bytes);
    visit("smem_bytes", self.smem_bytes);
    visit("smem_wavefronts", self.smem_wavefronts);
    visit("bank_conflicts", self.bank_conflicts);
  }
  template <typename Self, typename Visit>
  static void visit_shares(Self& self, const Visit& visit) {
    visit("l2_hit_share", self.l2_hit_share);
    visit("occupancy_share", self.occupancy_share);
    visit("tensor_pipe_share", self.tensor_pipe_share);
    visit("fma_pipe_share", self.fma_pipe_share);
    visit("issue_slot_share", self.issue_slot_share);
    visit_stalls(self, visit);
  }
  template <typename Self, typename Visit>
  static void visit_stalls(Self& self, const Visit& visit) {
    visit("stall_long_scoreboard", self.stall_long_scoreboard);
    visit("stall_short_scoreboard", self.stall_short_scoreboard);
    visit("stall_mio_throttle", self.stall_mio_throttle);
    visit("stall_lg_throttle", self.stall_lg_throttle);
    visit("stall_barrier", self.stall_barrier);
    visit("stall_dispatch", self.stall_dispatch);
    visit("stall_math_pipe_throttle", self.stall_math_pipe_throttle);
    visit("stall_gmma", self.stall_gmma);
    visit("stall_wait", self.stall_wait);
    visit("stall_no_instruction", self.stall_no_instruction);
    visit("stall_not_selected", self.stall_not_selected);
    visit("stall_membar", self.stall_membar);
    visit("stall_sleeping", self.stall_sleeping);
    visit("stall_branch_resolve", self.stall_branch_resolve);
    visit("stall_drain", self.stall_drain);
    visit("stall_imc_miss", self.stall_imc_miss);
    visit("stall_tex_throttle", self.stall_tex_throttle);
  }
  friend bool operator==(const KernelCounters&, const KernelCounters&) = default;
  /// Errors (database): a number that no profiler gives.
  [[nodiscard]] Result<void> validate() const;

  /// Read and written; nothing unless both are known.
  [[nodiscard]] std::optional<double> dram_bytes() const;
  [[nodiscard]] std::optional<double> l2_bytes() const;
  /// Stalls by name without "stall_", longest first; only what is known.
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> stalls() const;
};

/// The kernels of one computation as one: sums, and means weighted by duration. What one of them lacks is absent.
/// Precondition: at least one.
[[nodiscard]] KernelCounters combined(const std::vector<KernelCounters>& kernels);

}  // namespace pgtune
