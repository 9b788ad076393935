// SPDX-License-Identifier: MIT
// The kernels of kernels.cu as functions. All of them only enqueue.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/kernel_table.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

/// Two for each buffer of an operation, and the workspace's.
inline constexpr std::size_t kMaxGuards = 2 * kMaxBuffers + 4;

class HelperKernels {
 public:
  /// Compiles kernels.cu for `architecture` and loads it. `driver` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<HelperKernels>> load(const Driver& driver,
                                                                   const std::string& architecture, int sm_count);
  /// The two halves of load(): the first needs no GPU and may run in a thread of its own.
  [[nodiscard]] static Result<std::string> compile(const std::string& architecture);
  [[nodiscard]] static Result<std::unique_ptr<HelperKernels>> load_cubin(const Driver& driver, const std::string& cubin,
                                                                         int sm_count);

  /// The pattern lies at addresses that are multiples of four, wherever the span begins and ends.
  [[nodiscard]] CudaResult<> fill_pattern(const DeviceSpan& span, std::uint32_t pattern, cudaStream_t stream) const;
  /// Matrices of bytes, `batch` of `rows` x `columns`, to another place and other strides: elements of one byte in any
  /// order, wider ones where both are stored row by row. `to` has column stride 1.
  struct ByteMatrix {
    std::uint64_t address = 0;
    std::int64_t row_stride = 0, column_stride = 0, batch_stride = 0;
  };
  [[nodiscard]] CudaResult<> copy_matrix(const ByteMatrix& from, const ByteMatrix& to, std::int64_t rows,
                                         std::int64_t columns, std::int64_t batch, cudaStream_t stream) const;
  /// Adds the checksum of `span`, which starts at a word, to the 64-bit word at `sum`.
  [[nodiscard]] CudaResult<> checksum(const DeviceSpan& span, std::uint64_t sum, cudaStream_t stream) const;
  /// Adds the number of bytes of guard i that differ from the pattern to word i at `changed`.
  [[nodiscard]] CudaResult<> count_changed_bytes(std::span<const DeviceSpan> guards, std::uint32_t pattern,
                                                 std::uint64_t changed, cudaStream_t stream) const;
  /// Values of a buffer, of its own fill, rounded to nearest, or as DataDistribution says of integers; equal seeds give
  /// equal data whatever the strides. Not those of kKernel, kLinked and kPointers.
  [[nodiscard]] CudaResult<> fill_tensor(std::uint64_t memory, const OperationBuffer& buffer,
                                         DataDistribution distribution, std::uint64_t seed, cudaStream_t stream) const;
  /// An array of pointers, into the buffer that begins at `into`.
  [[nodiscard]] CudaResult<> fill_pointers(std::uint64_t memory, const OperationBuffer& array, std::uint64_t into,
                                           cudaStream_t stream) const;
  /// Adds the checksum of where in the buffer at `into` the pointers of `array` lead to the 64-bit word at `sum`.
  [[nodiscard]] CudaResult<> checksum_pointers(const DeviceSpan& array, std::uint64_t into, std::uint64_t sum,
                                               cudaStream_t stream) const;
  /// Into the Comparison at `out`, which the caller has initialised. `result` (double) and `scale` (float) are packed;
  /// `first`: how many elements of other outputs they have before this one's.
  [[nodiscard]] CudaResult<> compare_tensor(std::uint64_t memory, const OperationBuffer& buffer, std::uint64_t result,
                                            std::uint64_t scale, std::int64_t first, std::uint32_t pattern,
                                            std::uint64_t out, cudaStream_t stream) const;
  /// Adds the checksum of the elements whose scale is not negative, padding left out, to the 64-bit word at `sum`.
  [[nodiscard]] CudaResult<> sum_tensor(std::uint64_t memory, const OperationBuffer& buffer, std::uint64_t scale,
                                        std::int64_t first, std::uint64_t sum, cudaStream_t stream) const;
  /// The right values, rounded, each `shift` elements further on; zeros instead where `zero`.
  [[nodiscard]] CudaResult<> store_result(std::uint64_t memory, const OperationBuffer& buffer, std::uint64_t result,
                                          std::int64_t first, std::int64_t shift, bool zero, cudaStream_t stream) const;
  /// Zeroes a sixteenth of the elements: pieces of neighbours all over the buffer, the first element's too.
  [[nodiscard]] CudaResult<> clear_pieces(std::uint64_t memory, const OperationBuffer& buffer,
                                          cudaStream_t stream) const;
  /// Adds the number of float64 values whose bits are all set to the 64-bit word at `unwritten`.
  [[nodiscard]] CudaResult<> count_unwritten(std::uint64_t values, std::int64_t count, std::uint64_t unwritten,
                                             cudaStream_t stream) const;
  /// How a copy is made, for the roof of memory.
  enum class Copy { kTwoWords, kFourWords, kFourStreaming, kEightStreaming };
  static constexpr int kCopies = 4;
  /// Whole words of 16 bytes, from and to multiples of it.
  [[nodiscard]] CudaResult<> copy_words(Copy copy, std::uint64_t from, std::uint64_t to, std::int64_t bytes,
                                        cudaStream_t stream) const;
  /// Writes the whole words of `span`, which starts at one, as they are.
  [[nodiscard]] CudaResult<> rewrite(const DeviceSpan& span, cudaStream_t stream) const;
  /// Keeps the stream, and one multiprocessor, for that long: what is enqueued meanwhile then runs without a gap.
  [[nodiscard]] CudaResult<> hold(std::chrono::nanoseconds duration, cudaStream_t stream) const;
  /// Into sm_count pairs (nanoseconds, clocks) at `entries`.
  [[nodiscard]] CudaResult<> read_clocks(std::uint64_t entries, cudaStream_t stream) const;

 private:
  enum Kernel {
    kFillPattern,
    kCopyMatrix,
    kChecksum,
    kCountChangedBytes,
    kReadClocks,
    kRewrite,
    kHold,
    kFillTensor,
    kFillPointers,
    kChecksumPointers,
    kCompareTensor,
    kSumTensor,
    kStoreResult,
    kClearPieces,
    kCountUnwritten,
    kCopyTwo,
    kCopyFour,
    kCopyFourStreaming,
    kCopyEightStreaming,
    kCount
  };

  HelperKernels(KernelTable<kCount> kernels, int sm_count) : kernels_(std::move(kernels)), sm_count_(sm_count) {}
  template <typename... Arguments>
  [[nodiscard]] CudaResult<> launch(Kernel kernel, std::int64_t grid_x, std::int64_t grid_y, cudaStream_t stream,
                                    Arguments... arguments) const;
  [[nodiscard]] std::int64_t grid_for(std::int64_t blocks) const;

  KernelTable<kCount> kernels_;
  int sm_count_;
};

}  // namespace pgtune::gpu
