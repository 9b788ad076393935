// SPDX-License-Identifier: MIT
#include "pipeline/plan/chunk_plan.hpp"

#include <algorithm>
#include <set>

namespace pgtune::pipeline {
namespace {

constexpr std::int64_t kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Whether the cut runs along the rows of the stored matrix, which it divides.
bool along_rows(const Problem& problem, Matrix matrix, Cut cut) {
  if (matrix == Matrix::kD) return cut == Cut::kM;
  const bool transposed = matrix == Matrix::kA ? problem.trans_a : problem.trans_b;
  const bool rows_of_op = matrix == Matrix::kA ? cut == Cut::kM : cut == Cut::kK;
  return rows_of_op != transposed;
}

}  // namespace

std::int64_t extent_of(const Problem& problem, Cut cut) {
  return cut == Cut::kM ? problem.m : cut == Cut::kN ? problem.n : problem.k;
}

std::vector<Chunk> chunks_of(const Problem& problem, Cut cut, std::int64_t extent) {
  const std::int64_t end = extent_of(problem, cut);
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < end; first += extent) chunks.push_back({first, std::min(extent, end - first)});
  return chunks;
}

bool divides(Cut cut, Matrix matrix) {
  switch (matrix) {
    case Matrix::kA:
      return cut != Cut::kN;
    case Matrix::kB:
      return cut != Cut::kM;
    case Matrix::kD:
      break;
  }
  return cut != Cut::kK;
}

Region whole(const StreamedProblem& streamed, Matrix matrix) {
  return {0, 0, streamed.rows(matrix), streamed.columns(matrix)};
}

Region region_of(const StreamedProblem& streamed, Matrix matrix, Cut cut, const Chunk& chunk) {
  Region region = whole(streamed, matrix);
  if (!divides(cut, matrix)) return region;
  if (along_rows(streamed.problem, matrix, cut)) {
    region.row = chunk.first;
    region.rows = chunk.extent;
  } else {
    region.column = chunk.first;
    region.columns = chunk.extent;
  }
  return region;
}

bool has_whole_rows(const StreamedProblem& streamed, Matrix matrix, Cut cut) {
  return !divides(cut, matrix) || along_rows(streamed.problem, matrix, cut);
}

std::int64_t bytes_of(const StreamedProblem& streamed, Matrix matrix, const Region& region) {
  return region.rows * region.columns * streamed.element_bytes(matrix);
}

bool has_buffers(const StreamedProblem& streamed, Matrix matrix, const Candidate& candidate) {
  return streamed.streams(matrix) && divides(candidate.cut, matrix) && candidate.memory != HostMemory::kMapped;
}

Problem chunk_problem(const StreamedProblem& streamed, const Candidate& candidate, const Chunk& chunk) {
  Problem problem = streamed.problem;
  (candidate.cut == Cut::kM ? problem.m : candidate.cut == Cut::kN ? problem.n : problem.k) = chunk.extent;
  if (has_buffers(streamed, Matrix::kA, candidate)) problem.lda = problem.columns_a();
  if (has_buffers(streamed, Matrix::kB, candidate)) problem.ldb = problem.columns_b();
  if (has_buffers(streamed, Matrix::kD, candidate)) problem.ldc = problem.n;
  if (candidate.cut == Cut::kK && chunk.first > 0) problem.beta = 1;
  return problem;
}

std::vector<std::int64_t> chunk_extents(const Problem& problem, Cut cut) {
  const std::int64_t whole_extent = extent_of(problem, cut);
  const std::int64_t least = ceil_div(whole_extent, kMostChunks);
  std::set<std::int64_t> extents;
  const auto add = [&](std::int64_t extent) {
    if (extent >= least && extent <= whole_extent) extents.insert(extent);
  };
  for (const std::int64_t parts : kSplits) {
    const std::int64_t even = ceil_div(whole_extent, parts);
    add(std::min(ceil_div(even, kChunkGranule) * kChunkGranule, whole_extent));
  }
  for (std::int64_t power = kChunkGranule; power < whole_extent; power *= 2) add(power);
  return {extents.begin(), extents.end()};
}

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 26;
/// A GPU's float64 pipes reach about 5 TFLOP/s in the reference kernel, which sums magnitudes as well as products.
constexpr double kMostProducts = 1e12;

}  // namespace

std::vector<Chunk> checked_rows(std::int64_t rows, std::int64_t most_rows) {
  if (most_rows >= rows) return {{0, rows}};
  // One block for each possible chunk of a product, and one more for the end.
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
