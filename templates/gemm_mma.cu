// SPDX-License-Identifier: MIT
// D = activation(alpha * op(A) * op(B) + beta * C + bias) on tensor cores by mma.sync, fed by cp.async: any GPU from
// sm_80 on, any layout and any alignment.
//
// A CTA computes a BM x BN tile of D, each warp a WM x WN part of it. A ring of STAGES tiles of both operands in shared
// memory is filled ahead by all threads while they multiply; one barrier a k-block says both that the next tile has
// arrived and that the last one may be overwritten. FRAGMENTS 2: what the next 32 bytes of k need is read from shared
// memory while the tensor cores work on these.
//
// Tiles may be cut along K among CTAs (SPLIT); sums are added in a fixed order. With PACK, operands whose rows are not
// aligned to 16 bytes are first copied to rows that are: narrow copies take longer than that where there is much to do.
//
// In tf32x3 each operand is split into a high and a low part of 11 bits, and three products are added, the small ones
// first. Tensor cores cut sums off instead of rounding them: they sum PROMOTE steps of 8 along K, at most a k-block,
// and these sums are added in float32.
#include "device/mma.cuh"
#include "device/mma_copy.cuh"
#include "device/mma_output.cuh"
#include "device/mma_tile.cuh"
#include "device/shared_sums.cuh"
#include "device/tile_order.cuh"

namespace {

constexpr int kDepth = DEPTH_BYTES / ELEM_BYTES;  ///< steps of K in a stage
constexpr int kSteps = DEPTH_BYTES / 32;          ///< instructions along them
constexpr int kFragmentsA = WM / 16, kFragmentsB = WN / 16;
constexpr int kSums = WM * WN / 32;   ///< of a thread
constexpr bool kShares = SPLIT != 1;  ///< tiles are cut along K
constexpr bool kThree = MATH_MODE == LABEL_tf32x3;
constexpr bool kNearest = ROUND == LABEL_nearest;  ///< tf32, else cut off

using TileA = pgtune::MmaTile<true, TRANS_A == 0, ELEM_BYTES, BM, kDepth, SMEM_LAYOUT == LABEL_pad>;
using TileB = pgtune::MmaTile<false, TRANS_B != 0, ELEM_BYTES, BN, kDepth, SMEM_LAYOUT == LABEL_pad>;
using CopyA = pgtune::MmaCopy<TileA, THREADS, PIECE_A, EDGE>;
using CopyB = pgtune::MmaCopy<TileB, THREADS, PIECE_B, EDGE>;
constexpr int kStageBytes = TileA::kBytes + TileB::kBytes;

constexpr auto kSixteen = MATH_MODE == LABEL_f16 ? pgtune::Sixteen::kF16 : pgtune::Sixteen::kBf16;
using Output = pgtune::MmaOutput<OUT_BYTES, kSixteen, PIECE_C>;

using Sums = float[kFragmentsA][2 * kFragmentsB][4];

/// What a warp multiplies at a time: of each operand 32 bytes of k.
struct Fragments {
  unsigned a[kFragmentsA][4], b[kFragmentsB][4];

  __device__ __forceinline__ void read(unsigned from_a, unsigned from_b, int step) {
    TileA::read(a, from_a, step);
    TileB::read(b, from_b, step);
  }
};

__device__ __forceinline__ unsigned rounded(unsigned bits) {
  if constexpr (kNearest) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(bits)));
  return bits;
}

/// Splits floats: `high` keeps what tensor cores take of it, its upper 19 bits, and `low` gets the rest. Rounded to
/// nearest, the low parts have random signs, so that what is lost of them and of their product cancels. A NaN that
/// carries into the sign bit is still one in `low`.
__device__ __forceinline__ void split(unsigned (&high)[4], unsigned (&low)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float all = __uint_as_float(high[i]);
    if (kNearest) high[i] += 0x1000u;
    low[i] = __float_as_uint(all - __uint_as_float(high[i] & 0xffffe000u));
  }
}

/// The b of the j-th instruction.
struct PartB {
  unsigned words[2];
  __device__ __forceinline__ PartB(const unsigned (&fragments)[kFragmentsB][4], int j)
      : words{fragments[j / 2][j % 2 * 2], fragments[j / 2][j % 2 * 2 + 1]} {}
};

__device__ __forceinline__ void multiply(Sums& sums, Fragments& from) {
#pragma unroll
  for (int i = 0; kNearest && i < kFragmentsA * 4; ++i) from.a[i / 4][i % 4] = rounded(from.a[i / 4][i % 4]);
#pragma unroll
  for (int i = 0; kNearest && i < kFragmentsB * 4; ++i) from.b[i / 4][i % 4] = rounded(from.b[i / 4][i % 4]);
#pragma unroll
  for (int i = 0; i < kFragmentsA; ++i) {
#pragma unroll
    for (int s = 0; s < 2 * kFragmentsB; ++s) {
      // There and back: neighbouring instructions share an operand.
      const int j = i % 2 == 0 ? s : 2 * kFragmentsB - 1 - s;
      pgtune::add_product(sums[i][j], from.a[i], PartB(from.b, j).words);
    }
  }
}

