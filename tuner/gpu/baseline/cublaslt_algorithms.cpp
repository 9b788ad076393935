// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace pgtune::gpu {
namespace {

constexpr std::size_t kHexDigits = 16;  // of one of an algorithm's 64-bit words

/// The enumerator's name from the compiler, without `prefix`; empty for a value without a name. This names hundreds of
/// tiles without a table that would have to follow the header.
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

/// "128x64"; zeros if the name is no shape.
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

/// An attribute that not every algorithm has; otherwise the type's zero.
template <typename T>
void read(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute, T& value) {
  T read_value{};
  std::size_t written = 0;
  static_cast<void>(
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &read_value, sizeof(read_value), &written));
  value = read_value;
}

constexpr std::size_t kTilesPerAlgorithm = 8, kStagesPerAlgorithm = 4;
constexpr std::array<std::int32_t, 7> kSplits{2, 3, 4, 6, 8, 16, 32};
constexpr std::uint32_t kMaxCustom = 2;
// Distances in octaves of a tile's side. Swizzles and custom options mostly reorder the same work; they cost as much as
// another tile, or they would fill the list.
constexpr double kOtherAlgorithm = 4, kOtherStages = 2, kOtherReduction = 1, kOtherCustom = 2, kOtherSwizzle = 2;
constexpr double kUnknownTile = 4;
constexpr double kRankCharge = 0.2;  // for each position in the heuristics' list

double octaves(double a, double b) { return std::abs(std::log2(a / b)); }

double tile_distance(std::uint32_t a, std::uint32_t b) {
  if (a == b) return 0;
  const auto x = tile_shape(a), y = tile_shape(b);
  if (!x || !y) return kUnknownTile;
  return octaves(x->rows, y->rows) + octaves(x->columns, y->columns);
}

double charge(bool differs, double price) { return differs ? price : 0; }

/// The smallest `cost` over the offered configurations, plus a charge for later positions.
template <typename Cost>
double nearest(const std::vector<CublasLtConfig>& offered, Cost cost) {
  double least = offered.empty() ? 0 : HUGE_VAL;
  for (std::size_t rank = 0; rank < offered.size(); ++rank) {
    least = std::min(least, cost(offered[rank]) + kRankCharge * static_cast<double>(rank));
  }
  return least;
}

/// The `count` values with the least cost, in that order; {0} (undefined) if there are none.
template <typename Cost>
std::vector<std::uint32_t> likeliest(const std::vector<std::uint32_t>& values, std::size_t count, Cost cost) {
  if (values.empty()) return {0};
  std::vector<std::pair<double, std::uint32_t>> sorted;
  for (const std::uint32_t value : values) sorted.emplace_back(cost(value), value);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  sorted.resize(std::min(sorted.size(), count));
  std::vector<std::uint32_t> chosen;
  for (const auto& entry : sorted) chosen.push_back(entry.second);
  return chosen;
}

/// The ways to split K, with the reduction schemes for the parts.
std::vector<std::pair<std::int32_t, std::uint32_t>> splits(const CublasLtCapabilities& algorithm) {
  std::vector<std::pair<std::int32_t, std::uint32_t>> ways{{1, CUBLASLT_REDUCTION_SCHEME_NONE}};
  if (!algorithm.split_k) return ways;
  for (const std::uint32_t scheme : {CUBLASLT_REDUCTION_SCHEME_INPLACE, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
                                     CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE}) {
    if ((algorithm.reduction_mask & scheme) == 0) continue;
    for (const std::int32_t count : kSplits) ways.emplace_back(count, scheme);
  }
  return ways;
}

/// No capability lists inner and cluster shapes, so those of offered configurations of the same algorithm are used.
std::set<std::pair<std::uint16_t, std::uint16_t>> shapes(const std::vector<CublasLtConfig>& offered, std::int32_t id) {
  std::set<std::pair<std::uint16_t, std::uint16_t>> seen;
  for (const CublasLtConfig& config : offered) {
    if (config.id == id) seen.emplace(config.inner, config.cluster);
  }
  if (seen.empty()) seen.emplace(0, 0);
  return seen;
}

