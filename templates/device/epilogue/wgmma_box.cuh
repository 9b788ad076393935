// SPDX-License-Identifier: MIT
// A box in shared memory, through which warps of gemm_wgmma pass their parts of D to TMA, or of C to their registers:
// 16 rows of the product for each warp and kSlab of its columns, in lines of kSpan bytes along the rows of D, with
// 16-byte pieces swizzled as TMA expects. Where the product's rows are columns of D, a warpgroup may share a box, of
// whose lines each warp has a quarter: TMA stores a line of 128 bytes as fast as one of 32.
#pragma once

#include "device/epilogue/out_element.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/shared_memory.cuh"

namespace pgtune {

/// kSwapped: the product's rows are columns of D. kElementBytes: of C and D. kBoxLines: 16, one for each row of the
/// product, or where it is swapped a multiple of 8, one for each column. kApart: how far a lane's two rows are from
/// each other, 8 or 1.
template <bool kSwapped, int kElementBytes, Type16 kType, int kBoxLines, int kSpan, int kApart>
struct WgmmaBox {
  using Element = typename OutElement<kElementBytes>::Type;
  static_assert(kApart == 8 || kApart == 1, "rows as wgmma has them, or transposed");
  static_assert(kSwapped ? kBoxLines % 8 == 0 : kBoxLines == 16, "lines come in matrices of 8");
  static constexpr int kWarps = kSwapped ? kSpan / (16 * kElementBytes) : 1;  ///< that share the box
  static constexpr int kLines = kBoxLines;
  static constexpr int kSlab = kSwapped ? kLines : kSpan / kElementBytes;  ///< columns of the product
  static constexpr int kBytes = kLines * kSpan;
  static constexpr int kPieces = kSpan / kWarps / 16;  ///< of 16 bytes, which a warp has of a line

  /// Returns what a warp passes as `box` below: where its part of the box at `box` begins.
  static __device__ __forceinline__ unsigned part_of_warp(unsigned box, int warp) {
    return box + warp % kWarps * kPieces * 16;
  }
  /// Returns where a piece of the warp's part of a line lies. The swizzle exchanges pieces of the whole line: an XOR,
  /// as boxes start at multiples of eight lines. Where the part is the line, a sum takes fewer instructions.
  static __device__ __forceinline__ unsigned place(unsigned box, int line, int piece) {
    const int exchanged = line * kSpan / 128 % (kSpan / 16);
    if constexpr (kWarps == 1) return box + line * kSpan + ((piece ^ exchanged) << 4);
    return (box + line * kSpan) ^ ((piece ^ exchanged) << 4);
  }

  /// Returns the rows of the warp's 16 that the lanes with this lane / 4 hold.
  static constexpr int row_of_lane(int group, int which) { return kApart == 8 ? group + which * 8 : group * 2 + which; }

  /// Returns the address in a box that a lane passes for four 8 x 8 matrices of 16-bit elements at once: both halves of
  /// the rows, and two times eight columns from `group` times eight on. Lane i names line i % 8 of matrix i / 8.
  static __device__ __forceinline__ unsigned place_of_matrix(unsigned box, int group, int lane) {
    const int line = kSwapped ? lane / 16 * 8 + lane % 8 + group * 8 : row_of_lane(lane % 8, lane / 8 % 2);
    return place(box, line, kSwapped ? lane / 8 % 2 : group + lane / 16);
  }
  /// Returns where the lane's accumulators i and i + 1 lie as floats.
  static __device__ __forceinline__ unsigned place_of_pair(unsigned box, int i, int lane) {
    return place(box, row_of_lane(lane / 4, i / 2 % 2), i / 4 * 2 + lane % 4 / 2) + lane % 2 * 8;
  }
  /// Where a lane's neighbours in D are its accumulators i and i + 2: the pair-th such i, and where they lie.
  static constexpr int first_of_column(int pair) { return pair / 2 * 4 + pair % 2; }
  static __device__ __forceinline__ unsigned place_in_column(unsigned box, int i, int lane) {
    const int line = i / 4 * 8 + lane % 4 * 2 + i % 2, at_byte = lane / 4 * 2 * kElementBytes;
    return place(box, line, at_byte / 16) + at_byte % 16;
  }

  /// Calls copy(to, from, exists) for each 16 bytes of C that a lane copies to the box: lines of `ld` elements from
  /// `from` on, of which as many lines and elements exist as are left.
  template <class Copy>
  static __device__ __forceinline__ void each_piece(const void* from, long long ld, int lines_left, int elements_left,
                                                    unsigned box, int lane, const Copy& copy) {
    constexpr int kAtOnce = 32 / kPieces;  ///< lines
    const int first = lane / kPieces, element = lane % kPieces * (16 / kElementBytes);
    const Element* next = static_cast<const Element*>(from) + first * ld + element;
#pragma unroll
    for (int i = 0; i < kLines; i += kAtOnce) {
      const int line = first + i;
      if (kLines % kAtOnce != 0 && line >= kLines) break;
      copy(place(box, line, lane % kPieces), next, line < lines_left && element < elements_left);
      next += kAtOnce * ld;
    }
  }

