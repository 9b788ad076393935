// SPDX-License-Identifier: MIT
// The epilogue of gemm_wgmma: stores D = activation(alpha * accumulators + beta * C + bias). Integers have no bias and
// no activation, and whole numbers for alpha and beta. Each warp owns 16 rows of the product and stores them by itself,
// without a barrier, so that warps that are done go on with the next tile while TMA empties their buffers. Where the
// product's rows are columns of D, 16 of them are a quarter of a line of 64 elements: if these have 16 bits, the warps
// of a warpgroup fill boxes for TMA together.
//
// C, where it is read and TMA stores D, passes through the same buffers: copies of it start while the tile is still
// being multiplied (start_c()), and each box of D overwrites the box of C that it was computed from.
//
// Rows of D that TMA cannot write take the same way: a warp stores each line of its box by itself, neighbouring lanes
// neighbouring words, wherever the line starts. Lanes that stored what they hold would write parts of eight lines at
// once, a few bytes of each.
//
// Of every 8 columns a lane holds two neighbours in row lane / 4 and two in the row 8 below; where the left operand
// came from registers (wgmma_register_consumer.cuh) it holds two in row lane / 4 * 2 and two in the next.
#pragma once

#include "device/epilogue/fused_epilogue.cuh"
#include "device/epilogue/out_element.cuh"
#include "device/epilogue/staged_lines.cuh"
#include "device/epilogue/wgmma_box.cuh"
#include "device/ptx/accumulator.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/ptx/tma.cuh"

namespace pgtune {

/// How D is stored: from boxes in shared memory by TMA or by the warp that filled them, or from registers.
enum class Store { kByTma, kStaged, kDirect };

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
/// once. kCopiesC: start_c() is called for each tile. kEvictsFirst: L2 evicts D first.
/// kParts: how many times 64 rows of the product a warp stores 16 of. kLines, kSpan: lines of a box in shared memory,
/// and their bytes, as many as the swizzle of D's map. kLinesAtOnce: of a TMA store; it divides every box, also a
/// shorter last one. kApart: how far a lane's two rows are from each other, 8 or 1.
template <bool kSwapped, int kElementBytes, Type16 kType, bool kPairs, bool kCopiesC, bool kEvictsFirst, int kParts,
          int kColumns, int kLines, int kLinesAtOnce, int kSpan, int kBuffers, int kApart>
struct WgmmaOutput {
  using Box = WgmmaBox<kSwapped, kElementBytes, kType, kLines, kSpan, kApart>;
  static constexpr int kSlab = Box::kSlab;
  static constexpr int kBytes = kBuffers * Box::kBytes / Box::kWarps;  ///< of shared memory, for each warp

  /// Starts copying C into the warp's part of its buffers, as many boxes of it as there are buffers, for a tile of
  /// kParts times 16 rows from `row` on, 64 apart, and kColumns columns from `column` on. TMA may still be reading the
  /// boxes of the tile before. `buffers` are those of the CTA. Whole warpgroups call it, for a tile that
  /// write<kByTma>() stores next; it does nothing where beta is 0.
  static __device__ __forceinline__ void start_c(const Destination& to, int row, int column, int batch,
                                                 unsigned buffers, int warp) {
    if (to.beta == 0.0f) return;
    wait_until_read<0>(warp);
#pragma unroll
    for (int number = 0; number < kBuffers; ++number)
      copy_c(to, row, column, batch, buffers_of_warp(buffers, warp), number);
  }

