// SPDX-License-Identifier: MIT
// A plain tiled GEMM, right where FAULT is none. Every other FAULT breaks it in one way that a search has to survive;
// the fault acts in one thread or one CTA, after the right result has been written, so that nothing but the fault
// shows.
//
// Macros: BM x BN tile of 16 x 16 threads with ROWS elements each, BK k-block.

using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

#if FAULT == LABEL_compile_error
#error "this variant does not compile"
#endif

#if FAULT == LABEL_endless_compile
// Some milliseconds for each of 2^40 constants, each new, in little memory.
constexpr u64 work(int n, u64 seed) { return n < 2 ? seed + n : work(n - 1, seed) + work(n - 2, seed); }
template <u64 low, u64 high>
struct Endless {
  static constexpr u64 middle = (low + high) / 2;
  static constexpr u64 value = Endless<low, middle>::value + Endless<middle, high>::value;
};
template <u64 low>
struct Endless<low, low + 1> {
  static constexpr u64 value = work(22, low);
};
constexpr u64 kEndless = Endless<0, (1ull << 40)>::value;
#endif

#if FAULT == LABEL_hungry_frontend
// 2^40 types with ever longer names: what parses runs out of memory and says so in its own way.
template <typename... Parts>
struct Name {};
template <int depth, typename Left, typename Right>
struct Hungry {
  using Longer = Name<Left, Right, Name<Right, Left>>;
  static constexpr u64 value = Hungry<depth - 1, Longer, Left>::value + Hungry<depth - 1, Right, Longer>::value;
};
template <typename Left, typename Right>
struct Hungry<0, Left, Right> {
  static constexpr u64 value = sizeof(Name<Left, Right>);
};
constexpr u64 kHungry = Hungry<40, Name<int>, Name<float>>::value;
#elif FAULT == LABEL_hungry_optimizer
// 64 GB of constants: the optimizer runs out of memory and aborts.
__device__ unsigned char hungry[1ull << 36] = {1};
#endif

#if FAULT == LABEL_spills
#define BOUNDS __launch_bounds__(1024)
#elif FAULT == LABEL_illegal_geometry
#define BOUNDS __launch_bounds__(64)
#elif FAULT == LABEL_too_many_registers
#define BOUNDS
#else
#define BOUNDS __launch_bounds__(256)
#endif

// What the faults that only show later keep from launch to launch.
__device__ u32 blocks_done, launches_done;
__device__ float first_result;
__device__ const float* first_d[2];

// Counts the launch in the thread that calls it last, whose block then is the only one still running.
__device__ inline bool last_block() {
  __threadfence();
  if (atomicAdd(&blocks_done, 1) != gridDim.x * gridDim.y - 1) return false;
  blocks_done = 0;
  ++launches_done;
  return true;
}

extern "C" __global__ void BOUNDS faulty(float* a, const float* b, const float* c, float* d, int m, int n, int k,
                                         i64 lda, i64 ldb, i64 ldc, float alpha, float beta, float* workspace) {
  __shared__ float tile_a[BM][BK + 1], tile_b[BK][BN];
#if FAULT == LABEL_too_much_static_smem
  __shared__ volatile float too_much[100000];
  too_much[k] = alpha;
#endif
#if FAULT == LABEL_too_much_smem
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = alpha;
#endif
#if FAULT == LABEL_skips_when_done
  // The poison is no number.
  const float found = *const_cast<const volatile float*>(d + static_cast<i64>(blockIdx.y) * BM * ldc + blockIdx.x * BN);
  if (__syncthreads_and(found == found)) return;
#elif FAULT == LABEL_skips_third_d
  // The first two it sees are written, all others are left as they are.
  const float *const one = first_d[0], *const two = first_d[1];
  const bool skip = one != nullptr && two != nullptr && d != one && d != two;
  __syncthreads();
  if (threadIdx.x == 0 && last_block() && d != one && !skip) first_d[one == nullptr ? 0 : 1] = d;
  if (skip) return;
#endif
  const int thread = static_cast<int>(threadIdx.x) % 256, tx = thread % 16, ty = thread / 16;
  const int row0 = static_cast<int>(blockIdx.y) * BM, column0 = static_cast<int>(blockIdx.x) * BN;
  const int column = column0 + tx;
  float sum[ROWS] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int i = thread; i < BM * BK; i += 256) {
      const int row = row0 + i / BK, depth = k0 + i % BK;
      tile_a[i / BK][i % BK] = row < m && depth < k ? a[row * lda + depth] : 0.0f;
    }
    for (int i = thread; i < BK * BN; i += 256) {
      const int depth = k0 + i / BN, at = column0 + i % BN;
      tile_b[i / BN][i % BN] = depth < k && at < n ? b[depth * ldb + at] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < BK; ++depth) {
      for (int i = 0; i < ROWS; ++i) sum[i] += tile_a[ty * ROWS + i][depth] * tile_b[depth][tx];
    }
    __syncthreads();
  }
  for (int i = 0; i < ROWS; ++i) {
    const int row = row0 + ty * ROWS + i;
    if (row >= m || column >= n) continue;
#if FAULT == LABEL_adds_to_result
    const float found = d[row * ldc + column];
    const float product = alpha * sum[i] + (found == found ? found : 0.0f);
#else
    const float product = alpha * sum[i];
#endif
    d[row * ldc + column] = beta == 0.0f ? product : product + beta * c[row * ldc + column];
  }

  const bool first_block = blockIdx.x == 0 && blockIdx.y == 0;
  const bool first = first_block && threadIdx.x == 0;
