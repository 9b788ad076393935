// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_config.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

namespace pgtune::gpu {
namespace {

constexpr std::size_t kHexDigits = 16;  // of one of an algorithm's 64-bit words

/// The enumerator's name as the compiler prints it, without `prefix`; empty for a value that has none. Hundreds of
/// tiles are named so, without a table that would have to follow the header.
template <auto value>
constexpr std::string_view enumerator(std::string_view prefix) {
  const std::string_view function = __PRETTY_FUNCTION__;  // "... [with auto value = CUBLASLT_MATMUL_TILE_8x8; ...]"
  const std::size_t begin = function.find(prefix);
  if (begin == std::string_view::npos) return {};
  const std::size_t name = begin + prefix.size();
  return function.substr(name, function.find_first_of(";]", name) - name);
}

template <typename Enum, int... values>
constexpr auto enumerators(std::string_view prefix, std::integer_sequence<int, values...> /*all*/) {
  return std::array{enumerator<static_cast<Enum>(values)>(prefix)...};
}

constexpr auto kTiles = enumerators<cublasLtMatmulTile_t>("CUBLASLT_MATMUL_TILE_",
                                                          std::make_integer_sequence<int, CUBLASLT_MATMUL_TILE_END>());
constexpr auto kStages = enumerators<cublasLtMatmulStages_t>(
    "CUBLASLT_MATMUL_STAGES_", std::make_integer_sequence<int, CUBLASLT_MATMUL_STAGES_END>());
constexpr auto kInnerShapes = enumerators<cublasLtMatmulInnerShape_t>(
    "CUBLASLT_MATMUL_INNER_SHAPE_", std::make_integer_sequence<int, CUBLASLT_MATMUL_INNER_SHAPE_END>());
constexpr auto kClusters = enumerators<cublasLtClusterShape_t>(
    "CUBLASLT_CLUSTER_SHAPE_", std::make_integer_sequence<int, CUBLASLT_CLUSTER_SHAPE_END>());

/// "128x64"; zeros where the name is none of a shape.
constexpr TileShape parse_shape(std::string_view name) {
  std::array<int, 2> numbers{};
  std::size_t at = 0;
  for (const char c : name) {
    if (c == 'x' && at == 0) {
      ++at;
    } else if (c >= '0' && c <= '9') {
      numbers[at] = numbers[at] * 10 + (c - '0');
    } else {
      return {};
    }
  }
  return numbers[1] > 0 ? TileShape{numbers[0], numbers[1]} : TileShape{};
}

constexpr auto kTileShapes = [] {
  std::array<TileShape, kTiles.size()> shapes{};
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i] = parse_shape(kTiles[i]);
  return shapes;
}();

template <std::size_t size>
std::string name_of(const std::array<std::string_view, size>& names, std::uint32_t value) {
  if (value == 0) return "undefined";
  if (value >= size || names[value].empty()) return fmt::format("#{}", value);
  return std::string(names[value]);
}

std::string reduction_name(std::uint32_t scheme) {
  switch (scheme) {
    case CUBLASLT_REDUCTION_SCHEME_NONE:
      return "none";
    case CUBLASLT_REDUCTION_SCHEME_INPLACE:
      return "in place";
    case CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE:
      return "compute type";
    case CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE:
      return "output type";
    default:
      return fmt::format("#{}", scheme);
  }
}

/// An attribute that not every algorithm has; the type's zero where it has none.
template <typename T>
void read(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute, T& value) {
  T read_value{};
  std::size_t written = 0;
  static_cast<void>(
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &read_value, sizeof(read_value), &written));
  value = read_value;
}

}  // namespace

CublasLtConfig config_of(const cublasLtMatmulAlgo_t& algorithm) {
  CublasLtConfig config;
  read(algorithm, CUBLASLT_ALGO_CONFIG_ID, config.id);
  read(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, config.tile);
  read(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, config.stages);
  read(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, config.split_k);
  read(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, config.reduction);
  read(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, config.swizzle);
  read(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, config.custom);
  read(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, config.inner);
  read(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, config.cluster);
  return config;
}

std::string describe(const CublasLtConfig& config) {
  std::string text = fmt::format("algorithm {}, tile {}, stages {}, split-K {}", config.id,
                                 name_of(kTiles, config.tile), name_of(kStages, config.stages), config.split_k);
  if (config.split_k > 1) text += fmt::format(" ({})", reduction_name(config.reduction));
  if (config.swizzle != 0) text += fmt::format(", swizzle {}", config.swizzle);
  if (config.cluster != 0) text += ", cluster " + name_of(kClusters, config.cluster);
  if (config.inner != 0) text += ", inner " + name_of(kInnerShapes, config.inner);
  if (config.custom != 0) text += fmt::format(", custom {}", config.custom);
  return text;
}

std::string algorithm_text(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (const std::uint64_t word : algorithm.data) text += fmt::format("{:016x}", word);
  return text;
}

std::optional<cublasLtMatmulAlgo_t> algorithm_of_text(std::string_view text) {
  cublasLtMatmulAlgo_t algorithm{};
  if (text.size() != std::size(algorithm.data) * kHexDigits) return std::nullopt;
  for (auto& word : algorithm.data) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + kHexDigits, value, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + kHexDigits) return std::nullopt;
    word = value;
    text.remove_prefix(kHexDigits);
  }
  return algorithm;
}

std::optional<TileShape> tile_shape(std::uint32_t tile) {
  if (tile >= kTileShapes.size() || kTileShapes[tile].rows == 0) return std::nullopt;
  return kTileShapes[tile];
}

}  // namespace pgtune::gpu
