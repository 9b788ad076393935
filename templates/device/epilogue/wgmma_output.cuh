// SPDX-License-Identifier: MIT
// From the sums of a wgmma to D = activation(alpha * sums + beta * C + bias). Each warp owns 16 rows of the product and
// writes them by itself: no barrier, so that warps that are done go on with the next tile while the copy engine empties
// their buffers.
//
// A lane holds of every 8 columns two neighbours in row lane / 4 and two in the row 8 below; where the left operand was
// turned in registers (wgmma_turned.cuh) two in row lane / 4 * 2 and two in the next.
#pragma once

#include "device/epilogue/fused_epilogue.cuh"
#include "device/epilogue/out_element.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/ptx/tma.cuh"

namespace pgtune {

/// C and D of all batches and what to make of the sums. `map` is D's, for the copy engine. `bias`: one element for each
/// column of D.
struct Destination {
  const TensorMap* map;
  const void* c;
  void* d;
  long long ld, stride;  ///< elements from row to row, from matrix to matrix
  int rows, columns;     ///< of D
  float alpha, beta;
  const void* bias;
};

/// kSwapped: the product's rows are columns of D. kElementBytes: of C and D. kPairs: two neighbours may be accessed at
/// once. kPasses: L2 evicts D first. kSpan: bytes of a line of the boxes of D's map, as wide as its swizzle. kApart:
/// how far a lane's two rows are from each other, 8 or 1.
template <bool kSwapped, int kElementBytes, Sixteen kType, bool kPairs, bool kPasses, int kColumns, int kSpan,
          int kBuffers, int kApart>
struct WgmmaOutput {
  static constexpr int kLines = !kSwapped                                  ? 16
                                : kColumns % 64 == 0 && kElementBytes == 2 ? 64
                                : kColumns % 32 == 0                       ? 32
                                : kColumns % 16 == 0                       ? 16
                                                                           : 8;                  ///< of a box
  static constexpr int kSlab = kSwapped ? kLines : kSpan / kElementBytes;  ///< columns of the product in a box
  static constexpr int kBufferBytes = kLines * kSpan;
  static constexpr int kBytes = kBuffers * kBufferBytes;  ///< of shared memory, for each warp

  /// `sums` of the warp's 16 rows and of kColumns columns, from `row` and `column` of the product on. `part`: how many
  /// times this tile has been written from before; to be known when this is compiled.
  template <bool kByCopyEngine>
  static __device__ __forceinline__ void write(float (&sums)[kColumns / 2], const Destination& to, int row, int column,
                                               int batch, unsigned buffers, int part) {
    constexpr int kStep = kByCopyEngine ? kSlab : 16;
    static_assert(!kByCopyEngine || kColumns % kStep == 0, "boxes must be whole");
    const int lane = lane_index();
#pragma unroll
    for (int first = 0; first < kColumns; first += kStep) {
      float* const some = sums + first / 2;
      constexpr int kCount = kStep < kColumns ? kStep / 2 : kColumns / 2;
      const Elements elements(to, row + row_of_lane(lane / 4, 0), column + first + lane % 4 * 2, batch);
      finish<kCount>(some, to, elements);
      if constexpr (kByCopyEngine) {
        const int number = part * (kColumns / kStep) + first / kStep;
        const unsigned box = buffers + number % kBuffers * kBufferBytes;
        if (lane == 0) {
          // The boxes of the tile before have been read long since.
          if (number == 0) {
            stores_read<0>();
          } else {
            stores_read<kBuffers - 1>();
          }
        }
        __syncwarp();
        fill_box(some, box, lane);
        async_fence();
        __syncwarp();
        const int at = column + first;
        if (lane == 0) store_box<kPasses>(*to.map, box, kSwapped ? row : at, kSwapped ? at : row, batch);
      } else {
        store<kCount>(some, to, elements);
      }
    }
  }

 private:
  using Element = typename OutElement<kElementBytes>::Type;
  static_assert(kApart == 8 || kApart == 1, "as wgmma has them, or turned");

  /// Rows of the warp's 16 that the lanes with this lane / 4 hold.
  static constexpr int row_of_lane(int group, int which) { return kApart == 8 ? group + which * 8 : group * 2 + which; }

