// SPDX-License-Identifier: MIT
// What variants_device_test launches: problems that are hard in one way each, and schedules of a template, which are
// variants over its defaults.
#pragma once

#include <vector>

#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// Ragged in every extent, once with rows that TMA and 16-byte copies can take; a strided one adds to what is there.
[[nodiscard]] std::vector<Problem> small_problems();

/// Where a bias ends inside a vector and C is added, and where it runs along the rows of an exchanged product. Operands
/// that TMA takes whatever their type.
[[nodiscard]] std::vector<Problem> fused_problems(const Epilogue& epilogue);

/// What gemm_wgmma can turn in registers: operands of 8 and 32 bits that do not lie along K, in rows that TMA takes.
/// Ragged in the other directions; C is added to one.
[[nodiscard]] std::vector<Problem> problems_to_turn(const Problem& types);

/// C is added where TMA stores D: more tiles than multiprocessors, a batch, and an exchanged product.
[[nodiscard]] std::vector<Problem> problems_with_c(const Problem& types);

/// Rows of D that TMA cannot write: of odd length, from odd elements on, and only their starts or only their ends
/// between multiples of 16 bytes; more tiles than multiprocessors, a batch, C, and an exchanged product.
[[nodiscard]] std::vector<Problem> problems_of_staged_rows(const Problem& types);

/// Rows that start and end at multiples of 16, 8 and 4 bytes and of no more, ragged in every extent, in every layout.
[[nodiscard]] std::vector<Problem> problems_of_any_pitch(const Problem& types);

/// Lines of B at multiples of 4 and of 8 bytes, beside an A that is read by TMA and one that is not; many k-blocks.
[[nodiscard]] std::vector<Problem> problems_of_many_odd_lines();

/// Few rows or columns of D, in every layout: one, an odd number and as many as there may be; lines of odd length and
/// others, K that ends inside what a warp loads at once, a batch, C, and rows apart from each other.
[[nodiscard]] std::vector<Problem> problems_of_few_vectors(const Problem& types);

/// Of gemm_wgmma: every schedule, decomposition and source of the left operand.
extern const std::vector<const char*> kSchedules;

/// Of sgemm_tma: tiles of every kind, with operands along K transposed in shared memory, packed before, and one of
/// each.
extern const std::vector<const char*> kCopyingProducers;

/// CTAs that share a tile along K and finish 24, 40, 56 or 24 columns of it each.
extern const std::vector<const char*> kOddSlices;

/// More than 64 rows of D in the tiles of a product whose operands are swapped.
extern const std::vector<const char*> kSwappedRows;

/// So many CTAs that a few tiles occupy every multiprocessor; 1 to 16 of them finish a slice of 8 columns or more.
extern const std::vector<const char*> kManySharers;

/// The same of gemm_mma, in which 2 to 8 finish a slice of a warp's blocks.
extern const std::vector<const char*> kMmaSharers;

/// Of gemm_skinny: every way to share lines, along and, where there is one, across K.
extern const std::vector<const char*> kLineSharers;

}  // namespace pgtune::gpu