/// Three products, the small ones first. `fresh`: they are a new sum.
__device__ __forceinline__ void multiply_three(Sums& sums, Fragments& from, bool fresh) {
  unsigned low_b[kFragmentsB][4];
#pragma unroll
  for (int j = 0; j < kFragmentsB; ++j) split(from.b[j], low_b[j]);
#pragma unroll
  for (int i = 0; i < kFragmentsA; ++i) {
    unsigned low_a[4];
    split(from.a[i], low_a);
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) {
      if (fresh) {
        pgtune::set_product(sums[i][j], low_a, PartB(from.b, j).words);
      } else {
        pgtune::add_product(sums[i][j], low_a, PartB(from.b, j).words);
      }
    }
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) pgtune::add_product(sums[i][j], from.a[i], PartB(low_b, j).words);
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) pgtune::add_product(sums[i][j], from.a[i], PartB(from.b, j).words);
  }
}

/// Sums on their way: what the tensor cores add to, and what was promoted from there.
struct Totals {
  Sums sums{};                              ///< in the end all
  float recent[kThree ? kSums / 4 : 1][4];  ///< of the last steps, in tf32x3

  /// Adds the products of a step of a k-block.
  __device__ __forceinline__ void add(Fragments& from, int step) {
    if constexpr (kThree) {
      multiply_three(reinterpret_cast<Sums&>(recent), from, step % PROMOTE == 0);
      if (step % PROMOTE == PROMOTE - 1 || step == kSteps - 1) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
          auto& sum = sums[i / 4 / (2 * kFragmentsB)][i / 4 % (2 * kFragmentsB)][i % 4];
          sum += recent[i / 4][i % 4];
        }
      }
    } else {
      multiply(sums, from);
    }
  }
};

/// The ring of stages: where the next tile goes to, and where it comes from.
struct Ring {
  unsigned start;  ///< of shared memory
  int write = 0, read = 0;

  __device__ __forceinline__ unsigned stage(int number) const { return start + number * kStageBytes; }
  static __device__ __forceinline__ void advance(int& number) { number = number + 1 == STAGES ? 0 : number + 1; }
};

/// The tiles of a segment that are still to be copied.
struct Feed {
  CopyA a;
  CopyB b;
  int k_left, blocks;

  /// Starts copying the next tile, where there is one; finish() ends what it began.
  __device__ __forceinline__ void start(const Ring& ring) {
    const unsigned to = ring.stage(ring.write);
    a.start(to, k_left, blocks > 0);
    b.start(to + TileA::kBytes, k_left, blocks > 0);
  }
  __device__ __forceinline__ void finish(Ring& ring) {
    const unsigned to = ring.stage(ring.write);
    a.finish(to, blocks > 0);
    b.finish(to + TileA::kBytes, blocks > 0);
    pgtune::cp_async_commit();
    Ring::advance(ring.write);
    k_left -= kDepth;
    --blocks;
  }
  /// Fills the ring but for one stage.
  __device__ __forceinline__ void begin(Ring& ring) {
    ring.read = ring.write;
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      start(ring);
      finish(ring);
    }
  }
};

/// Waits until the next tile to read is there, and all warps have read the one before it.
__device__ __forceinline__ void await_tile() {
  pgtune::cp_async_wait<STAGES - 2>();
  __syncthreads();
}

/// Adds the products of a segment's k-blocks.
__device__ __forceinline__ void accumulate(Totals& totals, Feed& feed, Ring& ring, int blocks) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned lane_a = TileA::lane_offset(warp % (BM / WM) * WM, lane);
  const unsigned lane_b = TileA::kBytes + TileB::lane_offset(warp / (BM / WM) * WN, lane);
  const auto read = [&](Fragments& to, int step) {
    to.read(ring.stage(ring.read) + lane_a, ring.stage(ring.read) + lane_b, step);
  };

  if constexpr (FRAGMENTS == 1) {
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      await_tile();
      feed.start(ring);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        Fragments now;
        read(now, step);
        totals.add(now, step);
      }
      feed.finish(ring);
      Ring::advance(ring.read);
    }
  } else {
    Fragments fragments[2];
    await_tile();
    read(fragments[0], 0);
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps - 1) {
          feed.finish(ring);
          Ring::advance(ring.read);
          await_tile();
        }
        read(fragments[(step + 1) % 2], (step + 1) % kSteps);
        if (step == 0) feed.start(ring);
        totals.add(fragments[step % 2], step);
      }
    }
  }
}

/// Writes a warp's sums; its tile starts at `row` and `column` of D.
__device__ __forceinline__ void write_tile(Sums& sums, const pgtune::MmaDestination& to, int row, int column) {
  const int lane = pgtune::lane_index();
#pragma unroll
  for (int i = 0; i < 2 * kFragmentsA; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j)
      Output::write(sums[i / 2][j] + i % 2 * 2, to, row + i * 8 + lane / 4, column + j * 8 + lane % 4 * 2);
  }
}

}  // namespace