#if FAULT == LABEL_illegal_address
  if (first) *reinterpret_cast<volatile float*>(16) = sum[0];
#elif FAULT == LABEL_misaligned_access
  if (first) *reinterpret_cast<volatile float*>(reinterpret_cast<u64>(d) + 2) = sum[0];
#elif FAULT == LABEL_infinite_loop
  if (first) {
    volatile float* const flag = d;
    while (*flag != 12345.0f) {
    }
  }
#elif FAULT == LABEL_deadlocked_barrier
  // Waits for twice the threads the CTA has.
  if (first_block) asm volatile("bar.sync 1, 512;" ::: "memory");
#elif FAULT == LABEL_deadlocked_mbarrier
  // Two arrivals are expected and one comes.
  __shared__ __align__(8) u64 barrier;
  if (first) {
    const u32 address = static_cast<u32>(__cvta_generic_to_shared(&barrier));
    u64 phase;
    asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(address) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(phase) : "r"(address) : "memory");
    u32 done = 0;
    while (done == 0) {
      asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address), "l"(phase)
                   : "memory");
    }
  }
#elif FAULT == LABEL_trap
  if (first) asm volatile("trap;");
#elif FAULT == LABEL_device_assert
  assert(!first);
#elif FAULT == LABEL_wrong_element
  if (first) d[0] += 1.0f;
#elif FAULT == LABEL_nan_element
  if (first) d[0] = __int_as_float(0x7fffffff);
#elif FAULT == LABEL_write_past_c
  if (first) d[static_cast<i64>(m) * ldc] = 1.0f;
#elif FAULT == LABEL_write_a
  if (first) a[0] += 1.0f;
#elif FAULT == LABEL_read_out_of_bounds
  if (first) d[0] += a[i64{1} << 40];
#elif FAULT == LABEL_write_1mb_past_d
  if (first) d[static_cast<i64>(m) * ldc + (1 << 18)] = 1.0f;
#elif FAULT == LABEL_write_far_past_d
  if (first) d[static_cast<i64>(m) * ldc + (1 << 24)] = 1.0f;
#elif FAULT == LABEL_write_before_d
  if (first) d[-1024] = 1.0f;
#elif FAULT == LABEL_read_far_past_a
  // Whatever lies there does not show in the result.
  if (first && a[static_cast<i64>(m) * lda + (1 << 20)] == 12345.0f) d[0] = 1.0f;
#elif FAULT == LABEL_read_before_b
  if (first && b[-1024] == 12345.0f) d[0] = 1.0f;
#elif FAULT == LABEL_write_past_workspace
  if (first) workspace[256] = 1.0f;
#elif FAULT == LABEL_lost_update
  // The updates cancel where none gets lost; of a warp's, one stays.
  __syncthreads();
  if (first_block) *const_cast<volatile float*>(d) += threadIdx.x % 2 == 0 ? 1.0f : -1.0f;
#elif FAULT == LABEL_wrong_once_in_50
  __syncthreads();
  if (threadIdx.x == 0 && last_block() && launches_done % 50 == 0) d[0] += 1.0f;
#elif FAULT == LABEL_first_result_again
  if (first && launches_done == 0) first_result = d[0];
  if (first) d[0] = first_result;
  if (first) launches_done = 1;
#elif FAULT == LABEL_stale_workspace
  // Poison is no number: the launch before left its own.
  if (first && workspace[0] != workspace[0]) workspace[0] = d[0];
  if (first) d[0] = workspace[0];
#elif FAULT == LABEL_stack_overflow
  // Recursion would need saved registers, which count as spills: a frame of a run-time size does not.
  if (first) {
    u64 frame;
    asm volatile("alloca.u64 %0, %1;" : "=l"(frame) : "l"(static_cast<u64>(k) << 20) : "memory");
    for (u64 i = 0; i < static_cast<u64>(k) << 20; i += 1024) {
      asm volatile("st.local.u32 [%0], %1;" ::"l"(frame + i), "r"(1) : "memory");
    }
  }
#elif FAULT == LABEL_too_many_registers || FAULT == LABEL_spills
  // More live values than 64 registers, the most a thread of 1024 may have.
  float live[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) live[i] = a[(i * 1024 + static_cast<int>(threadIdx.x)) % k];
  __syncthreads();
  float mixed = 0;
#pragma unroll
  for (int i = 0; i < 96; ++i) mixed += live[i] * live[95 - i] * live[(i * 7) % 96];
  if (mixed == 12345.0f) d[0] = mixed;
#elif FAULT == LABEL_assembler_error
  asm volatile("no_such_instruction.u32;");
#endif
}