  /// Writes the accumulators of kCount columns, a multiple of 8, to the box, with its 16-byte pieces swizzled as TMA
  /// expects.
  template <int kCount = kSlab, class Number>
  static __device__ __forceinline__ void fill(const Number* acc, unsigned box, int lane) {
    if constexpr (kSwapped && kApart == 1) {
      fill_from_columns<kCount>(acc, box, lane);
    } else if constexpr (kElementBytes == 2) {
      constexpr int kGroups = kCount / 8;
#pragma unroll
      for (int group = 0; group < kGroups; group += 2) {
        const unsigned at = place_of_matrix(box, group, lane);
        const Number* const s = acc + group * 4;
        if (group + 1 == kGroups) {
          if constexpr (kSwapped)
            asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at),
                         "r"(pack<kType>(s[0], s[1])), "r"(pack<kType>(s[2], s[3]))
                         : "memory");
        } else if constexpr (kSwapped) {
          asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                       "r"(pack<kType>(s[0], s[1])), "r"(pack<kType>(s[2], s[3])), "r"(pack<kType>(s[4], s[5])),
                       "r"(pack<kType>(s[6], s[7]))
                       : "memory");
        } else {
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                       "r"(pack<kType>(s[0], s[1])), "r"(pack<kType>(s[2], s[3])), "r"(pack<kType>(s[4], s[5])),
                       "r"(pack<kType>(s[6], s[7]))
                       : "memory");
        }
      }
    } else {
      static_assert(
          !kSwapped,
          "elements of 32 bits are stored directly where the product is swapped and its rows were not transposed");
#pragma unroll
      for (int i = 0; i < kCount / 2; i += 2) {
        store_shared(place_of_pair(box, i, lane), acc[i], acc[i + 1]);
      }
    }
  }

  /// Adds beta times what lies in the box to the accumulators of kCount columns.
  template <int kCount = kSlab, class Number>
  static __device__ __forceinline__ void add(Number* acc, Number beta, unsigned box, int lane) {
    if constexpr (kSwapped && kApart == 1) {
#pragma unroll
      for (int pair = 0; pair < kCount / 4; ++pair) {
        const int i = first_of_column(pair);
        const unsigned at = place_in_column(box, i, lane);
        if constexpr (kElementBytes == 2) {
          unsigned both;
          asm volatile("ld.shared.b32 %0, [%1];" : "=r"(both) : "r"(at) : "memory");
          add_two(acc[i], acc[i + 2], both, beta);
        } else {
          add_two(acc[i], acc[i + 2], at, beta);
        }
      }
    } else if constexpr (kElementBytes == 2) {
      constexpr int kGroups = kCount / 8;
#pragma unroll
      for (int group = 0; group < kGroups; group += 2) {
        unsigned read[4];
        if (group + 1 == kGroups) {
          asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                       : "=r"(read[0]), "=r"(read[1])
                       : "r"(place_of_matrix(box, group, lane))
                       : "memory");
        } else {
          ldmatrix_x4<kSwapped>(read, place_of_matrix(box, group, lane));
        }
#pragma unroll
        for (int i = 0; i < (group + 1 == kGroups ? 2 : 4); ++i)
          add_two(acc[group * 4 + 2 * i], acc[group * 4 + 2 * i + 1], read[i], beta);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount / 2; i += 2) add_two(acc[i], acc[i + 1], place_of_pair(box, i, lane), beta);
    }
  }

 private:
  /// The same where a lane's neighbours in D are the two rows that it has of a column.
  template <int kCount, class Number>
  static __device__ __forceinline__ void fill_from_columns(const Number* acc, unsigned box, int lane) {
#pragma unroll
    for (int pair = 0; pair < kCount / 4; ++pair) {
      const int i = first_of_column(pair);
      const unsigned at = place_in_column(box, i, lane);
      if constexpr (kElementBytes == 2) {
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(pack<kType>(acc[i], acc[i + 2])) : "memory");
      } else {
        store_shared(at, acc[i], acc[i + 2]);
      }
    }
  }

  /// Adds beta times two neighbours: of 16 bits, as they lie in `from`, or of 32 bits at the address `from`.
  template <class Number>
  static __device__ __forceinline__ void add_two(Number& one, Number& two, unsigned from, Number beta) {
    if constexpr (kElementBytes == 2) {
      one = fmaf(beta, widen<kType>(static_cast<unsigned short>(from)), one);
      two = fmaf(beta, widen<kType>(static_cast<unsigned short>(from >> 16)), two);
    } else {
      Number first, second;
      load_shared(first, second, from);
      one = multiply_add(beta, first, one), two = multiply_add(beta, second, two);
    }
  }
};

}  // namespace pgtune
