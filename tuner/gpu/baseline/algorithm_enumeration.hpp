// SPDX-License-Identifier: MIT
// Which configurations to try beyond those cuBLASLt's heuristics offer. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/gpu/baseline/cublaslt_config.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// What an algorithm can be configured to (CUBLASLT_ALGO_CAP_*).
struct CublasLtCapabilities {
  std::int32_t id = 0;
  std::vector<std::uint32_t> tiles, stages;  ///< empty: only undefined
  bool split_k = false;
  std::uint32_t reduction_mask = 0;  ///< schemes it supports when K is split
  bool swizzle = false;
  std::int32_t custom_max = 0;
};

/// How unlike two configurations are: octaves between the sides of their tiles and between their split-K, and a charge
/// for every other attribute that differs. Only the order it gives matters.
[[nodiscard]] double distance(const CublasLtConfig& a, const CublasLtConfig& b);

/// At most `limit` configurations that are not among `offered`, the likeliest first: those most like an offered one,
/// the heuristics' first choices before their last. Of each algorithm only the tiles and stages nearest to offered ones
/// are combined, so that algorithms with hundreds of tiles stay affordable.
[[nodiscard]] std::vector<CublasLtConfig> further_configs(const std::vector<CublasLtCapabilities>& algorithms,
                                                          const std::vector<CublasLtConfig>& offered,
                                                          std::size_t limit);

/// Problems with the same types and layout, packed, for which the heuristics may choose what is good for `problem` too:
/// half and twice, then a quarter and four times as large in one extent each and in M and N together, extents kept
/// multiples of 16.
[[nodiscard]] std::vector<Problem> similar_problems(const Problem& problem);

}  // namespace pgtune::gpu
