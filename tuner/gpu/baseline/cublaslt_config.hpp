// SPDX-License-Identifier: MIT
// An algorithm's configuration: cuBLASLt's numbers as a value that can be compared, and in words.
#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace pgtune::gpu