  /// Which elements of C and D a lane's sums are for.
  struct Elements {
    int row, column, batch;  ///< of the first, in the product
    int rows_left, columns_left;
    __device__ __forceinline__ Elements(const Destination& to, int first_row, int first_column, int of_batch)
        : row(first_row),
          column(first_column),
          batch(of_batch),
          rows_left((kSwapped ? to.columns : to.rows) - first_row),
          columns_left((kSwapped ? to.rows : to.columns) - first_column) {}
    static constexpr int row_of(int i) { return i / 2 % 2 * kApart; }
    static constexpr int column_of(int i) { return i / 4 * 8 + i % 2; }
    __device__ __forceinline__ bool has(int i) const { return row_of(i) < rows_left && column_of(i) < columns_left; }
    __device__ __forceinline__ bool has_column_of_d(int i) const {
      return kSwapped ? row_of(i) < rows_left : column_of(i) < columns_left;
    }
    __device__ __forceinline__ int column_of_d(int i, const Destination& to) const {
      return to.columns - (kSwapped ? rows_left - row_of(i) : columns_left - column_of(i));
    }
    /// Their places in C and D, with `ld` elements from row to row.
    struct Places {
      long long first, ld;
      __device__ __forceinline__ long long operator()(int i) const {
        return first + (kSwapped ? column_of(i) * ld + row_of(i) : row_of(i) * ld + column_of(i));
      }
    };
    __device__ __forceinline__ Places places(long long stride, long long ld) const {
      return {batch * stride + (kSwapped ? column * ld + row : row * ld + column), ld};
    }
  };

  static __device__ __forceinline__ float widened(const Element& element) {
    if constexpr (kElementBytes == 4) {
      return element;
    } else {
      return widen<kType>(element);
    }
  }

  /// alpha * sums + bias: that of the two rows or, of every 8 columns, of the two columns that a lane has. What lies
  /// outside of D gets none.
  template <int kCount>
  static __device__ __forceinline__ void scale_and_shift(float* sums, const Destination& to, const Elements& elements) {
    const auto one = [&](int i) {
      return elements.has_column_of_d(i) ? bias_of<kElementBytes, kType>(to.bias, elements.column_of_d(i, to)) : 0.0f;
    };
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      float2 two = make_float2(0.0f, 0.0f);
      if constexpr (kSwapped || !BIAS_PAIRS) {
        two = make_float2(one(i), one(i + (kSwapped ? 2 : 1)));
      } else if (elements.has_column_of_d(i)) {
        two = bias_of_two<kElementBytes, kType>(to.bias, elements.column_of_d(i, to));
      }
      sums[i] = fmaf(to.alpha, sums[i], two.x);
      sums[i + 1] = fmaf(to.alpha, sums[i + 1], kSwapped ? two.x : two.y);
      sums[i + 2] = fmaf(to.alpha, sums[i + 2], kSwapped ? two.y : two.x);
      sums[i + 3] = fmaf(to.alpha, sums[i + 3], two.y);
    }
  }

