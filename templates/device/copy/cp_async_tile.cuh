// SPDX-License-Identifier: MIT
// Copies an operand's tile from global to shared memory by all threads of a CTA, in pieces as wide as the alignment of
// the rows allows: cp.async of 16, 8 or 4 bytes, or plain loads and stores where rows start between multiples of four
// bytes.
#pragma once

#include "device/copy/load_piece.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/text.cuh"

// A template that includes this says with CACHE (ca, cg) and L2_PREFETCH (0, 64, 128 or 256 bytes) how global memory is
// read.
#if L2_PREFETCH == 0
#define PGTUNE_L2_FETCH ""
#else
#define PGTUNE_L2_FETCH ".L2::" PGTUNE_TEXT(L2_PREFETCH) "B"
#endif

namespace pgtune {

/// Copies the first `valid_bytes` of kBytes and fills the rest with zeros, where `active`. `global` is a readable
/// address even where nothing is valid.
template <int kBytes, bool kZeroFill>
__device__ __forceinline__ void copy_piece(unsigned shared, const char* global, int valid_bytes, bool active) {
#define PGTUNE_COPY(CACHES)                                                                                   \
  if constexpr (kZeroFill) {                                                                                  \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async." CACHES ".shared.global" PGTUNE_L2_FETCH \
                 " [%0], [%1], %3, %4; }" ::"r"(shared),                                                      \
                 "l"(global), "r"(static_cast<int>(active)), "n"(kBytes), "r"(valid_bytes)                    \
                 : "memory");                                                                                 \
  } else {                                                                                                    \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async." CACHES ".shared.global" PGTUNE_L2_FETCH \
                 " [%0], [%1], %3; }" ::"r"(shared),                                                          \
                 "l"(global), "r"(static_cast<int>(active)), "n"(kBytes)                                      \
                 : "memory");                                                                                 \
  }
  if constexpr (kBytes == 16 && CACHE == LABEL_cg) {
    PGTUNE_COPY("cg")
  } else {
    PGTUNE_COPY("ca")
  }
#undef PGTUNE_COPY
}

/// Copies of one operand, tile after tile along k. Layout is the tile's MmaTile, kAlignment the bytes that divide the
/// address of every row, kEdge whether tiles may reach beyond the matrix.
template <typename Layout, int kThreads, int kAlignment, bool kEdge>
struct MmaCopy {
  static constexpr bool kPlain = kAlignment < 4;  ///< through registers, 16 bytes a thread
  static constexpr int kPiece = kPlain || kAlignment > 16 ? 16 : kAlignment;
  static constexpr int kLinePieces = Layout::kLineBytes / kPiece;
  static constexpr int kPieces = Layout::kLines * kLinePieces;
  static constexpr int kCopies = kPieces > kThreads ? kPieces / kThreads : 1;
  static_assert(kPieces <= kThreads || kPieces % kThreads == 0, "threads share the tile evenly");
  static constexpr int kRun = kLinePieces < kThreads ? kLinePieces : kThreads;  ///< threads side by side on a line
  static constexpr int kRows = kThreads / kRun;                                 ///< lines that they copy at once
  static constexpr int kElement = Layout::kElement;

  const char* next;      ///< this thread's first piece of the next tile
  const char* readable;  ///< the operand's first element
  long long line_bytes;  ///< from line to line
  int line, byte;        ///< that piece's place in the tile
  int outer_left;        ///< rows (A) or columns (B) from the tile's start to the matrix' end
  unsigned staged[kPlain ? kCopies : 1][4];

  /// `matrix` is of the batch; the tile starts at row or column `outer` and at `k`.
  __device__ __forceinline__ MmaCopy(const char* matrix, long long leading_dimension, int outer, int extent, int k)
      : readable(matrix), line_bytes(leading_dimension * kElement), outer_left(extent - outer) {
    const int thread = static_cast<int>(threadIdx.x);
    line = thread / kRun;
    byte = thread % kRun * kPiece;
    const long long first_line = line + (Layout::kAlongK ? outer : k), first = Layout::kAlongK ? k : outer;
    next = matrix + first_line * line_bytes + first * kElement + byte;
  }

  // Where the c-th piece of this thread lies, relative to its first.
  static constexpr __device__ int line_step(int c) {
    return kLinePieces > kRun ? c / (kLinePieces / kRun) * kRows : c * kRows;
  }
  static constexpr __device__ int byte_step(int c) {
    return kLinePieces > kRun ? c % (kLinePieces / kRun) * (kRun * kPiece) : 0;
  }

  __device__ __forceinline__ unsigned destination(unsigned stage, int c) const {
    if (line_step(c) % Layout::kPeriod == 0 && byte_step(c) == 0)
      return stage + Layout::place(line, byte) + line_step(c) * Layout::kPitch;
    return stage + Layout::place(line + line_step(c), byte + byte_step(c));
  }
  /// How many bytes of the c-th piece lie inside the matrix; `k_left` from the tile's start on.
  __device__ __forceinline__ int valid(int c, int k_left) const {
    if constexpr (!kEdge) return kPiece;
    const int lines_left = (Layout::kAlongK ? outer_left : k_left) - line - line_step(c);
    const int left = (Layout::kAlongK ? k_left : outer_left) * kElement - byte - byte_step(c);
    return lines_left > 0 ? max(0, min(kPiece, left)) : 0;
  }

  /// Starts copying the next tile to `stage`, where `active`; plain copies load it to registers.
  __device__ __forceinline__ void start(unsigned stage, int k_left, bool active) {
    if (kPieces < kThreads) active = active && threadIdx.x < kPieces;
    const char* from = next;  // moved on step by step: addresses kept for all pieces would fill the registers
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      if (c > 0 && line_step(c) != line_step(c - 1)) from += kRows * line_bytes;
      const int bytes = valid(c, k_left);
      if constexpr (kPlain) {
        if (active) load_piece<kElement>(staged[c], from + byte_step(c), bytes);
      } else {
        copy_piece<kPiece, kEdge>(destination(stage, c), !kEdge || bytes > 0 ? from + byte_step(c) : readable, bytes,
                                  active);
      }
    }
    next += Layout::kAlongK ? Layout::kBlockK * kElement : Layout::kBlockK * line_bytes;
  }

  /// Stores what plain loads brought to `stage`.
  __device__ __forceinline__ void finish(unsigned stage, bool active) const {
    if constexpr (kPlain) {
      if (!active || kPieces < kThreads && threadIdx.x >= kPieces) return;
#pragma unroll
      for (int c = 0; c < kCopies; ++c) store_shared(destination(stage, c), staged[c]);
    }
  }
};

}  // namespace pgtune

#undef PGTUNE_L2_FETCH
