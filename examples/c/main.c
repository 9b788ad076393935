/* SPDX-License-Identifier: MIT
 * Runs the first problem that was tuned, on matrices of zeros, through the C interface. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "best_gemm.h"

/* CUDA's own calls, for which an example has no better answer. */
static void must(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: CUDA error %d\n", what, (int)code);
  exit(1);
}

static void* zeros(int64_t bytes) {
  CUdeviceptr out = 0;
  must(cuMemAlloc(&out, bytes > 0 ? (size_t)bytes : 1), "allocating");
  if (bytes > 0) must(cuMemsetD8(out, 0, (size_t)bytes), "filling");
  return (void*)(uintptr_t)out;
}

static int fail(int status) {
  fprintf(stderr, "%s\n", best_gemm_text(status));
  return 1;
}

int main(void) {
  CUdevice device = 0;
  CUcontext context = NULL;
  CUstream stream = NULL;
  best_gemm_entry entry;
  best_gemm_operands operands;
  best_gemm_gemm gemm;
  const best_gemm_problem* problem = &entry.problem;
  const int64_t widest = 4; /* bytes of an element at most */
  void* workspace;
  int status;

  must(cuInit(0), "starting CUDA");
  must(cuDeviceGet(&device, 0), "the device");
  must(cuDevicePrimaryCtxRetain(&context, device), "the context");
  must(cuCtxSetCurrent(context), "the context");
  must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "a stream");

  status = best_gemm_prepare(0); /* loads the kernels: once, at the start */
  if (status != best_gemm_status_ok) return fail(status);
  status = best_gemm_get_entry(0, &entry);
  if (status != best_gemm_status_ok) return fail(status);

  memset(&operands, 0, sizeof operands);
  operands.a = zeros(widest * problem->batch * problem->m * problem->k);
  operands.b = zeros(widest * problem->batch * problem->n * problem->k);
  operands.d = zeros(widest * problem->batch * problem->m * problem->n);
  operands.c = operands.d;
  operands.bias = zeros(widest * problem->n);
  operands.alpha = 1;
  operands.beta = entry.adds_c ? 1.0F : 0.0F;
  status = best_gemm_select(problem, &operands, 0, NULL, &gemm); /* for this shape and alignment; to be kept */
  if (status != best_gemm_status_ok) return fail(status);
  workspace = zeros((int64_t)best_gemm_workspace_bytes(&gemm));
  status = best_gemm_run(&gemm, &operands, workspace, best_gemm_workspace_bytes(&gemm), stream);
  if (status != best_gemm_status_ok) return fail(status);
  must(cuStreamSynchronize(stream), "running");
  printf("%lldx%lldx%lld: %s\n", (long long)problem->m, (long long)problem->n, (long long)problem->k,
         best_gemm_choice_of(&gemm).why);
  return 0; /* the memory goes with the process */
}