  template <int kCount>
  static __device__ __forceinline__ void scale(float* sums, const Destination& to, const Elements& elements) {
    if constexpr (kHasBias) scale_and_shift<kCount>(sums, to, elements);
    const float alpha = kHasBias ? 1.0f : to.alpha;
    if (to.beta == 0.0f) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) sums[i] *= alpha;
      return;
    }
    const Element* const c = static_cast<const Element*>(to.c);
    // Of unknown origin to the compiler, which would compute the places for every beta, just when results are due.
    long long ld = to.ld;
    asm volatile("" : "+l"(ld));
    const auto places = elements.places(to.stride, ld);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (kHasBias && i % 4 == 0) __syncwarp();  // fewer loads at once: they need registers
      const float old = elements.has(i) ? widened(c[places(i)]) : 0.0f;
      sums[i] = fmaf(to.beta, old, alpha * sums[i]);
    }
  }

  template <int kCount>
  static __device__ __forceinline__ void finish(float* sums, const Destination& to, const Elements& elements) {
    scale<kCount>(sums, to, elements);
#pragma unroll
    for (int i = 0; i < kCount; ++i) sums[i] = activated<kActivation>(sums[i]);
  }

  template <int kCount>
  static __device__ __forceinline__ void store(const float* sums, const Destination& to, const Elements& elements) {
    Element* const d = static_cast<Element*>(to.d);
    const auto places = elements.places(to.stride, to.ld);
    // Two at a time: of the product's row, or of its column where a lane's rows are neighbours in D.
    constexpr bool kOfColumn = kSwapped && kApart == 1, kNeighbours = !kSwapped || kOfColumn;
#pragma unroll
    for (int pair = 0; pair < kCount / 2; ++pair) {
      const int i = kOfColumn ? pair / 2 * 4 + pair % 2 : pair * 2, j = i + (kOfColumn ? 2 : 1);
      if (!elements.has(i)) continue;
      Element* const first = d + places(i);
      Element* const second = first + (kNeighbours ? 1 : to.ld);
      if constexpr (kElementBytes == 4) {
        if (kPairs && kNeighbours && elements.has(j)) {
          *reinterpret_cast<float2*>(first) = make_float2(sums[i], sums[j]);
        } else {
          *first = sums[i];
          if (elements.has(j)) *second = sums[j];
        }
      } else {
        const unsigned both = pack<kType>(sums[i], sums[j]);
        if (kPairs && kNeighbours && elements.has(j)) {
          *reinterpret_cast<unsigned*>(first) = both;
        } else {
          *first = static_cast<unsigned short>(both);
          if (elements.has(j)) *second = static_cast<unsigned short>(both >> 16);
        }
      }
    }
  }

  /// The sums of kSlab columns to the box, its 16-byte pieces exchanged as the copy engine expects it.
  static __device__ __forceinline__ void fill_box(const float* sums, unsigned box, int lane) {
    if constexpr (kSwapped && kApart == 1) {
      fill_from_columns(sums, box, lane);
    } else if constexpr (kElementBytes == 2) {
      // Four 8 x 8 matrices at once: both halves of the rows, and two times eight columns. Lane i names the place of
      // line i % 8 of matrix i / 8.
      constexpr int kGroups = kSlab / 8;
#pragma unroll
      for (int group = 0; group < kGroups; group += 2) {
        const int line = kSwapped ? lane / 16 * 8 + lane % 8 + group * 8 : row_of_lane(lane % 8, lane / 8 % 2);
        const int piece = kSwapped ? lane / 8 % 2 : group + lane / 16;
        const unsigned at = box + line * kSpan + ((piece ^ exchanged(line)) << 4);
        const float* const s = sums + group * 4;
        if constexpr (kGroups == 1) {
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
      static_assert(!kSwapped, "floats are stored directly where the product is swapped and its rows were not turned");
#pragma unroll
      for (int i = 0; i < kSlab / 2; i += 2) {
        const int line = row_of_lane(lane / 4, i / 2 % 2), piece = i / 4 * 2 + lane % 4 / 2;
        const unsigned at = box + line * kSpan + ((piece ^ exchanged(line)) << 4) + lane % 2 * 8;
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(sums[i]), "f"(sums[i + 1]) : "memory");
      }
    }
  }
  /// The same where a lane's neighbours in D are the two rows it has of a column.
  static __device__ __forceinline__ void fill_from_columns(const float* sums, unsigned box, int lane) {
#pragma unroll
    for (int pair = 0; pair < kSlab / 4; ++pair) {
      const int i = pair / 2 * 4 + pair % 2;
      const int line = i / 4 * 8 + lane % 4 * 2 + i % 2, at_byte = lane / 4 * 2 * kElementBytes;
      const unsigned at = box + line * kSpan + ((at_byte / 16 ^ exchanged(line)) << 4) + at_byte % 16;
      if constexpr (kElementBytes == 2) {
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(pack<kType>(sums[i], sums[i + 2])) : "memory");
      } else {
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(sums[i]), "f"(sums[i + 2]) : "memory");
      }
    }
  }
  static __device__ __forceinline__ int exchanged(int line) { return line * kSpan / 128 % (kSpan / 16); }
};

}  // namespace pgtune
