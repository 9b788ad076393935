// SPDX-License-Identifier: MIT
// The epilogue of gemm_wgmma: stores D = activation(alpha * accumulators + beta * C + bias). Each warp owns 16 rows of
// the product and stores them by itself, without a barrier, so that warps that are done go on with the next tile while
// TMA empties their buffers.
//
// Of every 8 columns a lane holds two neighbours in row lane / 4 and two in the row 8 below; where the left operand
// came from registers (wgmma_register_consumer.cuh) it holds two in row lane / 4 * 2 and two in the next.
#pragma once

#include "device/epilogue/fused_epilogue.cuh"
#include "device/epilogue/out_element.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/ptx/tma.cuh"

namespace pgtune {

/// C and D of all batches and the epilogue's parameters. `map` is D's tensor map. `bias` has one element for each
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
/// once. kEvictsFirst: L2 evicts D first. kSpan: bytes of a line of the boxes of D's map, as wide as its swizzle.
/// kApart: how far a lane's two rows are from each other, 8 or 1.
template <bool kSwapped, int kElementBytes, Type16 kType, bool kPairs, bool kEvictsFirst, int kColumns, int kSpan,
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

  /// Stores the accumulators of the warp's 16 rows and of kColumns columns, from `row` and `column` of the product on.
  /// `part`, a compile-time constant after unrolling, says how often this tile has been stored from before.
  template <bool kByTma>
  static __device__ __forceinline__ void write(float (&acc)[kColumns / 2], const Destination& to, int row, int column,
                                               int batch, unsigned buffers, int part) {
    constexpr int kStep = kByTma ? kSlab : 16;
    static_assert(!kByTma || kColumns % kStep == 0, "boxes must be whole");
    const int lane = lane_index();
#pragma unroll
    for (int first = 0; first < kColumns; first += kStep) {
      float* const some = acc + first / 2;
      constexpr int kCount = kStep < kColumns ? kStep / 2 : kColumns / 2;
      const Elements elements(to, row + row_of_lane(lane / 4, 0), column + first + lane % 4 * 2, batch);
      finish<kCount>(some, to, elements);
      if constexpr (kByTma) {
        const int number = part * (kColumns / kStep) + first / kStep;
        const unsigned box = buffers + number % kBuffers * kBufferBytes;
        if (lane == 0) {
          // TMA has read the boxes of the tile before long since.
          if (number == 0) {
            tma_store_wait_read<0>();
          } else {
            tma_store_wait_read<kBuffers - 1>();
          }
        }
        __syncwarp();
        fill_box(some, box, lane);
        fence_proxy_async();
        __syncwarp();
        const int at = column + first;
        if (lane == 0) tma_store<kEvictsFirst>(*to.map, box, kSwapped ? row : at, kSwapped ? at : row, batch);
      } else {
        store<kCount>(some, to, elements);
      }
    }
  }

 private:
  using Element = typename OutElement<kElementBytes>::Type;
  static_assert(kApart == 8 || kApart == 1, "rows as wgmma has them, or transposed");

  /// Returns the rows of the warp's 16 that the lanes with this lane / 4 hold.
  static constexpr int row_of_lane(int group, int which) { return kApart == 8 ? group + which * 8 : group * 2 + which; }

  /// Which elements of C and D a lane's accumulators belong to.
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
    /// Where these elements lie in C and D, with `ld` elements from row to row.
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

