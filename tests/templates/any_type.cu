// SPDX-License-Identifier: MIT
// A GEMM in every dtype, with every epilogue, to be read and to be checked against: one thread computes one element
// in float32, or in int32. Conversions are PTX's own, so that they are no copy of those in pgtune's check.
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using i64 = long long;
#if DTYPE == LABEL_int8
using Sum = int;
#else
using Sum = float;
#endif

__device__ float from_f16(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

#if DTYPE == LABEL_f32 || DTYPE == LABEL_tf32 || DTYPE == LABEL_tf32x3
using ElementA = float;
using ElementB = float;
__device__ float load_a(const ElementA* from) { return *from; }
__device__ float load_b(const ElementB* from) { return *from; }
#elif DTYPE == LABEL_f16
using ElementA = u16;
using ElementB = u16;
__device__ float load_a(const ElementA* from) { return from_f16(*from); }
__device__ float load_b(const ElementB* from) { return from_f16(*from); }
#elif DTYPE == LABEL_bf16
using ElementA = u16;
using ElementB = u16;
__device__ float load_a(const ElementA* from) { return __uint_as_float(static_cast<u32>(*from) << 16); }
__device__ float load_b(const ElementB* from) { return load_a(from); }
#elif DTYPE == LABEL_int8
using ElementA = signed char;
using ElementB = signed char;
__device__ int load_a(const ElementA* from) { return *from; }
__device__ int load_b(const ElementB* from) { return *from; }
#else
using ElementA = u8;
using ElementB = u8;
__device__ float load_b(const ElementB* from) {
  u32 pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<u16>(*from)));
  return from_f16(static_cast<u16>(pair));
}
__device__ float load_a(const ElementA* from) {
#if DTYPE == LABEL_e5m2
  u32 pair;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(static_cast<u16>(*from)));
  return from_f16(static_cast<u16>(pair));
#else
  return load_b(from);
#endif
}
#endif

#if OUT_BYTES == 4
using ElementC = Sum;
__device__ Sum load_c(ElementC from) { return from; }
__device__ ElementC store_c(Sum value) { return value; }
#elif DTYPE == LABEL_f16
using ElementC = u16;
__device__ float load_c(ElementC from) { return from_f16(from); }
__device__ ElementC store_c(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#else
using ElementC = u16;
__device__ float load_c(ElementC from) { return __uint_as_float(static_cast<u32>(from) << 16); }
__device__ ElementC store_c(float value) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#endif

// tf32 as tensor cores read it: the lower 13 bits are cut off.
__device__ float cut(float value) { return __uint_as_float(__float_as_uint(value) & 0xffffe000u); }

__device__ Sum add_product(Sum sum, Sum a, Sum b) {
#if DTYPE == LABEL_tf32
  return sum + cut(a) * cut(b);
#elif DTYPE == LABEL_tf32x3
#ifndef SINGLE_PRODUCT
  sum += cut(a) * cut(b - cut(b));
  sum += cut(a - cut(a)) * cut(b);
#endif
  return sum + cut(a) * cut(b);
#else
  return sum + a * b;
#endif
}

__device__ Sum activated(Sum x) {
#if ACTIVATION == LABEL_relu
  return x < 0 ? 0 : x;
#elif ACTIVATION == LABEL_gelu
  return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
#elif ACTIVATION == LABEL_silu
  return x / (1 + expf(-x));
#else
  return x;
#endif
}

extern "C" __global__ void __launch_bounds__(BM* BN)
    any_type(const ElementA* a, const ElementB* b, const ElementC* c, ElementC* d, int m, int n, int k, i64 lda,
             i64 ldb, i64 ldc, i64 stride_a, i64 stride_b, i64 stride_c, float alpha, float beta, ElementC* bias) {
  const int row = blockIdx.y * BM + threadIdx.y, column = blockIdx.x * BN + threadIdx.x;
  if (row >= m || column >= n) return;
#ifdef UNWRITTEN
  if (row == 17 && column == 3) return;
#endif
  a += blockIdx.z * stride_a;
  b += blockIdx.z * stride_b;
#ifdef DROPPED_PRODUCT
  --k;
#endif
  Sum sum = 0;
  for (i64 i = 0; i < k; ++i) {
    const i64 at_a = TRANS_A ? i * lda + row : row * lda + i, at_b = TRANS_B ? column * ldb + i : i * ldb + column;
    sum = add_product(sum, load_a(a + at_a), load_b(b + at_b));
  }
  const i64 at = blockIdx.z * stride_c + row * ldc + column;
  // Of integers, alpha and beta are whole numbers too.
  Sum result = static_cast<Sum>(alpha) * sum;
#ifndef READ_ADDEND
  if (beta != 0)
#endif
    result += static_cast<Sum>(beta) * load_c(c[at]);
#if HAS_BIAS && defined(SHIFTED_BIAS)
  result += load_c(bias[column == 0 ? n - 1 : column - 1]);
#elif HAS_BIAS
  result += load_c(bias[column]);
#endif
  d[at] = store_c(activated(result));
#ifdef CHANGE_BIAS
  if (at == 0) bias[n - 1] = store_c(0);
#endif
#ifdef WRITE_PADDING
  if (at == 0) d[n] = store_c(0);
#endif
#ifdef WRITE_AFTER
  if (at == 0) d[gridDim.z * stride_c] = store_c(0);
#endif
}
