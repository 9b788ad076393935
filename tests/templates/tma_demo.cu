// SPDX-License-Identifier: MIT
// A small GEMM that uses every service of the template contract: TMA tile loads, a cluster, a zeroed workspace, a
// second kernel. The two CTAs of a cluster take one half of K each and add their halves in the workspace; the second
// kernel applies alpha and beta. Made to be read, not to be fast.
//
// Macros: BM x BN tile, BK k-block, STAGES buffers in shared memory.

using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

constexpr int kThreads = 256;  // 16 x 16
constexpr int kHalves = 2;     // CTAs of a cluster
constexpr int kRows = BM / 16, kColumns = BN / 16;
constexpr int kElementsA = BM * BK, kElementsB = BK * BN;
constexpr u32 kStageBytes = (kElementsA + kElementsB) * sizeof(float);

struct alignas(64) TensorMap {
  unsigned char opaque[128];
};

__device__ u32 shared_address(const void* pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

__device__ void barrier_init(u64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

__device__ void barrier_expect(u64* barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ void barrier_wait(u64* barrier, u32 parity) {
  u32 done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
  }
}

/// Elements outside the matrix arrive as zeros and count as arrived.
__device__ void load_tile(float* to, const TensorMap& map, int x, int y, u64* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}

extern "C" __global__ void __launch_bounds__(kThreads)
    tma_demo_halves(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, float* workspace,
                    int m, int n, int k) {
  extern __shared__ __align__(128) float stages[];
  __shared__ __align__(8) u64 arrived[STAGES];
  int half;  // this CTA's place in its cluster
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(half));

  const int m0 = static_cast<int>(blockIdx.x) / kHalves * BM, n0 = static_cast<int>(blockIdx.y) * BN;
  const int blocks = (k + BK - 1) / BK, blocks_each = (blocks + kHalves - 1) / kHalves;
  const int first = half * blocks_each, last = min(blocks, first + blocks_each);
  const bool leader = threadIdx.x == 0;

  const auto request = [&](int block) {
    const int slot = (block - first) % STAGES;
    float* const tile_a = stages + slot * (kElementsA + kElementsB);
    barrier_expect(&arrived[slot], kStageBytes);
    load_tile(tile_a, map_a, block * BK, m0, &arrived[slot]);
    load_tile(tile_a + kElementsA, map_b, n0, block * BK, &arrived[slot]);
  };

  if (leader) {
    for (int slot = 0; slot < STAGES; ++slot) barrier_init(&arrived[slot]);
    // TMA must see the barriers before it signals them.
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int block = first; block < min(last, first + STAGES); ++block) request(block);
  }
  __syncthreads();

  const int row = static_cast<int>(threadIdx.x) / 16 * kRows, column = static_cast<int>(threadIdx.x) % 16 * kColumns;
  float sum[kRows][kColumns] = {};
  for (int block = first; block < last; ++block) {
    const int turn = block - first, slot = turn % STAGES;
    barrier_wait(&arrived[slot], static_cast<u32>(turn / STAGES % 2));
    const float* const tile_a = stages + slot * (kElementsA + kElementsB);
    const float* const tile_b = tile_a + kElementsA;
#pragma unroll 4
    for (int kk = 0; kk < BK; ++kk) {
      for (int i = 0; i < kRows; ++i) {
        for (int j = 0; j < kColumns; ++j) {
          sum[i][j] += tile_a[(row + i) * BK + kk] * tile_b[kk * BN + column + j];
        }
      }
    }
    __syncthreads();  // nobody reads the slot any more
    if (leader && block + STAGES < last) request(block + STAGES);
  }

  if (first >= last) return;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      const i64 at_row = static_cast<i64>(m0) + row + i, at_column = static_cast<i64>(n0) + column + j;
      // Two addends on a zero give the same sum in either order.
      if (at_row < m && at_column < n) atomicAdd(workspace + at_row * n + at_column, sum[i][j]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    tma_demo_combine(const float* workspace, const float* c, float* d, i64 m, i64 n, i64 ldc, float alpha, float beta) {
  const i64 i = static_cast<i64>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= m * n) return;
  const i64 at = i / n * ldc + i % n;
  const float product = alpha * workspace[i];
  d[at] = beta == 0.0f ? product : product + beta * c[at];
}