  /// Computes alpha * accumulators + bias. A lane has the bias of two rows or, of every 8 columns, of two columns. What
  /// lies outside of D gets no bias.
  template <int kCount>
  static __device__ __forceinline__ void scale_and_shift(float* acc, const Destination& to, const Elements& elements) {
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
      acc[i] = fmaf(to.alpha, acc[i], two.x);
      acc[i + 1] = fmaf(to.alpha, acc[i + 1], kSwapped ? two.x : two.y);
      acc[i + 2] = fmaf(to.alpha, acc[i + 2], kSwapped ? two.y : two.x);
      acc[i + 3] = fmaf(to.alpha, acc[i + 3], two.y);
    }
  }

  template <int kCount>
  static __device__ __forceinline__ void scale(float* acc, const Destination& to, const Elements& elements) {
    if constexpr (kHasBias) scale_and_shift<kCount>(acc, to, elements);
    const float alpha = kHasBias ? 1.0f : to.alpha;
    if (to.beta == 0.0f) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) acc[i] *= alpha;
      return;
    }
    const Element* const c = static_cast<const Element*>(to.c);
    // The asm hides where ld comes from: the compiler would compute the places for every beta, just when results are
    // due.
    long long ld = to.ld;
    asm volatile("" : "+l"(ld));
    const auto places = elements.places(to.stride, ld);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (kHasBias && i % 4 == 0) __syncwarp();  // fewer loads at once: they need registers
      const float old = elements.has(i) ? widened(c[places(i)]) : 0.0f;
      acc[i] = fmaf(to.beta, old, alpha * acc[i]);
    }
  }

  template <int kCount>
  static __device__ __forceinline__ void finish(float* acc, const Destination& to, const Elements& elements) {
    scale<kCount>(acc, to, elements);
#pragma unroll
    for (int i = 0; i < kCount; ++i) acc[i] = activated<kActivation>(acc[i]);
  }

  template <int kCount>
  static __device__ __forceinline__ void store(const float* acc, const Destination& to, const Elements& elements) {
    Element* const d = static_cast<Element*>(to.d);
    const auto places = elements.places(to.stride, to.ld);
    // Two at a time: neighbours of the product's row, or of its column where a lane's rows are neighbours in D.
    constexpr bool kOfColumn = kSwapped && kApart == 1, kNeighbours = !kSwapped || kOfColumn;
#pragma unroll
    for (int pair = 0; pair < kCount / 2; ++pair) {
      const int i = kOfColumn ? pair / 2 * 4 + pair % 2 : pair * 2, j = i + (kOfColumn ? 2 : 1);
      if (!elements.has(i)) continue;
      Element* const first = d + places(i);
      Element* const second = first + (kNeighbours ? 1 : to.ld);
      if constexpr (kElementBytes == 4) {
        if (kPairs && kNeighbours && elements.has(j)) {
          *reinterpret_cast<float2*>(first) = make_float2(acc[i], acc[j]);
        } else {
          *first = acc[i];
          if (elements.has(j)) *second = acc[j];
        }
      } else {
        const unsigned both = pack<kType>(acc[i], acc[j]);
        if (kPairs && kNeighbours && elements.has(j)) {
          *reinterpret_cast<unsigned*>(first) = both;
        } else {
          *first = static_cast<unsigned short>(both);
          if (elements.has(j)) *second = static_cast<unsigned short>(both >> 16);
        }
      }
    }
  }

  /// Writes the accumulators of kSlab columns to the box, with its 16-byte pieces swizzled as TMA expects.
  static __device__ __forceinline__ void fill_box(const float* acc, unsigned box, int lane) {
    if constexpr (kSwapped && kApart == 1) {
      fill_from_columns(acc, box, lane);
    } else if constexpr (kElementBytes == 2) {
      // Four 8 x 8 matrices at once: both halves of the rows, and two times eight columns. Lane i passes the address of
      // line i % 8 of matrix i / 8.
      constexpr int kGroups = kSlab / 8;
#pragma unroll
      for (int group = 0; group < kGroups; group += 2) {
        const int line = kSwapped ? lane / 16 * 8 + lane % 8 + group * 8 : row_of_lane(lane % 8, lane / 8 % 2);
        const int piece = kSwapped ? lane / 8 % 2 : group + lane / 16;
        const unsigned at = box + line * kSpan + ((piece ^ exchanged(line)) << 4);
        const float* const s = acc + group * 4;
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
      static_assert(!kSwapped,
                    "floats are stored directly where the product is swapped and its rows were not transposed");
#pragma unroll
      for (int i = 0; i < kSlab / 2; i += 2) {
        const int line = row_of_lane(lane / 4, i / 2 % 2), piece = i / 4 * 2 + lane % 4 / 2;
        const unsigned at = box + line * kSpan + ((piece ^ exchanged(line)) << 4) + lane % 2 * 8;
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(acc[i]), "f"(acc[i + 1]) : "memory");
      }
    }
  }
  /// The same where a lane's neighbours in D are the two rows that it has of a column.
  static __device__ __forceinline__ void fill_from_columns(const float* acc, unsigned box, int lane) {
#pragma unroll
    for (int pair = 0; pair < kSlab / 4; ++pair) {
      const int i = pair / 2 * 4 + pair % 2;
      const int line = i / 4 * 8 + lane % 4 * 2 + i % 2, at_byte = lane / 4 * 2 * kElementBytes;
      const unsigned at = box + line * kSpan + ((at_byte / 16 ^ exchanged(line)) << 4) + at_byte % 16;
      if constexpr (kElementBytes == 2) {
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(pack<kType>(acc[i], acc[i + 2])) : "memory");
      } else {
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(acc[i]), "f"(acc[i + 2]) : "memory");
      }
    }
  }
  static __device__ __forceinline__ int exchanged(int line) { return line * kSpan / 128 % (kSpan / 16); }
};

}  // namespace pgtune
