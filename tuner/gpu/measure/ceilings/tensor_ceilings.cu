// SPDX-License-Identifier: MIT
// Kernels that reach for the arithmetic of the tensor cores, one for each dtype: products of what lies in shared
// memory (wgmma, compute capability 9.0) or in registers (mma.sync, 8.x), and nothing else. Compiled by NVRTC when the
// ceilings are asked for; includes nothing. tensor_ceilings.cpp knows the sizes that appear here as numbers.
using u32 = unsigned int;
using u64 = unsigned long long;

// Signs and mantissas without a pattern, magnitudes of 0.5 to 1 (integers: any): `fixed` holds the exponent of every
// element in a word, `free` the bits that may differ. Equal operands would toggle no wires and draw less power than
// real data. The mixing is the finaliser of MurmurHash3.
__device__ inline u32 operand(u32 index, u32 fixed, u32 free) {
  u32 x = index * 0x9e3779b9u + 1;
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  x ^= x >> 16;
  return (x & free) | fixed;
}

#define BITS_BF16 0x3f003f00u, 0x807f807fu
#define BITS_F16 0x38003800u, 0x83ff83ffu
#define BITS_TF32 0x3f000000u, 0x807fe000u
#define BITS_E4M3 0x30303030u, 0x87878787u
#define BITS_E5M2 0x38383838u, 0x83838383u
#define BITS_INT8 0u, 0xffffffffu

#if __CUDA_ARCH__ == 900

#define SUMS                                                                                     \
  "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, "                       \
  "d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, "             \
  "d32, d33, d34, d35, d36, d37, d38, d39, d40, d41, d42, d43, d44, d45, d46, d47, "             \
  "d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59, d60, d61, d62, d63, "             \
  "d64, d65, d66, d67, d68, d69, d70, d71, d72, d73, d74, d75, d76, d77, d78, d79, "             \
  "d80, d81, d82, d83, d84, d85, d86, d87, d88, d89, d90, d91, d92, d93, d94, d95, "             \
  "d96, d97, d98, d99, d100, d101, d102, d103, d104, d105, d106, d107, d108, d109, d110, d111, " \
  "d112, d113, d114, d115, d116, d117, d118, d119, d120, d121, d122, d123, d124, d125, d126, d127"

// `modifiers`: signs and, for 16-bit types, which dimension is contiguous; integers have neither.
#define PRODUCT(types, modifiers, k) \
  "wgmma.mma_async.sync.aligned.m64n256" types " {" SUMS "}, left" k ", right" k ", adds" modifiers ";\n"

// Two warpgroups a CTA, each 64 rows by 256 columns by 128 bytes of K an iteration; they share the right operand, as
// the warpgroups of a GEMM's tile do. Rows of 128 bytes in the 128-byte swizzle, eight of them from one group to the
// next 1024 bytes (PTX ISA, "Asynchronous warpgroup matrix layouts"); what is random may lie as it likes. One of
// the sums ends in a store that never happens: `never` is NaN, and no comparison with it holds.
#define TENSOR_CEILING(name, types, modifiers, bits)                                                                   \
  extern "C" __global__ void __launch_bounds__(256) ceiling_##name(u32 iterations, float never, float* out) {          \
    __shared__ alignas(1024) u32 tiles[2 * 64 * 32 + 256 * 32];                                                        \
    for (u32 i = threadIdx.x; i < 2 * 64 * 32 + 256 * 32; i += 256) tiles[i] = operand(i + blockIdx.x * 16384u, bits); \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                                       \
    __syncthreads();                                                                                                   \
    const u32 base = static_cast<u32>(__cvta_generic_to_shared(tiles));                                                \
    const u64 form = 1ull << 62 | 64ull << 32 | 1ull << 16;                                                            \
    const u64 left = form | (base + threadIdx.x / 128 * 8192) >> 4, right = form | (base + 16384) >> 4;                \
    float sum;                                                                                                         \
    asm volatile(                                                                                                \
        "{\n"                                                                                                    \
        ".reg .b32 d<128>;\n"                                                                                    \
        ".reg .b64 left1, left2, left3, right1, right2, right3;\n"                                               \
        ".reg .b64 left0, right0;\n"                                                                             \
        ".reg .b32 remaining;\n"                                                                                 \
        ".reg .pred more, adds;\n"                                                                               \
        "mov.b64 left0, %1;\nadd.u64 left1, %1, 2;\nadd.u64 left2, %1, 4;\nadd.u64 left3, %1, 6;\n"              \
        "mov.b64 right0, %2;\nadd.u64 right1, %2, 2;\nadd.u64 right2, %2, 4;\nadd.u64 right3, %2, 6;\n"          \
        "mov.b32 remaining, %3;\n"                                                                               \
        "setp.eq.u32 adds, remaining, 0;\n"                                                                      \
        "again:\n"                                                                                               \
        "wgmma.fence.sync.aligned;\n" PRODUCT(types, modifiers, "0") "setp.ne.u32 adds, remaining, 0;\n"            \
        PRODUCT(types, modifiers, "1") PRODUCT(types, modifiers, "2") PRODUCT(types, modifiers, "3")                      \
        "wgmma.commit_group.sync.aligned;\n"                                                                     \
        "wgmma.wait_group.sync.aligned 1;\n"                                                                     \
        "sub.u32 remaining, remaining, 1;\n"                                                                     \
        "setp.ne.u32 more, remaining, 0;\n"                                                                      \
        "@more bra again;\n"                                                                                     \
        "wgmma.wait_group.sync.aligned 0;\n" "mov.b32 %0, d0;\n"                                                                                      \
        "}\n"                                                                                                    \
        : "=f"(sum)                                                                                              \
        : "l"(left), "l"(right), "r"(iterations)                                                                 \
        : "memory");     \
    if (sum == never) *out = sum;                                                                                      \
  }

