// SPDX-License-Identifier: MIT
// wgmma (sm_90a): asynchronous products of a warpgroup on the tensor cores. The instruction names each of its
// registers, so its text depends on its width; the tables below list what a macro cannot count.
//
// A template that includes this gives these macros: INSTRUCTION_N (columns), LEFT_MN_MAJOR and RIGHT_MN_MAJOR (0 or 1),
// DTYPE, PARTS (3 where float32 operands are split into bf16), SWAP_AB (1 where the left operand is B: with e5m2
// only A has that type) and LEFT_SOURCE.
#pragma once

#include "device/ptx/accumulator.cuh"
#include "device/ptx/text.cuh"

// The registers of the accumulators for each width: a thread has one register for two columns.
#define PGTUNE_ACC_8 "%0, %1, %2, %3"
#define PGTUNE_ACC_16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define PGTUNE_ACC_32 \
  PGTUNE_ACC_16       \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define PGTUNE_ACC_48 \
  PGTUNE_ACC_32       \
  ", %16, %17, %18, %19, %20, %21, %22, %23"
#define PGTUNE_ACC_64 \
  PGTUNE_ACC_48       \
  ", %24, %25, %26, %27, %28, %29, %30, %31"
#define PGTUNE_ACC_72 PGTUNE_ACC_64 ", %32, %33, %34, %35"
#define PGTUNE_ACC_80 PGTUNE_ACC_72 ", %36, %37, %38, %39"
#define PGTUNE_ACC_88 PGTUNE_ACC_80 ", %40, %41, %42, %43"
#define PGTUNE_ACC_96 PGTUNE_ACC_88 ", %44, %45, %46, %47"
#define PGTUNE_ACC_104 PGTUNE_ACC_96 ", %48, %49, %50, %51"
#define PGTUNE_ACC_112 PGTUNE_ACC_104 ", %52, %53, %54, %55"
#define PGTUNE_ACC_120 PGTUNE_ACC_112 ", %56, %57, %58, %59"
#define PGTUNE_ACC_128 PGTUNE_ACC_120 ", %60, %61, %62, %63"
#define PGTUNE_ACC_136 PGTUNE_ACC_128 ", %64, %65, %66, %67"
#define PGTUNE_ACC_144 PGTUNE_ACC_136 ", %68, %69, %70, %71"
#define PGTUNE_ACC_152 PGTUNE_ACC_144 ", %72, %73, %74, %75"
#define PGTUNE_ACC_160 PGTUNE_ACC_152 ", %76, %77, %78, %79"
#define PGTUNE_ACC_168 PGTUNE_ACC_160 ", %80, %81, %82, %83"
#define PGTUNE_ACC_176 PGTUNE_ACC_168 ", %84, %85, %86, %87"
#define PGTUNE_ACC_184 PGTUNE_ACC_176 ", %88, %89, %90, %91"
#define PGTUNE_ACC_192 PGTUNE_ACC_184 ", %92, %93, %94, %95"
#define PGTUNE_ACC_200 PGTUNE_ACC_192 ", %96, %97, %98, %99"
#define PGTUNE_ACC_208 PGTUNE_ACC_200 ", %100, %101, %102, %103"
#define PGTUNE_ACC_216 PGTUNE_ACC_208 ", %104, %105, %106, %107"
#define PGTUNE_ACC_224 PGTUNE_ACC_216 ", %108, %109, %110, %111"
#define PGTUNE_ACC_232 PGTUNE_ACC_224 ", %112, %113, %114, %115"
#define PGTUNE_ACC_240 PGTUNE_ACC_232 ", %116, %117, %118, %119"
#define PGTUNE_ACC_248 PGTUNE_ACC_240 ", %120, %121, %122, %123"
#define PGTUNE_ACC_256 PGTUNE_ACC_248 ", %124, %125, %126, %127"

