/* SPDX-License-Identifier: MIT
 * Calls of the C interface, right and wrong. The fake driver is the one that is linked. */
#include <string.h>

#include "best_gemm.h"
#include "check.h"

int main(void) {
  struct CUstream_st* const stream = (struct CUstream_st*)fake_stream(0, 0);
  void* const workspace = at(0x60000000);
  const size_t plenty = (size_t)1 << 34;
  best_gemm_policy policy = BEST_GEMM_POLICY;
  best_gemm_entry entry;
  best_gemm_family family;
  best_gemm_problem problem;
  best_gemm_operands operands;
  best_gemm_gemm gemm, copy;
  int i;

  memset(&gemm, 0, sizeof gemm);
  memset(&operands, 0, sizeof operands);
  operands.a = at(0x10000000), operands.b = at(0x20000000), operands.d = at(0x40000000);
  operands.c = at(0x30000000), operands.bias = at(0x50000000);
  operands.alpha = 1;
  CHECK(best_gemm_entry_count() > 0);
  CHECK(best_gemm_get_entry(-1, &entry) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_get_entry(best_gemm_entry_count(), &entry) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_get_entry(0, NULL) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_get_entry(0, &entry) == best_gemm_status_ok);
  problem = entry.problem;

  CHECK(best_gemm_select(&problem, &operands, 0, NULL, &gemm) == best_gemm_status_not_prepared);
  CHECK(best_gemm_prepare(9) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_prepare(0) == best_gemm_status_ok);

  /* A gemm of zeros is none, and so is one that could not be selected. */
  memset(&gemm, 0, sizeof gemm);
  CHECK(best_gemm_run(&gemm, &operands, workspace, plenty, stream) == best_gemm_status_not_supported);
  CHECK(best_gemm_workspace_bytes(&gemm) == 0 && best_gemm_workspace_bytes(NULL) == 0);
  CHECK(best_gemm_choice_of(&gemm).match == best_gemm_match_none);
  CHECK(best_gemm_select(NULL, &operands, 0, NULL, &gemm) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_select(&problem, NULL, 0, NULL, &gemm) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_select(&problem, &operands, 0, NULL, NULL) == best_gemm_status_invalid_argument);
  problem.m = 3, problem.lda = problem.ldb = problem.ldc = 0;
  CHECK(best_gemm_select(&problem, &operands, 0, NULL, &gemm) == best_gemm_status_not_supported);
  CHECK(strlen(best_gemm_choice_of(&gemm).why) > 3);
  CHECK(best_gemm_run(&gemm, &operands, workspace, plenty, stream) == best_gemm_status_not_supported);

  /* Words that are none, also where only their low byte is one. */
  for (i = 0; i < 4; ++i) {
    int32_t* const words[4] = {&problem.type, &problem.layout, &problem.out, &problem.activation};
    problem = entry.problem;
    *words[i] += 256;
    CHECK(best_gemm_select(&problem, &operands, 0, NULL, &gemm) == best_gemm_status_invalid_argument);
    *words[i] = -1;
    CHECK(best_gemm_select(&problem, &operands, 0, NULL, &gemm) == best_gemm_status_invalid_argument);
  }

  problem = entry.problem;
  CHECK(best_gemm_select(&problem, &operands, 0, &policy, &gemm) == best_gemm_status_ok);
  CHECK(best_gemm_choice_of(&gemm).match == best_gemm_match_exact && best_gemm_choice_of(&gemm).variant >= 0);
  problem.batch = 0; /* as of a struct of zeros */
  CHECK(best_gemm_select(&problem, &operands, 0, NULL, &gemm) == best_gemm_status_ok);
  copy = gemm;
  CHECK(best_gemm_run(&copy, &operands, workspace, plenty, stream) == best_gemm_status_ok);
  CHECK(best_gemm_run(NULL, &operands, workspace, plenty, stream) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_run(&gemm, NULL, workspace, plenty, stream) == best_gemm_status_invalid_argument);
  operands.a = at(0x10000008);
  CHECK(best_gemm_run(&gemm, &operands, workspace, plenty, stream) == best_gemm_status_misaligned);
  CHECK(best_gemm_get_family(-1, &family) == best_gemm_status_invalid_argument);
  CHECK(best_gemm_get_family(best_gemm_family_count(), &family) == best_gemm_status_invalid_argument);
  operands.a = at(0x10000000);
  policy.batch_invariant = 1;
  CHECK(best_gemm_select(&entry.problem, &operands, 0, &policy, &gemm) == best_gemm_status_not_supported);
  policy.batch_invariant = 0;
  CHECK(best_gemm_family_count() == 3);
  for (i = 0; i < best_gemm_family_count(); ++i) {
    CHECK(best_gemm_get_family(i, &family) == best_gemm_status_ok && family.first_m >= 1);
    policy.batch_invariant = family.sum_order[0] != 0;
    policy.largest_loss = family.largest_loss;
    if (family.largest_loss < 0) continue;
    CHECK(best_gemm_select(&family.problem, &operands, 0, &policy, &gemm) == best_gemm_status_ok);
    CHECK(best_gemm_choice_of(&gemm).match == best_gemm_match_family);
  }
  policy.batch_invariant = 0;
  policy.pinned = 1 << 20;
  operands.a = at(0x10000000);
  CHECK(best_gemm_select(&entry.problem, &operands, 0, &policy, &gemm) == best_gemm_status_not_supported);
  CHECK(strlen(best_gemm_content_hash()) == 12 && strlen(best_gemm_text(best_gemm_status_misaligned)) > 3);
  CHECK(best_gemm_last_cuda_error() >= 0);
  return failures == 0 ? 0 : 1;
}
