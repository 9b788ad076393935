/* SPDX-License-Identifier: MIT
 * The kernels for C and for what calls C: plain structs, numbers and functions. It is in the compiled library only.
 * What the words mean, and what calls promise, stands in pgtune_export.hpp. Fill structs with zeros before you set
 * fields, but a policy with PGTUNE_EXPORT_POLICY. */
#ifndef PGTUNE_EXPORT_H
#define PGTUNE_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* CUstream and cudaStream_t point to it */

enum {
  pgtune_export_status_ok,
  pgtune_export_status_invalid_argument,
  pgtune_export_status_not_supported,
  pgtune_export_status_misaligned,
  pgtune_export_status_workspace_too_small,
  pgtune_export_status_not_prepared,
  pgtune_export_status_no_driver,
  pgtune_export_status_driver_too_old,
  pgtune_export_status_wrong_device,
  pgtune_export_status_cuda_error,
  pgtune_export_status_not_compiled
};
enum {
  pgtune_export_match_exact,
  pgtune_export_match_family,
  pgtune_export_match_guess,
  pgtune_export_match_neighbour,
  pgtune_export_match_other_device,
  pgtune_export_match_fallback, /* never chosen here: call your own where a select says not_supported */
  pgtune_export_match_none
};
typedef struct pgtune_export_policy {
  int32_t worst; /* pgtune_export_match_... */
  int32_t pinned;
  double largest_loss;
  int32_t batch_invariant;
} pgtune_export_policy;
/* Exact, families, guesses and neighbours that lose 5 % at most, nothing pinned: what a null policy means. */
#define PGTUNE_EXPORT_POLICY {pgtune_export_match_neighbour, -1, 0.05, 0}

typedef struct pgtune_export_choice {
  int32_t match, variant;
  double expected_loss;
  const char* why;
} pgtune_export_choice;

/* Returns a status, as every function does that returns int and is no count. */
int pgtune_export_prepare(int device);
/* PGTUNE_GEMMS { */
enum { pgtune_export_layout_nn, pgtune_export_layout_nt, pgtune_export_layout_tn, pgtune_export_layout_tt };
/* PGTUNE_WORDS */

/* D[m,n] = activation(alpha * op(A) * op(B) + beta * C + bias). Zeros are packed rows, no epilogue and C and D of the
 * usual type. */
typedef struct pgtune_export_problem {
  int32_t type, layout;
  int64_t m, n, k;
  int64_t batch; /* 0 counts as 1 */
  int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
  int32_t out;              /* pgtune_export_element_... */
  int32_t bias, activation; /* the epilogue */
} pgtune_export_problem;

/* Device pointers. alpha is 1 in a plain product. */
typedef struct pgtune_export_operands {
  const void *a, *b, *c, *bias;
  void* d;
  float alpha, beta;
} pgtune_export_operands;

typedef struct pgtune_export_entry {
  pgtune_export_problem problem;
  int32_t adds_c, variant, device_class;
  double time_s, tflops, ratio, ratio_low, ratio_high; /* 0 of a guess */
  double guessed_loss;                                 /* below 0: tuned */
} pgtune_export_entry;

/* A problem with its kernel: a plain value, to be copied and kept; its contents are nobody's business. */
typedef struct pgtune_export_gemm {
  uint64_t selected;
  uint64_t words[PGTUNE_WORDS_OF_GEMM];
} pgtune_export_gemm;

int pgtune_export_select(const pgtune_export_problem* problem, const pgtune_export_operands* operands, int device,
                         const pgtune_export_policy* policy, pgtune_export_gemm* out);
int pgtune_export_run(const pgtune_export_gemm* gemm, const pgtune_export_operands* operands, void* workspace,
                      size_t workspace_bytes, struct CUstream_st* stream);

/* 0 of a gemm that select() did not fill. */
size_t pgtune_export_workspace_bytes(const pgtune_export_gemm* gemm);
/* After a select() that failed, it says why. */
pgtune_export_choice pgtune_export_choice_of(const pgtune_export_gemm* gemm);

int pgtune_export_entry_count(void);
/* invalid_argument where there is no such number. */
int pgtune_export_get_entry(int number, pgtune_export_entry* out);

typedef struct pgtune_export_family {
  pgtune_export_problem problem; /* with the largest m */
  int64_t first_m;
  int32_t adds_c, device_class, probes;
  double median_loss, largest_loss;
  const char* sum_order;
} pgtune_export_family;
int pgtune_export_family_count(void);
int pgtune_export_get_family(int number, pgtune_export_family* out);
/* PGTUNE_GEMMS } */

/* PGTUNE_OPERATIONS { */
/* Operations, each in a type. Sizes, buffers and scalars are arrays:
PGTUNE_OPERATION_LISTS */
enum {
PGTUNE_OPERATION_WORDS
};

/* "softmax_bf16"; null where there is no such operation: for callers that know no enumerators. */
const char* pgtune_export_operation_name(int operation);

/* Sizes with their kernel: a plain value, to be copied and kept; its contents are nobody's business. */
typedef struct pgtune_export_call {
  uint64_t selected;
  uint64_t words[PGTUNE_WORDS_OF_CALL];
} pgtune_export_call;

typedef struct pgtune_export_tuned {
  int32_t variant, device_class;
  double time_s, speed, ratio, ratio_low, ratio_high;
} pgtune_export_tuned;

/* Null buffers, and null pointers among them, count as aligned. A null policy is PGTUNE_EXPORT_POLICY. */
int pgtune_export_select_operation(int operation, const int64_t* sizes, void* const* buffers, int device,
                                   const pgtune_export_policy* policy, pgtune_export_call* out);
/* Null scalars are the operation's own. */
int pgtune_export_run_operation(const pgtune_export_call* call, void* const* buffers, const float* scalars,
                                void* workspace, size_t workspace_bytes, struct CUstream_st* stream);

/* 0 of a call that was not filled. */
size_t pgtune_export_call_workspace_bytes(const pgtune_export_call* call);
/* After a select that failed, it says why. */
pgtune_export_choice pgtune_export_call_choice(const pgtune_export_call* call);

/* How many sizes the operation is tuned for, and one of these; 0 and invalid_argument where there is no such number. */
int pgtune_export_tuned_count(int operation);
int pgtune_export_get_tuned(int operation, int number, int64_t* sizes, pgtune_export_tuned* out);
/* PGTUNE_OPERATIONS } */

const char* pgtune_export_text(int status);
int pgtune_export_last_cuda_error(void);
const char* pgtune_export_content_hash(void);

#ifdef __cplusplus
}
#endif
#endif