// The operands after the accumulators: the left tile, the right tile and whether the accumulators are added to. A left
// operand in registers takes four of them.
#define PGTUNE_OPERANDS_8 "%4", "%5", "%6", "%7", "%8", "%9"
#define PGTUNE_OPERANDS_16 "%8", "%9", "%10", "%11", "%12", "%13"
#define PGTUNE_OPERANDS_32 "%16", "%17", "%18", "%19", "%20", "%21"
#define PGTUNE_OPERANDS_48 "%24", "%25", "%26", "%27", "%28", "%29"
#define PGTUNE_OPERANDS_64 "%32", "%33", "%34", "%35", "%36", "%37"
#define PGTUNE_OPERANDS_72 "%36", "%37", "%38", "%39", "%40", "%41"
#define PGTUNE_OPERANDS_80 "%40", "%41", "%42", "%43", "%44", "%45"
#define PGTUNE_OPERANDS_88 "%44", "%45", "%46", "%47", "%48", "%49"
#define PGTUNE_OPERANDS_96 "%48", "%49", "%50", "%51", "%52", "%53"
#define PGTUNE_OPERANDS_104 "%52", "%53", "%54", "%55", "%56", "%57"
#define PGTUNE_OPERANDS_112 "%56", "%57", "%58", "%59", "%60", "%61"
#define PGTUNE_OPERANDS_120 "%60", "%61", "%62", "%63", "%64", "%65"
#define PGTUNE_OPERANDS_128 "%64", "%65", "%66", "%67", "%68", "%69"
#define PGTUNE_OPERANDS_136 "%68", "%69", "%70", "%71", "%72", "%73"
#define PGTUNE_OPERANDS_144 "%72", "%73", "%74", "%75", "%76", "%77"
#define PGTUNE_OPERANDS_152 "%76", "%77", "%78", "%79", "%80", "%81"
#define PGTUNE_OPERANDS_160 "%80", "%81", "%82", "%83", "%84", "%85"
#define PGTUNE_OPERANDS_168 "%84", "%85", "%86", "%87", "%88", "%89"
#define PGTUNE_OPERANDS_176 "%88", "%89", "%90", "%91", "%92", "%93"
#define PGTUNE_OPERANDS_184 "%92", "%93", "%94", "%95", "%96", "%97"
#define PGTUNE_OPERANDS_192 "%96", "%97", "%98", "%99", "%100", "%101"
#define PGTUNE_OPERANDS_200 "%100", "%101", "%102", "%103", "%104", "%105"
#define PGTUNE_OPERANDS_208 "%104", "%105", "%106", "%107", "%108", "%109"
#define PGTUNE_OPERANDS_216 "%108", "%109", "%110", "%111", "%112", "%113"
#define PGTUNE_OPERANDS_224 "%112", "%113", "%114", "%115", "%116", "%117"
#define PGTUNE_OPERANDS_232 "%116", "%117", "%118", "%119", "%120", "%121"
#define PGTUNE_OPERANDS_240 "%120", "%121", "%122", "%123", "%124", "%125"
#define PGTUNE_OPERANDS_248 "%124", "%125", "%126", "%127", "%128", "%129"
#define PGTUNE_OPERANDS_256 "%128", "%129", "%130", "%131", "%132", "%133"

#define PGTUNE_BIND_1(d, i) "+" PGTUNE_ACCUMULATOR((d)[i])
#define PGTUNE_BIND_4(d, i) \
  PGTUNE_BIND_1(d, i), PGTUNE_BIND_1(d, (i) + 1), PGTUNE_BIND_1(d, (i) + 2), PGTUNE_BIND_1(d, (i) + 3)
