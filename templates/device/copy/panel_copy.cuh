// SPDX-License-Identifier: MIT
// How threads share the copying of an operand of floats, tile after tile, to where TMA would have put it: for operands
// whose lines start between multiples of 16 bytes, which TMA cannot read. Plain arithmetic; the copies themselves are
// the caller's.
#pragma once

namespace pgtune {

/// An operand of floats in global memory; its leading dimension and stride in floats.
struct FloatSource {
  const float* first;
  long long ld, stride;
};

/// What one of kThreads threads copies of tiles of kExtent rows (or columns) of D and kBlockK steps of k, in pieces of
/// kPiece bytes, 8 or 4, which divides where lines start and how long they are.
///
/// An operand that lies along D becomes kBlockK lines of kExtent floats. One that lies along k (kAlongK) becomes
/// kExtent lines of 16 floats with TMA's 64-byte swizzle, which Panel::transpose() wants.
template <bool kAlongK, int kExtent, int kBlockK, int kPiece, int kThreads>
class PanelCopy {
 public:
  /// `outer` and `k` are where in the operand the first tile starts; `extent` and `depth` are the operand's rows or
  /// columns, and K.
  __device__ __forceinline__ PanelCopy(const FloatSource& from, int extent, int depth, int outer, int k, int batch,
                                       int thread)
      : ld_(from.ld), first_line_(thread / kRun), byte_(thread % kRun * kPiece) {
    const int x = kAlongK ? k : outer, y = (kAlongK ? outer : k) + first_line_;
    next_ = reinterpret_cast<const char*>(from.first + batch * from.stride + y * from.ld + x) + byte_;
    lines_left_ = (kAlongK ? extent : depth) - y;
    floats_left_ = (kAlongK ? depth : extent) - x - byte_ / 4;
  }

  /// Calls copy(to, from, exists) for each of the thread's pieces of the tile at shared address `tile`, a multiple of
  /// 64; pieces that do not exist become zeros, and `from` is then no address to read. Goes on by `steps` of k.
  template <class Copy>
  __device__ __forceinline__ void next(unsigned tile, int steps, const Copy& copy) {
    const char* from = next_;
    unsigned to = tile + first_line_ * kLineBytes + byte_;
    if constexpr (kAlongK) to ^= static_cast<unsigned>(exchanged(first_line_)) << 4;
#pragma unroll kUnrolled
    for (int line = 0; line < kLines; line += kAtOnce) {
      // The bits of `line` and of the thread's first line do not overlap, so neither do their swizzles.
      const unsigned here = kAlongK ? to ^ static_cast<unsigned>(exchanged(line)) << 4 : to;
#pragma unroll
      for (int byte = 0; byte < kLineBytes; byte += kRunBytes) {
        copy(here + line * kLineBytes + byte, from + byte, line < lines_left_ && byte / 4 < floats_left_);
      }
      from += kAtOnce * 4 * ld_;
    }
    if (kAlongK) {
      floats_left_ -= steps;
      next_ += steps * 4;
    } else {
      lines_left_ -= steps;
      next_ += steps * 4 * ld_;
    }
  }

 private:
  static constexpr int kLines = kAlongK ? kExtent : kBlockK;
  static constexpr int kLineBytes = 4 * (kAlongK ? kBlockK : kExtent);
  static_assert(!kAlongK || kLineBytes == 64, "the swizzle is that of lines of 64 bytes");
  // Neighbouring threads copy neighbouring pieces of a line, as much of it as is a power of two.
  static constexpr int kPower = kLineBytes & -kLineBytes;
  static constexpr int kRunBytes = kPower < kThreads * kPiece ? kPower : kThreads * kPiece;
  static constexpr int kRun = kRunBytes / kPiece;  ///< threads side by side on a line
  static constexpr int kAtOnce = kThreads / kRun;  ///< lines that the threads copy at once
  static_assert(kAtOnce * kRun == kThreads && kLines % kAtOnce == 0, "threads share a tile evenly");
  /// Lines that are unrolled: some sixteen copies. More would take room in the instruction cache from the arithmetic.
  static constexpr int kOfALine = kLineBytes / kRunBytes, kUnrolled = kOfALine < 16 ? 16 / kOfALine : 1;

  /// The pieces of 16 bytes of a line are exchanged by XOR with this.
  static constexpr __device__ int exchanged(int line) { return line / 2 % 4; }

  const char* next_;  ///< the thread's first piece of the next tile
  long long ld_;
  int first_line_, byte_;         ///< where that piece lies in a tile
  int lines_left_, floats_left_;  ///< of the operand, from that piece on
};

}  // namespace pgtune
