// SPDX-License-Identifier: MIT
// Which rows of a pipeline's D are compared with float64.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/plan/chunk_plan.hpp"

namespace pgtune::pipeline {

/// Rows of D that are compared: all of them where `most_rows` allows, else blocks of equal height at even distances,
/// the first and last rows among them, so that each chunk of an allowed size has some.
[[nodiscard]] std::vector<Chunk> checked_rows(std::int64_t rows, std::int64_t most_rows);

/// How many rows are affordable: 2^26 elements of D, and products that the reference computes in about a second. At
/// least one a chunk.
[[nodiscard]] std::int64_t affordable_rows(const Problem& problem);

/// The product of so many of its rows, packed.
[[nodiscard]] Problem rows_of(const Problem& problem, std::int64_t rows);

}  // namespace pgtune::pipeline
