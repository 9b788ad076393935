// SPDX-License-Identifier: MIT
// cuBLASLt's algorithms: their configurations as text and numbers, and which to try beyond those that the heuristics
// offer. All but what is read of an algorithm is pure.
#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// The attributes CUBLASLT_ALGO_CONFIG_*; 0 where the algorithm has none. Tile and cluster are those of cuBLASLt's
/// column-major D^T: a tile of 128x64 covers 128 columns and 64 rows of the row-major D.
struct CublasLtConfig {
  std::int32_t id = 0;
  std::uint32_t tile = 0, stages = 0;  ///< cublasLtMatmulTile_t, cublasLtMatmulStages_t
  std::int32_t split_k = 1;
  std::uint32_t reduction = 0;  ///< cublasLtReductionScheme_t
  std::uint32_t swizzle = 0, custom = 0;
  std::uint16_t inner = 0, cluster = 0;  ///< cublasLtMatmulInnerShape_t, cublasLtClusterShape_t
  friend auto operator<=>(const CublasLtConfig&, const CublasLtConfig&) = default;
};

[[nodiscard]] CublasLtConfig config_of(const cublasLtMatmulAlgo_t& algorithm);

/// "algorithm 55, tile 64x64, stages 8x3, split-K 4 (compute type)"; stages are elements of K in each and their
/// number, the reduction scheme is in brackets. Swizzle, cluster, inner shape and custom option follow
/// where they are not the default. A number this build's header has no name for is "#29".
[[nodiscard]] std::string describe(const CublasLtConfig& config);

/// The algorithm in hex, and back; nothing for what is no such text. cuBLAS documents that an algorithm may be stored
/// and used again with the same version of the library.
[[nodiscard]] std::string algorithm_text(const cublasLtMatmulAlgo_t& algorithm);
[[nodiscard]] std::optional<cublasLtMatmulAlgo_t> algorithm_of_text(std::string_view text);

/// Rows and columns of a tile; nothing for an undefined or unknown one.
struct TileShape {
  int rows = 0, columns = 0;
};
[[nodiscard]] std::optional<TileShape> tile_shape(std::uint32_t tile);

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