  /// Stores the accumulators of the warp's 16 rows and of kColumns columns, from `row` and `column` of the product on.
  /// `part`, a compile-time constant after unrolling, says how often this tile has been stored from before. Whole
  /// warpgroups call it.
  template <Store kStore>
  static __device__ __forceinline__ void write(Accumulator (&acc)[kColumns / 2], const Destination& to, int row,
                                               int column, int batch, unsigned buffers, int warp, int part) {
    constexpr int kStep = kStore != Store::kDirect ? kSlab : kColumns % 16 == 0 ? 16 : 8;
    constexpr int kWhole = kColumns / kStep, kRest = kColumns % kStep, kSteps = kWhole + (kRest > 0);
    static_assert(kStore == Store::kDirect || kSwapped || kRest == 0, "boxes of rows are whole");
    const unsigned of_warp = buffers_of_warp(buffers, warp);
#pragma unroll
    for (int step = 0; step < kWhole; ++step)
      write_box<kStore, kStep>(acc + step * kStep / 2, to, row, column, batch, of_warp, warp, part,
                               part * kSteps + step, step * kStep);
    if constexpr (kRest > 0)
      write_box<kStore, kRest>(acc + kWhole * kStep / 2, to, row, column, batch, of_warp, warp, part,
                               part * kSteps + kWhole, kWhole * kStep);
  }

 private:
  using Element = typename OutElement<kElementBytes, Accumulator>::Type;
  static constexpr int kBoxesOfPart = (kColumns + kSlab - 1) / kSlab;
  static constexpr int kBoxes = kParts * kBoxesOfPart;  ///< of a warp's tile
  static_assert(kLines % kLinesAtOnce == 0, "D's map has boxes of one size");

  static __device__ __forceinline__ unsigned buffers_of_warp(unsigned buffers, int warp) {
    return Box::part_of_warp(buffers + warp / Box::kWarps * (kBytes * Box::kWarps), warp);
  }
  /// Whether this thread is the one that stores its warp's boxes, and waits for TMA to have read them.
  static __device__ __forceinline__ bool stores(int warp) { return warp % Box::kWarps == 0 && lane_index() == 0; }
  /// Synchronises the warps that share boxes.
  static __device__ __forceinline__ void sync(int warp) {
    if constexpr (Box::kWarps == 1) {
      __syncwarp();
    } else {
      named_barrier_sync<32 * Box::kWarps>(1 + warp / Box::kWarps);
    }
  }

  /// Waits until TMA has read all but the last kPending boxes that it was told to store for these warps.
  template <int kPending>
  static __device__ __forceinline__ void wait_until_read(int warp) {
    if (stores(warp)) tma_store_wait_read<kPending>();
    sync(warp);
  }

  /// Stores kStep columns from `column` + `first` on, through the tile's box of this number.
  template <Store kStore, int kStep>
  static __device__ __forceinline__ void write_box(Accumulator* acc, const Destination& to, int row, int column,
                                                   int batch, unsigned buffers, int warp, int part, int number,
                                                   int first) {
    constexpr bool kByTma = kStore == Store::kByTma;
    constexpr int kCount = kStep / 2;
    const int lane = lane_index();
    const unsigned box = buffers + number % kBuffers * Box::kBytes;
    const Elements elements(to, row + Box::row_of_lane(lane / 4, 0), column + first + lane % 4 * 2, batch);
    finish<kCount, kByTma && kCopiesC>(acc, to, elements, box);
    if constexpr (kByTma) {
      // TMA has read the boxes of the tile before long since.
      if (number == 0) {
        wait_until_read<0>(warp);
      } else {
        wait_until_read<kBuffers - 1>(warp);
      }
      Box::template fill<kStep>(acc, box, lane);
      fence_proxy_async();
      sync(warp);
      if (stores(warp)) {
        const int at = column + first;
#pragma unroll
        for (int line = 0; line < (kSwapped ? kStep : kLines); line += kLinesAtOnce)
          tma_store<kEvictsFirst>(*to.map, box + line * kSpan, kSwapped ? row : at, kSwapped ? at + line : row, batch);
        tma_store_commit();
      }
      if constexpr (kCopiesC) {
        if (number + kBuffers < kBoxes && to.beta != 0.0f) wait_until_read<0>(warp);
        copy_c(to, row - part * 64, column, batch, buffers, number + kBuffers);
      }
    } else if constexpr (kStore == Store::kStaged) {
      static_assert(kBuffers > 1, "a box is filled while lanes may still read the one before");
      if (number == 0) __syncwarp();  // of the tile before
      Box::template fill<kStep>(acc, box, lane);
      __syncwarp();
      const int line = kSwapped ? column + first : row, element = kSwapped ? row : column + first;
      const int lines_left = to.rows - line;
      // As much as leaves registers for the accumulators.
      constexpr int kAccumulators = kParts * kColumns / 2, kUnrolled = kAccumulators <= 64    ? 16
                                                                       : kAccumulators <= 128 ? 4
                                                                                              : 2;
      StagedLines<Box>::template store_lines<kPairs, kUnrolled>(
          static_cast<Element*>(to.d) + batch * to.stride + line * to.ld + element, to.ld,
          kSwapped && lines_left > kStep ? kStep : lines_left, to.columns - element, box, lane);
    } else {
      store<kCount>(acc, to, elements);
    }
  }

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

