// SPDX-License-Identifier: MIT
// What a program asked of cuBLAS, as a list of shapes that `pgtune search --shapes` reads.
#pragma once

#include <string>

#include "preload/program/ledgers.hpp"

namespace pgtune::tool {

struct TraceList {
  std::string text;           ///< the list, the heaviest shape first, with what it costs in comments
  int shapes = 0;             ///< lines to search
  std::uint64_t calls = 0;    ///< of all that was recorded
  double searched_share = 0;  ///< of the GEMM time, in those lines
};

/// At most `top` shapes are listed. `tf32`: see preload::arithmetic_of().
[[nodiscard]] TraceList trace_list(const RecordedGemms& recorded, const std::string& program, std::size_t top,
                                   bool tf32);

}  // namespace pgtune::tool
