// SPDX-License-Identifier: MIT
// How the 128 threads of a warpgroup share the copying of an operand's tiles to where wgmma reads them: each copies
// pieces of 16, 8 or 4 bytes. Plain arithmetic; the copies themselves are the caller's.
#pragma once

#include "device/copy/wgmma_operand.cuh"

namespace pgtune {

/// An operand in global memory: its first element, and bytes from line to line and from matrix to matrix.
struct CopySource {
  const char* first;
  long long line_bytes, stride_bytes;
};

/// What a thread copies of an operand's tiles, one k-block after the other. Tile is the operand's WgmmaOperand. kPiece,
/// of 16, 8 and 4 bytes, divides where lines start and how long they are.
template <class Tile, int kPiece>
class WgmmaCopy {
 public:
  /// `outer` and `k` are where in the operand the tile and its first k-block start; `outer_size` and `depth` are the
  /// operand's rows or columns, and K.
  __device__ __forceinline__ WgmmaCopy(const CopySource& from, int outer_size, int depth, int outer, int k, int batch,
                                       int thread)
      : at_once_bytes_(kAtOnce * from.line_bytes),
        first_line_(thread / kRun),
        place_(Tile::place(first_line_, thread % kRun * kPiece)) {
    const int byte = thread % kRun * kPiece;
    const int x = Tile::kAlongMn ? outer : k, y = (Tile::kAlongMn ? k : outer) + first_line_;
    next_ = from.first + batch * from.stride_bytes + y * from.line_bytes + static_cast<long long>(x) * Tile::kElement +
            byte;
    lines_left_ = (Tile::kAlongMn ? depth : outer_size) - y;
    bytes_left_ = ((Tile::kAlongMn ? outer_size : depth) - x) * Tile::kElement - byte;
  }

  /// Calls copy(to, from, exists) for each of the thread's pieces of the tile at shared address `tile`, a multiple of
  /// 1024; pieces that do not exist become zeros, and `from` is then no address to read. Goes on to the k-block that is
  /// `blocks` further.
  template <class Copy>
  __device__ __forceinline__ void next(unsigned tile, int blocks, const Copy& copy) {
    const unsigned to = tile + place_;
    const char* from = next_;
#pragma unroll
    for (int line = 0; line < Tile::kLines; line += kAtOnce) {
      if (line + kAtOnce > Tile::kLines && first_line_ + line >= Tile::kLines) break;
#pragma unroll
      for (int panel = 0; panel < Tile::kPanels; panel += kRunPanels) {
        // The bits of `line` and of the thread's first line do not overlap, so neither do their swizzles.
        copy((to ^ static_cast<unsigned>(Tile::exchanged(line)) << 4) + line * Tile::kLineBytes +
                 panel * Tile::kPanelBytes,
             from + panel * Tile::kLineBytes, line < lines_left_ && panel * Tile::kLineBytes < bytes_left_);
      }
      from += at_once_bytes_;
    }
    const int steps = blocks * Tile::kSteps;
    if (Tile::kAlongMn) {
      lines_left_ -= steps;
      next_ += steps / kAtOnce * at_once_bytes_;
    } else {
      bytes_left_ -= steps * Tile::kElement;
      next_ += steps * Tile::kElement;
    }
  }

 private:
  // Neighbouring threads copy neighbouring pieces of a line, across as many panels as are a power of two.
  static constexpr int kMostPanels = Tile::kPanels & -Tile::kPanels, kMostBytes = 128 * kPiece;
  static constexpr int kRunPanels =
      kMostPanels * Tile::kLineBytes <= kMostBytes ? kMostPanels : kMostBytes / Tile::kLineBytes;
  static constexpr int kRun = kRunPanels * Tile::kLineBytes / kPiece;  ///< threads side by side on a line
  static constexpr int kAtOnce = 128 / kRun;                           ///< lines that the warpgroup copies at once
  static_assert(kAtOnce * kRun == 128, "threads share a line evenly");
  static_assert(!Tile::kAlongMn || Tile::kSteps % kAtOnce == 0, "and a k-block");

  const char* next_;  ///< the thread's first piece of the next k-block
  long long at_once_bytes_;
  int first_line_;
  unsigned place_;               ///< of that piece in a tile
  int lines_left_, bytes_left_;  ///< of the operand, from that piece on
};

}  // namespace pgtune
