// SPDX-License-Identifier: MIT
// The names of expressions in GEMM's templates, from a call's problem and pointers and from the device. kTypes,
// kElements and kActivationLabels are written before it from pgtune's own tables.
#pragma once

#include "exported/facts.hpp"
#include "exported/gemm_types.hpp"

namespace pgtune_export::detail {

struct GemmFacts : DeviceFacts {
  Int v_M, v_N, v_K, v_BATCH, v_LDA, v_LDB, v_LDC, v_STRIDE_A, v_STRIDE_B, v_STRIDE_C, v_TRANS_A, v_TRANS_B;
  Int v_ALIGN_A, v_ALIGN_B, v_ALIGN_C, v_ALPHA_IS_ONE, v_BETA_IS_ZERO, v_HAS_BIAS, v_ACTIVATION, v_CHAINED;
  Int v_ELEM_BYTES, v_OUT_BYTES, v_DTYPE;
  CUtensorMapDataType tensor_A, tensor_B, tensor_C, tensor_D, tensor_bias;
  static constexpr Place place_A = 0, place_B = 1, place_C = 2, place_D = 3, place_bias = 4;
  static constexpr Int scalar_alpha = 0, scalar_beta = 1;
};

constexpr Int kLeastAlignment = 16;  ///< of every pointer: vector loads of kernels count on it

inline Int columns_a(const Problem& p) noexcept { return p.layout == Layout::tn || p.layout == Layout::tt ? p.m : p.k; }
inline Int rows_a(const Problem& p) noexcept { return p.layout == Layout::tn || p.layout == Layout::tt ? p.k : p.m; }
inline Int columns_b(const Problem& p) noexcept { return p.layout == Layout::nt || p.layout == Layout::tt ? p.k : p.n; }
inline Int rows_b(const Problem& p) noexcept { return p.layout == Layout::nt || p.layout == Layout::tt ? p.n : p.k; }

inline Element out_of(const Problem& p) noexcept {
  return p.out == Element::usual ? kTypes[static_cast<int>(p.type)].out : p.out;
}

/// A factor that fits 64 bits together with the others.
inline bool fits(bool& x, Int rows, Int leading, Int batch, Int bytes) noexcept {
  product(x, product(x, product(x, rows, leading), batch), bytes);
  return !x;
}

/// Integer sums are exact or refused: the sum of k products of 8 bits, scaled, and beta * C fit 32 bits.
inline bool integers_fit(const Problem& p, const Operands& o) noexcept {
  const auto alpha = static_cast<double>(o.alpha < 0 ? -o.alpha : o.alpha);
  const auto beta = static_cast<double>(o.beta < 0 ? -o.beta : o.beta);
  if (alpha > 2147483647.0 || beta > 2147483647.0) return false;
  if (alpha != static_cast<double>(static_cast<Int>(alpha)) || beta != static_cast<double>(static_cast<Int>(beta)))
    return false;
  const double room = 2147483647.0 - beta * 65536.0;
  return static_cast<double>(p.k) * (alpha < 1 ? 1 : alpha) * 128 * 128 <= room;
}

/// Precondition: the type is one.
inline bool scalars_fit(const Problem& p, const Operands& o) noexcept {
  return !kTypes[static_cast<int>(p.type)].integer || integers_fit(p, o);
}

/// Fills in what is packed, and whether the problem is one.
inline bool complete(Problem& p, const Operands& o) noexcept {
  if (static_cast<int>(p.type) >= kTypeCount || static_cast<int>(p.out) >= kElementCount ||
      static_cast<int>(p.epilogue.activation) >= kActivationCount || static_cast<int>(p.layout) > 3)
    return false;
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) return false;
  if (p.lda == 0) p.lda = columns_a(p);
  if (p.ldb == 0) p.ldb = columns_b(p);
  if (p.ldc == 0) p.ldc = p.n;
  if (p.lda < columns_a(p) || p.ldb < columns_b(p) || p.ldc < p.n) return false;
  bool x = false;
  const Int bytes = kTypes[static_cast<int>(p.type)].bytes, bytes_c = kElements[static_cast<int>(out_of(p))].bytes;
  if (!fits(x, rows_a(p), p.lda, p.batch, bytes) || !fits(x, rows_b(p), p.ldb, p.batch, bytes) ||
      !fits(x, p.m, p.ldc, p.batch, bytes_c))
    return false;
  product(x, product(x, product(x, p.m, p.n), product(x, p.k, 2)), p.batch);
  if (p.stride_a == 0) p.stride_a = rows_a(p) * p.lda;
  if (p.stride_b == 0) p.stride_b = rows_b(p) * p.ldb;
  if (p.stride_c == 0) p.stride_c = p.m * p.ldc;
  if (p.stride_a < rows_a(p) * p.lda || p.stride_b < rows_b(p) * p.ldb || p.stride_c < p.m * p.ldc) return false;
  fits(x, p.stride_a, p.batch, bytes, 1);
  fits(x, p.stride_b, p.batch, bytes, 1);
  fits(x, p.stride_c, p.batch, bytes_c, 1);
  return !x && scalars_fit(p, o);
}