/// `workspace` holds packed operands first, then partial sums of tiles that are cut along K, then their flags. Offsets
/// are in bytes; lda and ldb are those of packed operands where these are.
extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    gemm_mma(const char* A, const char* B, const char* C, char* D, char* workspace, long long partials_at,
             long long flags_at, long long packed_b_at, int M, int N, int K, long long lda, long long ldb,
             long long ldc, long long stride_a, long long stride_b, long long stride_c, int batches, float alpha,
             float beta, const void* bias) {
  extern __shared__ __align__(1024) unsigned char stages[];
  const unsigned shared = pgtune::shared_address(stages);
  const unsigned tile_rows = (M - 1) / BM + 1, tile_columns = (N - 1) / BN + 1;
  const int worker = static_cast<int>(blockIdx.x);
  const pgtune::TileWork work{static_cast<int>(tile_rows * tile_columns) * batches, (K - 1) / kDepth + 1,
                              static_cast<int>(gridDim.x), kShares ? pgtune::Sharing::kStream : pgtune::Sharing::kNone};
  const auto tile_of = [&](const pgtune::Segment& segment) {
    return pgtune::ordered_tile<BANDS == LABEL_n, BAND>(segment.tile, tile_rows, tile_columns, batches);
  };
#if PACK_A
  A = workspace;
#endif
#if PACK_B
  B = workspace + packed_b_at;
#endif
  const auto feed_of = [&](const pgtune::Segment& segment) {
    const auto tile = tile_of(segment);
    const int k = segment.first * kDepth;
    return Feed{CopyA(A + tile.batch * stride_a * ELEM_BYTES, lda, tile.row * BM, M, k),
                CopyB(B + tile.batch * stride_b * ELEM_BYTES, ldb, tile.column * BN, N, k), K - k,
                segment.last - segment.first};
  };

  Ring ring{shared};
  pgtune::Segment segment;
  bool more = work.segment(segment, 0, worker);
  if (!more) return;
  Feed feed = feed_of(segment);
  feed.begin(ring);
#pragma unroll 1
  for (int i = 1; more; ++i) {
    Totals totals;
    accumulate(totals, feed, ring, segment.last - segment.first);
    const pgtune::Segment done = segment;
    more = work.segment(segment, i, worker);
    if (more) {
      // The next tile's first copies are under way while this one's results are written. Copies that brought nothing
      // may still be counted; the stages they were for are empty.
      __syncthreads();
      feed = feed_of(segment);
      feed.begin(ring);
    }

    const int warp = pgtune::thread_index() / 32;
    if constexpr (kShares) {
      constexpr int kGroups = THREADS / 128;
      float* const all = &totals.sums[0][0][0];
      const pgtune::SharedSums<kSums> shared_sums{
          reinterpret_cast<float4*>(workspace + partials_at) + warp / 4 * (kSums / 4 * 128),
          reinterpret_cast<unsigned*>(workspace + flags_at) + warp / 4, kGroups, 1 + warp / 4};
      if (done.first > 0) {
        shared_sums.give(all, worker);
        continue;
      }
      if (done.last < work.blocks) shared_sums.collect(all, work, done, worker);
    }
    const auto tile = tile_of(done);
    const long long batch = tile.batch * stride_c * OUT_BYTES;
    const pgtune::MmaDestination to{C + batch, D + batch, ldc, M, N, alpha, beta, bias};
    write_tile(totals.sums, to, tile.row * BM + warp % (BM / WM) * WM, tile.column * BN + warp / (BM / WM) * WN);
  }
}

#if PACK_A || PACK_B
/// An operand whose rows are not aligned, copied to rows that are, `at` bytes into the workspace: 16 bytes a thread and
/// time. `columns` along the rows.
extern "C" __global__ void __launch_bounds__(256)
    pack_operand(const char* from, char* workspace, long long at, int rows, int columns, long long ld, long long stride,
                 long long ld_packed, long long stride_packed) {
  const int byte = static_cast<int>(blockIdx.x * 64 + threadIdx.x % 64) * 16, left = columns * ELEM_BYTES - byte;
  if (left <= 0) return;
  from += blockIdx.z * stride * ELEM_BYTES + byte;
  char* const to = workspace + at + blockIdx.z * stride_packed * ELEM_BYTES + byte;
  const int first = static_cast<int>(blockIdx.y) * 16, end = min(rows, first + 16);
#pragma unroll 4
  for (int row = first + static_cast<int>(threadIdx.x) / 64; row < end; row += 4) {
    unsigned piece[4];
    pgtune::load_piece<ELEM_BYTES>(piece, from + row * ld * ELEM_BYTES, min(left, 16));
    *reinterpret_cast<uint4*>(to + row * ld_packed * ELEM_BYTES) = make_uint4(piece[0], piece[1], piece[2], piece[3]);
  }
}
#endif
