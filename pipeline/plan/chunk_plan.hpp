// SPDX-License-Identifier: MIT
// The chunks of a product, the part of each operand that a chunk needs, and the rows of D that are compared with
// float64.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/streamed_problem.hpp"

namespace pgtune::pipeline {

struct Chunk {
  std::int64_t first = 0, extent = 0;  ///< along the cut
};

/// Part of a matrix as it is stored.
struct Region {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

[[nodiscard]] std::int64_t extent_of(const Problem& problem, Cut cut);
/// Chunks of `extent`; the last one is shorter if they do not divide the cut extent. Precondition: 1 <= extent.
[[nodiscard]] std::vector<Chunk> chunks_of(const Problem& problem, Cut cut, std::int64_t extent);
/// Whether the cut divides the matrix. Every chunk needs the whole of an undivided one.
[[nodiscard]] bool divides(Cut cut, Matrix matrix);
/// The part of a matrix that a chunk needs.
[[nodiscard]] Region region_of(const StreamedProblem& streamed, Matrix matrix, Cut cut, const Chunk& chunk);
/// Whether a chunk's part of the matrix is one piece of memory: whole rows as they are stored.
[[nodiscard]] bool has_whole_rows(const StreamedProblem& streamed, Matrix matrix, Cut cut);
[[nodiscard]] Region whole(const StreamedProblem& streamed, Matrix matrix);
[[nodiscard]] std::int64_t bytes_of(const StreamedProblem& streamed, Matrix matrix, const Region& region);

/// Whether chunks of the matrix have their own packed buffers on the device: it streams, is divided, and the kernel
/// does not read host memory.
[[nodiscard]] bool has_buffers(const StreamedProblem& streamed, Matrix matrix, const Candidate& candidate);
/// The product of one chunk: packed if has_buffers(), else with the leading dimension of the whole matrix. With a cut
/// along K it adds to D (beta 1) from the second chunk on.
[[nodiscard]] Problem chunk_problem(const StreamedProblem& streamed, const Candidate& candidate, const Chunk& chunk);

/// Extents worth trying, ascending: powers of two and even splits, rounded to kChunkGranule if the extent allows, with
/// at most kMostChunks chunks.
[[nodiscard]] std::vector<std::int64_t> chunk_extents(const Problem& problem, Cut cut);
inline constexpr std::int64_t kChunkGranule = 128;
inline constexpr std::int64_t kMostChunks = 128;

/// The rows of D to compare: all if `most_rows` allows, else blocks of equal height at even distances, including the
/// first and last rows, so that each chunk of an allowed size has some.
[[nodiscard]] std::vector<Chunk> checked_rows(std::int64_t rows, std::int64_t most_rows);

/// The affordable number of rows: at most 2^26 elements of D, and products that the reference computes in about a
/// second. At least one per chunk.
[[nodiscard]] std::int64_t affordable_rows(const Problem& problem);

/// The packed product of `rows` of its rows.
[[nodiscard]] Problem rows_of(const Problem& problem, std::int64_t rows);

}  // namespace pgtune::pipeline
