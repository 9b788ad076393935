// SPDX-License-Identifier: MIT
// Two translation units that share one header, and one that has another beside it.
#include "best_gemm.hpp"
#include "other_gemm.hpp"

best_gemm::Status prepare_in_the_other_unit();
const void* table_of_the_other_unit();

int main() {
  int count = 0;
  if (best_gemm::entries(&count) != table_of_the_other_unit()) return 1;
  if (prepare_in_the_other_unit() != best_gemm::Status::ok) return 2;
  best_gemm::Gemm gemm;
  const best_gemm::Entry& entry = best_gemm::entries(&count)[0];
  best_gemm::Operands operands;
  operands.beta = entry.adds_c ? 1.0F : 0.0F;
  // Prepared there is prepared here; of the other header nothing is.
  if (best_gemm::Gemm::select(entry.problem, operands, 0, {}, gemm) != best_gemm::Status::ok) return 3;
  other_gemm::Gemm other;
  const other_gemm::Entry& its = other_gemm::entries(&count)[0];
  if (other_gemm::Gemm::select(its.problem, {}, 0, {}, other) != other_gemm::Status::not_prepared) return 4;
  return 0;
}
