// SPDX-License-Identifier: MIT
// What a program asked of cuBLAS, as a list of shapes that `pgtune search --shapes` reads.
#pragma once

#include <optional>
#include <string>

#include "preload/program/ledgers.hpp"
#include "tuner/model/dtype.hpp"

namespace pgtune::tool {

struct TraceList {
  std::string text;           ///< the list, the heaviest shape first, with what it costs in comments
  std::size_t shapes = 0;     ///< lines to search
  std::uint64_t calls = 0;    ///< of all that was recorded
  double searched_share = 0;  ///< of the GEMM time, in those lines
};

/// At most `top` lines. `tf32`: see preload::arithmetic_of(). `f32`: instead of float32, as `--f32` serves it.
[[nodiscard]] TraceList trace_list(const RecordedGemms& recorded, const std::string& program, std::size_t top,
                                   bool tf32, std::optional<Dtype> f32 = {});

}  // namespace pgtune::tool