TENSOR_CEILING(bf16, "k16.f32.bf16.bf16", ", 1, 1, 0, 0", BITS_BF16)
TENSOR_CEILING(f16, "k16.f32.f16.f16", ", 1, 1, 0, 0", BITS_F16)
TENSOR_CEILING(tf32, "k8.f32.tf32.tf32", ", 1, 1", BITS_TF32)
TENSOR_CEILING(e4m3, "k32.f32.e4m3.e4m3", ", 1, 1", BITS_E4M3)
TENSOR_CEILING(e5m2, "k32.f32.e5m2.e4m3", ", 1, 1", BITS_E5M2)
TENSOR_CEILING(int8, "k32.s32.s8.s8", "", BITS_INT8)

#else

// 16 warps a CTA, each eight independent chains of 16 rows by 8 columns by 32 bytes of K an iteration. The sums come
// together as above.
#define TENSOR_CEILING(name, types, bits)                                                                      \
  extern "C" __global__ void __launch_bounds__(512) ceiling_##name(u32 iterations, float never, float* out) {  \
    u32 left[4], right[8][2];                                                                                  \
    u32 sums[8][4] = {};                                                                                       \
    const u32 first = (blockIdx.x * 512u + threadIdx.x) * 20u;                                                 \
    for (u32 i = 0; i < 4; ++i) left[i] = operand(first + i, bits);                                            \
    for (u32 i = 0; i < 16; ++i) right[i / 2][i % 2] = operand(first + 4 + i, bits);                           \
    _Pragma("unroll 1") for (u32 iteration = 0; iteration < iterations; ++iteration) {                         \
      _Pragma("unroll") for (int i = 0; i < 8; ++i) asm volatile(                                              \
          "mma.sync.aligned." types " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" :       \
          "+r"(sums[i][0]), "+r"(sums[i][1]), "+r"(sums[i][2]), "+r"(sums[i][3]) : "r"(left[0]), "r"(left[1]), \
          "r"(left[2]), "r"(left[3]), "r"(right[i][0]), "r"(right[i][1]));                                     \
    }                                                                                                          \
    float sum = 0;                                                                                             \
    for (int i = 0; i < 32; ++i) sum += __uint_as_float(sums[i / 4][i % 4]);                                   \
    if (sum == never) *out = sum;                                                                              \
  }

TENSOR_CEILING(bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", BITS_BF16)
TENSOR_CEILING(f16, "m16n8k16.row.col.f32.f16.f16.f32", BITS_F16)
TENSOR_CEILING(tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", BITS_TF32)
TENSOR_CEILING(int8, "m16n8k32.row.col.s32.s8.s8.s32", BITS_INT8)
#if __CUDA_ARCH__ >= 890
TENSOR_CEILING(e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", BITS_E4M3)
TENSOR_CEILING(e5m2, "m16n8k32.row.col.f32.e5m2.e4m3.f32", BITS_E5M2)
#endif

#endif
