// SPDX-License-Identifier: MIT
// What the processes of a program recorded, read from their ledgers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "preload/shim/key.hpp"

namespace pgtune::tool {

struct RecordedGemm {
  preload::Key key;
  std::uint64_t calls = 0;           ///< that ran at once
  std::uint64_t captured_calls = 0;  ///< that became part of CUDA graphs, however often these run
  std::vector<double> samples_s;     ///< GPU time of single calls
};

struct RecordedGemms {
  std::vector<RecordedGemm> gemms;  ///< each key once
  int processes = 0;                ///< that called cuBLAS
  std::uint64_t lost_calls = 0;     ///< of more keys than a ledger holds
};

/// Files that are no ledgers, or ledgers cut short, are left out.
[[nodiscard]] RecordedGemms read_ledgers(const std::filesystem::path& folder);

}  // namespace pgtune::tool