#define PGTUNE_BIND_8(d, i) PGTUNE_BIND_4(d, i), PGTUNE_BIND_4(d, (i) + 4)
#define PGTUNE_BIND_ACC_8(d) PGTUNE_BIND_4(d, 0)
#define PGTUNE_BIND_ACC_16(d) PGTUNE_BIND_8(d, 0)
#define PGTUNE_BIND_ACC_32(d) PGTUNE_BIND_ACC_16(d), PGTUNE_BIND_8(d, 8)
#define PGTUNE_BIND_ACC_48(d) PGTUNE_BIND_ACC_32(d), PGTUNE_BIND_8(d, 16)
#define PGTUNE_BIND_ACC_64(d) PGTUNE_BIND_ACC_48(d), PGTUNE_BIND_8(d, 24)
#define PGTUNE_BIND_ACC_72(d) PGTUNE_BIND_ACC_64(d), PGTUNE_BIND_4(d, 32)
#define PGTUNE_BIND_ACC_80(d) PGTUNE_BIND_ACC_72(d), PGTUNE_BIND_4(d, 36)
#define PGTUNE_BIND_ACC_88(d) PGTUNE_BIND_ACC_80(d), PGTUNE_BIND_4(d, 40)
#define PGTUNE_BIND_ACC_96(d) PGTUNE_BIND_ACC_88(d), PGTUNE_BIND_4(d, 44)
#define PGTUNE_BIND_ACC_104(d) PGTUNE_BIND_ACC_96(d), PGTUNE_BIND_4(d, 48)
#define PGTUNE_BIND_ACC_112(d) PGTUNE_BIND_ACC_104(d), PGTUNE_BIND_4(d, 52)
#define PGTUNE_BIND_ACC_120(d) PGTUNE_BIND_ACC_112(d), PGTUNE_BIND_4(d, 56)
#define PGTUNE_BIND_ACC_128(d) PGTUNE_BIND_ACC_120(d), PGTUNE_BIND_4(d, 60)
#define PGTUNE_BIND_ACC_136(d) PGTUNE_BIND_ACC_128(d), PGTUNE_BIND_4(d, 64)
#define PGTUNE_BIND_ACC_144(d) PGTUNE_BIND_ACC_136(d), PGTUNE_BIND_4(d, 68)
#define PGTUNE_BIND_ACC_152(d) PGTUNE_BIND_ACC_144(d), PGTUNE_BIND_4(d, 72)
#define PGTUNE_BIND_ACC_160(d) PGTUNE_BIND_ACC_152(d), PGTUNE_BIND_4(d, 76)
#define PGTUNE_BIND_ACC_168(d) PGTUNE_BIND_ACC_160(d), PGTUNE_BIND_4(d, 80)
#define PGTUNE_BIND_ACC_176(d) PGTUNE_BIND_ACC_168(d), PGTUNE_BIND_4(d, 84)
#define PGTUNE_BIND_ACC_184(d) PGTUNE_BIND_ACC_176(d), PGTUNE_BIND_4(d, 88)
#define PGTUNE_BIND_ACC_192(d) PGTUNE_BIND_ACC_184(d), PGTUNE_BIND_4(d, 92)
#define PGTUNE_BIND_ACC_200(d) PGTUNE_BIND_ACC_192(d), PGTUNE_BIND_4(d, 96)
#define PGTUNE_BIND_ACC_208(d) PGTUNE_BIND_ACC_200(d), PGTUNE_BIND_4(d, 100)
#define PGTUNE_BIND_ACC_216(d) PGTUNE_BIND_ACC_208(d), PGTUNE_BIND_4(d, 104)
#define PGTUNE_BIND_ACC_224(d) PGTUNE_BIND_ACC_216(d), PGTUNE_BIND_4(d, 108)
#define PGTUNE_BIND_ACC_232(d) PGTUNE_BIND_ACC_224(d), PGTUNE_BIND_4(d, 112)
#define PGTUNE_BIND_ACC_240(d) PGTUNE_BIND_ACC_232(d), PGTUNE_BIND_4(d, 116)
#define PGTUNE_BIND_ACC_248(d) PGTUNE_BIND_ACC_240(d), PGTUNE_BIND_4(d, 120)
#define PGTUNE_BIND_ACC_256(d) PGTUNE_BIND_ACC_248(d), PGTUNE_BIND_4(d, 124)

#if DTYPE == LABEL_bf16 || PARTS == 3
#define PGTUNE_WGMMA_TYPES "k16.f32.bf16.bf16"
#elif DTYPE == LABEL_f16
#define PGTUNE_WGMMA_TYPES "k16.f32.f16.f16"
#elif DTYPE == LABEL_tf32 || PARTS == 2
#define PGTUNE_WGMMA_TYPES "k8.f32.tf32.tf32"
#elif DTYPE == LABEL_e4m3
#define PGTUNE_WGMMA_TYPES "k32.f32.e4m3.e4m3"
#elif DTYPE == LABEL_e5m2 && SWAP_AB
#define PGTUNE_WGMMA_TYPES "k32.f32.e4m3.e5m2"
#elif DTYPE == LABEL_e5m2
#define PGTUNE_WGMMA_TYPES "k32.f32.e5m2.e4m3"
#elif DTYPE == LABEL_int8
#define PGTUNE_WGMMA_TYPES "k32.s32.s8.s8"
#endif

