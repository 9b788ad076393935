// SPDX-License-Identifier: MIT
#include "pipeline/plan/checked_rows.hpp"

#include <algorithm>

#include "pipeline/plan/legality.hpp"

namespace pgtune::pipeline {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 26;
/// A GPU's float64 pipes do some 5 TFLOP/s in the reference kernel, which sums magnitudes beside products.
constexpr double kMostProducts = 1e12;

}  // namespace

std::vector<Chunk> checked_rows(std::int64_t rows, std::int64_t most_rows) {
  if (most_rows >= rows) return {{0, rows}};
  // As many blocks as a product may have chunks, and one more for the end.
  const std::int64_t count = std::min(most_rows, kMostChunks + 1);
  const std::int64_t height = std::max<std::int64_t>(1, most_rows / count);
  std::vector<Chunk> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = count == 1 ? 0 : (rows - height) * i / (count - 1);
    if (blocks.empty() || first >= blocks.back().first + blocks.back().extent) blocks.push_back({first, height});
  }
  return blocks;
}

std::int64_t affordable_rows(const Problem& problem) {
  const double by_products = kMostProducts / (static_cast<double>(problem.n) * static_cast<double>(problem.k));
  const std::int64_t by_elements = kMostElements / problem.n;
  return std::max({static_cast<std::int64_t>(std::min(by_products, 1e15)) < by_elements
                       ? static_cast<std::int64_t>(by_products)
                       : by_elements,
                   kMostChunks + 1});
}

Problem rows_of(const Problem& problem, std::int64_t rows) {
  Problem part = problem;
  part.m = rows;
  part.lda = part.columns_a();
  part.ldc = part.n;
  part.operation = {};
  return part;
}

}  // namespace pgtune::pipeline