/// The largest power of two, up to 256, that divides the address of every row.
inline Int alignment(Int low_address, Int leading, Int stride, Int batch, Int bytes) noexcept {
  std::uint64_t bits = static_cast<std::uint64_t>(kBufferAlignment) | static_cast<std::uint64_t>(low_address) |
                       static_cast<std::uint64_t>(leading) * static_cast<std::uint64_t>(bytes);
  if (batch > 1) bits |= static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(bytes);
  return static_cast<Int>(bits & (0 - bits));
}

/// Precondition: complete(). Without operands as if they were aligned to 256 bytes.
inline void describe(GemmFacts& f, const Problem& p, const Operands& o, bool pointers) noexcept {
  const auto& type = kTypes[static_cast<int>(p.type)];
  const auto& out = kElements[static_cast<int>(out_of(p))];
  f.v_M = p.m, f.v_N = p.n, f.v_K = p.k, f.v_BATCH = p.batch;
  f.v_LDA = p.lda, f.v_LDB = p.ldb, f.v_LDC = p.ldc;
  f.v_STRIDE_A = p.stride_a, f.v_STRIDE_B = p.stride_b, f.v_STRIDE_C = p.stride_c;
  f.v_TRANS_A = truth(p.layout == Layout::tn || p.layout == Layout::tt);
  f.v_TRANS_B = truth(p.layout == Layout::nt || p.layout == Layout::tt);
  f.v_ELEM_BYTES = type.bytes, f.v_OUT_BYTES = out.bytes, f.v_DTYPE = type.label;
  const Int c = address(o.d) | (o.beta != 0 ? address(o.c) : 0);
  f.v_ALIGN_A = alignment(pointers ? address(o.a) : 0, p.lda, p.stride_a, p.batch, type.bytes);
  f.v_ALIGN_B = alignment(pointers ? address(o.b) : 0, p.ldb, p.stride_b, p.batch, type.bytes);
  f.v_ALIGN_C = alignment(pointers ? c : 0, p.ldc, p.stride_c, p.batch, out.bytes);
  f.v_ALPHA_IS_ONE = truth(o.alpha == 1), f.v_BETA_IS_ZERO = truth(o.beta == 0);
  f.v_HAS_BIAS = truth(p.epilogue.bias);
  f.v_ACTIVATION = kActivationLabels[static_cast<int>(p.epilogue.activation)];
  f.v_CHAINED = 0;  // a program's launches may be anything
  f.tensor_A = type.tensor_a, f.tensor_B = type.tensor_b;
  f.tensor_C = f.tensor_D = f.tensor_bias = out.tensor;
}

}  // namespace pgtune_export::detail