// Operands that are floats may be negated: their factors, 1 or -1.
#if DTYPE == LABEL_int8
#define PGTUNE_WGMMA_SIGNS ""
#else
#define PGTUNE_WGMMA_SIGNS ", 1, 1"
#endif

// Only 16-bit operands may lie along M or N (MN-major), and only their instructions say which way they lie.
#if DTYPE == LABEL_bf16 || DTYPE == LABEL_f16 || PARTS == 3
#define PGTUNE_WGMMA_MAJORS ", " PGTUNE_TEXT(LEFT_MN_MAJOR) ", " PGTUNE_TEXT(RIGHT_MN_MAJOR)
#else
#define PGTUNE_WGMMA_MAJORS ""
static_assert((!LEFT_MN_MAJOR || LEFT_SOURCE == LABEL_registers) && !RIGHT_MN_MAJOR,
              "operands of 8 and 32 bits lie along K in shared memory");
#endif

#if LEFT_SOURCE == LABEL_registers
#define PGTUNE_WGMMA_OPERANDS(a, b, c, d, e, f) "{" a ", " b ", " c ", " d "}", e, f
#else
#define PGTUNE_WGMMA_OPERANDS(a, b, c, d, e, f) a, b, c
#endif
#define PGTUNE_WGMMA_OPERANDS_OF(...) PGTUNE_WGMMA_OPERANDS(__VA_ARGS__)

#define PGTUNE_WGMMA_OF(acc, left, right, adds)                                      \
  "{\n"                                                                              \
  ".reg .pred adds;\n"                                                               \
  "setp.ne.b32 adds, " adds                                                          \
  ", 0;\n"                                                                           \
  "wgmma.mma_async.sync.aligned.m64n" PGTUNE_TEXT(INSTRUCTION_N) PGTUNE_WGMMA_TYPES  \
      " {" acc "}, " left ", " right ", adds" PGTUNE_WGMMA_SIGNS PGTUNE_WGMMA_MAJORS \
      ";\n"                                                                          \
      "}\n"
#define PGTUNE_WGMMA_FROM(...) PGTUNE_WGMMA_OF(__VA_ARGS__)

namespace pgtune {

constexpr int kInstructionAccumulators = INSTRUCTION_N / 2;  ///< registers a thread

#if LEFT_SOURCE == LABEL_registers
using LeftOperand = unsigned[4];  ///< a thread's part of it, which stays as it is until the product is there
#define PGTUNE_LEFT_OF(left) "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3])
#else
using LeftOperand = unsigned long long;  ///< a descriptor of shared memory (wgmma_operand.cuh)
#define PGTUNE_LEFT_OF(left) "l"(left)
#endif

/// accumulators += left * right, or accumulators = left * right where `adds` is 0, for 64 rows, INSTRUCTION_N columns
/// and 32 bytes of K. `right` is a descriptor of shared memory. Asynchronous: see the functions below.
__device__ __forceinline__ void wgmma(Accumulator (&acc)[kInstructionAccumulators], const LeftOperand& left,
                                      unsigned long long right, int adds) {
  asm volatile(PGTUNE_WGMMA_FROM(PGTUNE_PASTE(PGTUNE_ACC_, INSTRUCTION_N),
                                 PGTUNE_WGMMA_OPERANDS_OF(PGTUNE_PASTE(PGTUNE_OPERANDS_, INSTRUCTION_N)))
               : PGTUNE_PASTE(PGTUNE_BIND_ACC_, INSTRUCTION_N)(acc)
               : PGTUNE_LEFT_OF(left), "l"(right), "r"(adds));
}

/// wgmma.fence: called before a warpgroup's first wgmma, and after its threads touched the accumulators.
__device__ __forceinline__ void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Commits the wgmmas issued since the last call as one group.
__device__ __forceinline__ void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until at most kPending groups are in flight. The accumulators may be read after warpgroup_wait<0>() and
/// warpgroup_fence_operand().
template <int kPending>
__device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Keeps the compiler from moving reads of the accumulators to before the wait.
template <int kCount>
__device__ __forceinline__ void warpgroup_fence_operand(Accumulator (&acc)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+" PGTUNE_ACCUMULATOR(acc[i])::"memory");
}

}  // namespace pgtune