  static __device__ __forceinline__ Accumulator widened(const Element& element) {
    if constexpr (kElementBytes == 4) {
      return element;
    } else {
      return widen<kType>(element);
    }
  }

  /// Computes alpha * accumulators + bias. A lane has the bias of two rows or, of every 8 columns, of two columns. What
  /// lies outside of D gets no bias.
  template <int kCount>
  static __device__ __forceinline__ void scale_and_shift(Accumulator* acc, const Destination& to,
                                                         const Elements& elements) {
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

  /// Starts copying C's part of a tile's box to the box's buffer, in a group of its own, which is empty where beta is 0
  /// or the tile has no such box.
  static __device__ __forceinline__ void copy_c(const Destination& to, int row, int column, int batch, unsigned buffers,
                                                int number) {
    if (number < kBoxes && to.beta != 0.0f) {
      const int first = number % kBoxesOfPart * kSlab;
      const int box_row = row + number / kBoxesOfPart * 64, box_column = column + first;
      const int line = kSwapped ? box_column : box_row, element = kSwapped ? box_row : box_column;
      const int lines_left = to.rows - line, columns_left = kColumns - first;
      Box::each_piece(static_cast<const Element*>(to.c) + batch * to.stride + line * to.ld + element, to.ld,
                      kSwapped && lines_left > columns_left ? columns_left : lines_left, to.columns - element,
                      buffers + number % kBuffers * Box::kBytes, lane_index(),
                      [](unsigned place, const typename Box::Element* from_c, bool exists) {
                        cp_async<16, true>(place, reinterpret_cast<const float*>(from_c), exists);
                      });
    }
    cp_async_commit();
  }

  /// Computes alpha * accumulators + beta * C + bias. kCopied: C's part is in `box`, where beta is not 0.
  template <int kCount, bool kCopied>
  static __device__ __forceinline__ void scale(Accumulator* acc, const Destination& to, const Elements& elements,
                                               unsigned box) {
    if constexpr (kHasBias) scale_and_shift<kCount>(acc, to, elements);
    const auto alpha = static_cast<Accumulator>(kHasBias ? 1.0f : to.alpha), beta = static_cast<Accumulator>(to.beta);
    if (kCopied || to.beta == 0.0f) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) acc[i] *= alpha;
      if constexpr (kCopied) {
        if (to.beta == 0.0f) return;
        cp_async_wait<kBuffers - 1>();
        __syncwarp();
        Box::template add<2 * kCount>(acc, beta, box, lane_index());
      }
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
      const Accumulator old = elements.has(i) ? widened(c[places(i)]) : Accumulator{};
      acc[i] = multiply_add(beta, old, alpha * acc[i]);
    }
  }

  template <int kCount, bool kCopied>
  static __device__ __forceinline__ void finish(Accumulator* acc, const Destination& to, const Elements& elements,
                                                unsigned box) {
    scale<kCount, kCopied>(acc, to, elements, box);
    if constexpr (kActivation != Activation::kNone) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) acc[i] = activated<kActivation>(acc[i]);
    }
  }

  template <int kCount>
  static __device__ __forceinline__ void store(const Accumulator* acc, const Destination& to,
                                               const Elements& elements) {
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
          *reinterpret_cast<TwoAccumulators*>(first) = {acc[i], acc[j]};
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
};

}  // namespace pgtune
