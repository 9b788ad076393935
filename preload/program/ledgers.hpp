// SPDX-License-Identifier: MIT
// What the processes of a program recorded, read from their ledgers.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "preload/shim/key.hpp"
#include "preload/shim/refusal.hpp"

namespace pgtune::tool {

struct RecordedGemm {
  preload::Key key;
  std::uint64_t calls = 0;           ///< that ran at once
  std::uint64_t captured_calls = 0;  ///< that became part of CUDA graphs
  std::uint64_t replayed_calls = 0;  ///< of these, by launches of graphs that were seen
  /// replayed_calls; of a process in which no launch of any graph was seen, captured_calls.
  std::uint64_t graph_calls = 0;
  std::vector<double> samples_s;                                         ///< GPU time of single calls
  std::uint32_t workspace_mib = 0;                                       ///< that its kernel needs
  std::uint64_t served_calls = 0;                                        ///< of all calls
  bool is_of_family = false;                                             ///< the kernel that served them
  std::array<std::uint64_t, preload::kServingRefusals> refused_calls{};  ///< from preload::kFirstOfServing on
  std::uint64_t checked_calls = 0, wrong_calls = 0;                      ///< by --check
  /// Of all runs: the median of the samples times their number, without samples at the speed of the other keys.
  double time_s = 0;

  [[nodiscard]] std::uint64_t all_calls() const { return calls + captured_calls; }
  /// How often the GPU computed it, as far as that is known.
  [[nodiscard]] std::uint64_t runs() const { return calls + graph_calls; }
};

struct RecordedGemms {
  std::vector<RecordedGemm> gemms;      ///< each key once
  int processes = 0;                    ///< that called cuBLAS
  std::uint64_t lost_calls = 0;         ///< of more keys than a ledger holds
  bool lacked_room = false;             ///< for the ledger of some process
  std::set<std::string> uncalled = {};  ///< libraries: see preload::note_uncalled_libraries()

  [[nodiscard]] std::uint64_t all_calls() const;
  [[nodiscard]] double time_s() const;
};

/// Fills in RecordedGemm::time_s.
void expect_times(RecordedGemms& recorded);

[[nodiscard]] RecordedGemms read_ledgers(const std::filesystem::path& folder);

}  // namespace pgtune::tool
