// SPDX-License-Identifier: MIT
// What a program sees of exported GEMMs: problems, operands, entries. Type, Element and Activation are written before
// it from pgtune's own tables.
#pragma once

#include "exported/types.hpp"

namespace pgtune_export {

/// Of A, then B: n as written, t stored transposed.
enum class Layout : std::uint8_t { nn, nt, tn, tt };

/// bias: a vector of n elements of D's type, added to every row. It comes before the activation.
struct Epilogue {
  bool bias = false;
  Activation activation = Activation::none;
};

/// D[m,n] = activation(alpha * op(A) * op(B) + beta * C + bias), row-major, in `batch` matrices.
/// A is stored m x k (n) or k x m (t), B k x n (n) or n x k (t). Everything counts elements. 0 means packed: leading
/// dimensions of a row's length, strides of rows times leading dimension. D has C's type, leading dimension and stride.
struct Problem {
  Type type;
  Layout layout;
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  Element out = Element::usual;  ///< of C and D
  Epilogue epilogue = {};
};

/// Device pointers, each aligned to 16 bytes. c is not read where beta is 0, and may be d; bias only where the problem
/// has one. Of integer types alpha and beta are whole numbers, with which results fit 32 bits whatever is added.
struct Operands {
  const void *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  void* d = nullptr;
  float alpha = 1, beta = 0;
};

/// Computes the problem itself; called by Gemm::run() where no kernel of this header serves it. What it returns, run()
/// returns.
using Fallback = Status (*)(const Problem&, const Operands&, void* workspace, std::size_t workspace_bytes,
                            CUstream stream, void* user);

/// What select() may choose. What is worse goes to the fallback. Pinned, results of a row do not depend on m: a variant
/// whose sums would is refused.
struct Policy : Limits {
  Fallback fallback = nullptr;
  void* user = nullptr;                      ///< handed to the fallback
  std::size_t fallback_workspace_bytes = 0;  ///< what the fallback wants
};

/// One problem, and what is known of its kernel. Of a guess no time is known, and no ratio: they are 0.
struct Entry {
  Problem problem;
  bool adds_c;  ///< tuned with beta other than 0
  int variant;
  int device_class;
  double time_s, tflops;
  double ratio, ratio_low, ratio_high;  ///< cuBLASLt's best time over its own, with the 95 % interval
  bool guessed;
  double guessed_loss;  ///< of a guess: the time over that of a tuned variant, less one, to be expected (a median)
  const char* origin;   ///< board, driver, date and template version it was measured with; what a guess rests on
};

/// The m after the interval before, up to last_m.
struct Interval {
  std::int64_t last_m;
  int variant;
  int spare;  ///< serves where alignment forbids the first one and not this one; -1: none
};

/// Problems that differ in m alone, with a kernel for each m from first_m to problem.m.
struct Family {
  Problem problem;  ///< the one with the largest m
  bool adds_c;
  std::int64_t first_m;
  int device_class;
  const Interval* intervals;
  int interval_count;
  int probes;  ///< m that were measured and used for nothing else
  /// Of these: the time over that of a variant tuned for the m, less one, and at least 0. -1: not known.
  double median_loss, largest_loss;
  const char* sum_order;  ///< of all its kernels (Variant::sum_order); "": they differ
  const char* origin;
};

/// What borrowing a neighbour's variant cost where that was measured: see the comment at the tables.
struct NeighbourLoss {
  Type type;
  double radius;       ///< largest distance of a neighbour, in doublings; 0: no neighbour is taken
  int held_out;        ///< tuned problems that were dispatched as if they were not there, and had a neighbour
  int measured;        ///< of these, how many had tried the neighbour's variant
  double median, p90;  ///< loss of those
};

}  // namespace pgtune_export