std::vector<CublasLtConfig> combinations(const CublasLtCapabilities& algorithm,
                                         const std::vector<CublasLtConfig>& offered) {
  const auto tiles = likeliest(algorithm.tiles, kTilesPerAlgorithm, [&](std::uint32_t tile) {
    return nearest(offered, [&](const CublasLtConfig& other) { return tile_distance(tile, other.tile); });
  });
  const auto stages = likeliest(algorithm.stages, kStagesPerAlgorithm, [&](std::uint32_t stage) {
    return nearest(offered, [&](const CublasLtConfig& other) { return charge(stage != other.stages, kOtherStages); });
  });
  const std::uint32_t last_swizzle = algorithm.swizzle ? 1 : 0;
  const std::uint32_t last_custom = std::min(static_cast<std::uint32_t>(std::max(algorithm.custom_max, 0)), kMaxCustom);
  std::vector<CublasLtConfig> configs;
  for (const auto& [inner, cluster] : shapes(offered, algorithm.id)) {
    for (const auto& [split_k, reduction] : splits(algorithm)) {
      for (const std::uint32_t tile : tiles) {
        for (const std::uint32_t stage : stages) {
          for (std::uint32_t swizzle = 0; swizzle <= last_swizzle; ++swizzle) {
            for (std::uint32_t custom = 0; custom <= last_custom; ++custom) {
              configs.push_back({algorithm.id, tile, stage, split_k, reduction, swizzle, custom, inner, cluster});
            }
          }
        }
      }
    }
  }
  return configs;
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

double distance(const CublasLtConfig& a, const CublasLtConfig& b) {
  return tile_distance(a.tile, b.tile) + octaves(std::max(a.split_k, 1), std::max(b.split_k, 1)) +
         charge(a.id != b.id, kOtherAlgorithm) + charge(a.stages != b.stages, kOtherStages) +
         charge(a.split_k > 1 && b.split_k > 1 && a.reduction != b.reduction, kOtherReduction) +
         charge(a.custom != b.custom, kOtherCustom) + charge(a.swizzle != b.swizzle, kOtherSwizzle);
}

std::vector<Problem> similar_problems(const Problem& problem) {
  constexpr std::int64_t kMultiple = 16;
  const auto scaled = [](std::int64_t extent, double factor) {
    const auto multiples = std::llround(static_cast<double>(extent) * factor / static_cast<double>(kMultiple));
    return std::max<std::int64_t>(multiples, 1) * kMultiple;
  };
  std::vector<Problem> similar;
  for (const double factor : {0.5, 2.0, 0.25, 4.0}) {
    for (const auto& [m, n, k] : {std::array{1, 0, 0}, std::array{0, 1, 0}, std::array{0, 0, 1}, std::array{1, 1, 0}}) {
      Problem other = problem;
      if (m != 0) other.m = scaled(problem.m, factor);
      if (n != 0) other.n = scaled(problem.n, factor);
      if (k != 0) other.k = scaled(problem.k, factor);
      other.lda = other.ldb = other.ldc = 0;
      if (const auto packed = with_default_strides(other)) similar.push_back(*packed);
    }
  }
  return similar;
}

std::vector<CublasLtConfig> further_configs(const std::vector<CublasLtCapabilities>& algorithms,
                                            const std::vector<CublasLtConfig>& offered, std::size_t limit) {
  const std::set<CublasLtConfig> known(offered.begin(), offered.end());
  std::vector<std::pair<double, CublasLtConfig>> found;
  for (const CublasLtCapabilities& algorithm : algorithms) {
    for (const CublasLtConfig& config : combinations(algorithm, offered)) {
      if (known.count(config) > 0) continue;
      found.emplace_back(nearest(offered, [&](const CublasLtConfig& other) { return distance(config, other); }),
                         config);
    }
  }
  // Pairs are ordered by distance, then by the configuration itself: the same list on every machine.
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), limit));
  std::vector<CublasLtConfig> configs;
  for (const auto& entry : found) configs.push_back(entry.second);
  return configs;
}

}  // namespace pgtune::gpu
