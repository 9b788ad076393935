// SPDX-License-Identifier: MIT
// cuBLASLt's algorithms: their configurations as text and numbers, and the choice of those to try beyond the
// heuristics' offers. All functions are pure except those that read an algorithm.
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

/// The attributes CUBLASLT_ALGO_CONFIG_*; 0 if the algorithm lacks one. Tile and cluster are those of cuBLASLt's
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

/// "algorithm 55, tile 64x64, stages 8x3, split-K 4 (compute type)"; stages are the elements of K in each and their
/// number, the reduction scheme is in brackets. Swizzle, cluster, inner shape and custom option follow if they are not
/// the default. A number without a name in this build's header is "#29".
[[nodiscard]] std::string describe(const CublasLtConfig& config);

/// The algorithm as hex text, and back; nothing for other text. cuBLAS documents that an algorithm may be stored and
/// used again with the same version of the library.
[[nodiscard]] std::string algorithm_text(const cublasLtMatmulAlgo_t& algorithm);
[[nodiscard]] std::optional<cublasLtMatmulAlgo_t> algorithm_of_text(std::string_view text);

/// Rows and columns of a tile; nothing for an undefined or unknown one.
struct TileShape {
  int rows = 0, columns = 0;
};
[[nodiscard]] std::optional<TileShape> tile_shape(std::uint32_t tile);

/// The possible configurations of an algorithm (CUBLASLT_ALGO_CAP_*).
struct CublasLtCapabilities {
  std::int32_t id = 0;
  std::vector<std::uint32_t> tiles, stages;  ///< empty: only undefined
  bool split_k = false;
  std::uint32_t reduction_mask = 0;  ///< schemes it supports when K is split
  bool swizzle = false;
  std::int32_t custom_max = 0;
};

/// The distance of two configurations: octaves between the sides of their tiles and between their split-K, plus a
/// charge for every other attribute that differs. Only its order matters.
[[nodiscard]] double distance(const CublasLtConfig& a, const CublasLtConfig& b);

/// At most `limit` configurations that are not among `offered`, the likeliest first: those nearest to an offered one,
/// where the heuristics' first choices count most. For each algorithm only the tiles and stages nearest to offered ones
/// are combined, because some algorithms have hundreds of tiles.
[[nodiscard]] std::vector<CublasLtConfig> further_configs(const std::vector<CublasLtCapabilities>& algorithms,
                                                          const std::vector<CublasLtConfig>& offered,
                                                          std::size_t limit);

/// Packed problems with the same types and layout, for which the heuristics may offer algorithms that suit `problem`
/// too. They are half and twice, then a quarter and four times as large, in one extent each and in M and N together;
/// extents stay multiples of 16.
[[nodiscard]] std::vector<Problem> similar_problems(const Problem& problem);

}  // namespace pgtune::gpu
