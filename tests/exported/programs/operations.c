/* SPDX-License-Identifier: MIT
 * Calls of operations through the C interface, right and wrong. The fake driver is the one that is linked. */
#include <string.h>

#include "best.h"
#include "check.h"

int main(void) {
  struct CUstream_st* const stream = (struct CUstream_st*)fake_stream(0, 0);
  void* const workspace = at(0x60000000);
  const int softmax = best_operation_softmax_bf16, reduction = best_operation_reduction;
  const int64_t sizes[] = {1024, 1024}, others[] = {1000, 1024}, none[] = {0, 1024}, length[] = {1024};
  void* buffers[] = {at(0x10000000), at(0x20000000)};
  void* const odd[] = {at(0x10000000), at(0x20000008)};
  best_policy policy = BEST_POLICY;
  best_call call, copy;
  best_tuned tuned;
  int64_t found[2];

  memset(&call, 0, sizeof call);
  CHECK(best_run_operation(&call, buffers, NULL, workspace, 0, stream) == best_status_not_supported);
  CHECK(best_call_workspace_bytes(&call) == 0 && best_call_choice(&call).match == best_match_none);
  CHECK(best_select_operation(softmax, sizes, NULL, 0, NULL, &call) == best_status_not_prepared);
  CHECK(best_prepare(-1) == best_status_invalid_argument);
  CHECK(best_prepare(0) == best_status_ok);

  CHECK(best_tuned_count(softmax) >= 4 && best_tuned_count(-1) == 0 && best_tuned_count(1000) == 0);
  CHECK(best_get_tuned(softmax, 0, found, &tuned) == best_status_ok);
  CHECK(found[0] == 1024 && found[1] == 1024 && tuned.ratio > 1);
  CHECK(best_get_tuned(softmax, 1000, found, &tuned) == best_status_invalid_argument);
  CHECK(best_get_tuned(-1, 0, found, &tuned) == best_status_invalid_argument);

  CHECK(strcmp(best_operation_name(softmax), "softmax_bf16") == 0 && best_operation_name(-1) == NULL);
  CHECK(best_select_operation(1000, sizes, NULL, 0, NULL, &call) == best_status_invalid_argument);
  CHECK(best_select_operation(softmax, NULL, NULL, 0, NULL, &call) == best_status_invalid_argument);
  CHECK(best_select_operation(softmax, sizes, NULL, 0, NULL, NULL) == best_status_invalid_argument);
  CHECK(best_select_operation(softmax, none, NULL, 0, NULL, &call) == best_status_invalid_argument);
  CHECK(best_select_operation(softmax, others, NULL, 0, NULL, &call) == best_status_not_supported);
  CHECK(strlen(best_call_choice(&call).why) > 3);
  CHECK(best_select_operation(softmax, sizes, odd, 0, NULL, &call) == best_status_misaligned);
  policy.worst = 1000;
  CHECK(best_select_operation(softmax, sizes, NULL, 0, &policy, &call) == best_status_invalid_argument);
  policy.worst = best_match_exact;
  CHECK(best_select_operation(softmax, sizes, buffers, 0, &policy, &call) == best_status_ok);
  CHECK(best_call_choice(&call).match == best_match_exact && best_call_choice(&call).variant == tuned.variant);
  copy = call;
  CHECK(best_run_operation(&copy, buffers, NULL, NULL, 0, stream) == best_status_ok);
  CHECK(best_run_operation(&call, NULL, NULL, NULL, 0, stream) == best_status_invalid_argument);
  CHECK(best_run_operation(&call, odd, NULL, NULL, 0, stream) == best_status_misaligned);
  buffers[1] = NULL;
  CHECK(best_run_operation(&call, buffers, NULL, NULL, 0, stream) == best_status_invalid_argument);
  buffers[1] = at(0x20000000);

  CHECK(best_select_operation(reduction, length, buffers, 0, NULL, &call) == best_status_ok);
  CHECK(best_call_workspace_bytes(&call) > 0);
  CHECK(best_run_operation(&call, buffers, NULL, workspace, 0, stream) == best_status_workspace_too_small);
  CHECK(best_run_operation(&call, buffers, NULL, workspace, best_call_workspace_bytes(&call), stream) == best_status_ok);
  CHECK(strlen(best_text(best_status_misaligned)) > 3 && strlen(best_content_hash()) == 12);
  return failures == 0 ? 0 : 1;
}
