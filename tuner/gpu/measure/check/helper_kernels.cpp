// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/helper_kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "pgtune_measure_kernels.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::array kHelperSymbols{"fill_pattern",
                                    "copy_matrix",
                                    "checksum",
                                    "count_changed_bytes",
                                    "read_clocks",
                                    "rewrite",
                                    "hold",
                                    "fill_tensor",
                                    "fill_pointers",
                                    "checksum_pointers",
                                    "compare_tensor",
                                    "sum_tensor",
                                    "store_result",
                                    "clear_pieces",
                                    "count_unwritten",
                                    "copy_words2",
                                    "copy_words4",
                                    "copy_words4_streaming",
                                    "copy_words8_streaming"};
constexpr unsigned kThreads = 256;  // every kernel of kernels.cu
constexpr std::int64_t kBlocksPerSm = 8;
constexpr std::int64_t kCopyTile = 32;
constexpr std::int64_t kMaxGridY = 65535;

/// Layout of Guards in kernels/spans.cuh.
struct Guards {
  std::array<std::uint64_t, kMaxGuards> first;
  std::array<std::int64_t, kMaxGuards> bytes;
};
static_assert(sizeof(Guards) == 2 * 36 * 8);

/// Blocks whose threads take a word each.
std::int64_t word_blocks(const DeviceSpan& span) { return span.bytes / 4 / kThreads; }

}  // namespace

Result<std::string> HelperKernels::compile(const std::string& architecture) {
  return compile_own_kernels(embedded::pgtune_measure_kernels(), architecture);
}

Result<std::unique_ptr<HelperKernels>> HelperKernels::load(const Driver& driver, const std::string& architecture,
                                                           int sm_count) {
  TRY_ASSIGN(const auto cubin, compile(architecture));
  return load_cubin(driver, cubin, sm_count);
}

Result<std::unique_ptr<HelperKernels>> HelperKernels::load_cubin(const Driver& driver, const std::string& cubin,
                                                                 int sm_count) {
  auto kernels = KernelTable<kCount>::load(driver, cubin, kHelperSymbols, "pgtune's");
  if (!kernels) return tl::unexpected(to_error(kernels.error()));
  return std::unique_ptr<HelperKernels>(new HelperKernels(std::move(*kernels), sm_count));
}

template <typename... Arguments>
CudaResult<> HelperKernels::launch(Kernel kernel, std::int64_t grid_x, std::int64_t grid_y, cudaStream_t stream,
                                   Arguments... arguments) const {
  return kernels_.launch(kernel, {grid_x, grid_y}, {kThreads}, stream, arguments...);
}

std::int64_t HelperKernels::grid_for(std::int64_t blocks) const {
  return std::clamp<std::int64_t>(blocks, 1, kBlocksPerSm * sm_count_);
}

CudaResult<> HelperKernels::fill_pattern(const DeviceSpan& span, std::uint32_t pattern, cudaStream_t stream) const {
  return launch(kFillPattern, grid_for(word_blocks(span)), 1, stream, span.address, span.bytes, pattern);
}

CudaResult<> HelperKernels::copy_matrix(const ByteMatrix& from, const ByteMatrix& to, std::int64_t rows,
                                        std::int64_t columns, std::int64_t batch, cudaStream_t stream) const {
  const std::int64_t tiles = ((rows + kCopyTile - 1) / kCopyTile) * ((columns + kCopyTile - 1) / kCopyTile);
  return launch(kCopyMatrix, tiles, std::min(batch, kMaxGridY), stream, from, to, rows, columns, batch);
}

CudaResult<> HelperKernels::checksum(const DeviceSpan& span, std::uint64_t sum, cudaStream_t stream) const {
  return launch(kChecksum, grid_for(word_blocks(span)), 1, stream, span.address, span.bytes, sum);
}

CudaResult<> HelperKernels::count_changed_bytes(std::span<const DeviceSpan> guards, std::uint32_t pattern,
                                                std::uint64_t changed, cudaStream_t stream) const {
  Guards argument{};
  for (std::size_t i = 0; i < guards.size(); ++i) {
    argument.first.at(i) = guards[i].address;
    argument.bytes.at(i) = guards[i].bytes;
  }
  constexpr std::int64_t kColumn = 32;
  return launch(kCountChangedBytes, static_cast<std::int64_t>(guards.size()), kColumn, stream, argument, pattern,
                changed);
}

CudaResult<> HelperKernels::fill_tensor(std::uint64_t memory, const OperationBuffer& buffer,
                                        DataDistribution distribution, std::uint64_t seed, cudaStream_t stream) const {
  const Tensor tensor = tensor_of(buffer);
  return launch(kFillTensor, grid_for(tensor.stored / kThreads), 1, stream, memory, tensor,
                static_cast<std::int32_t>(buffer.fill), buffer.first, buffer.second, seed,
                static_cast<std::int32_t>(distribution), static_cast<float>(traits(buffer.type).data_range));
}

CudaResult<> HelperKernels::fill_pointers(std::uint64_t memory, const OperationBuffer& array, std::uint64_t into,
                                          cudaStream_t stream) const {
  for (const auto& [runs, batch] : pointer_batches(array, into)) {
    if (auto ok = launch(kFillPointers, runs, 1, stream, memory, batch); !ok) return ok;
  }
  return {};
}

CudaResult<> HelperKernels::checksum_pointers(const DeviceSpan& array, std::uint64_t into, std::uint64_t sum,
                                              cudaStream_t stream) const {
  const std::int64_t count = array.bytes / kPointerBytes;
  return launch(kChecksumPointers, grid_for(count / kThreads), 1, stream, array.address, count, into, sum);
}

CudaResult<> HelperKernels::compare_tensor(std::uint64_t memory, const OperationBuffer& buffer, std::uint64_t result,
                                           std::uint64_t scale, std::int64_t first, std::uint32_t pattern,
                                           std::uint64_t out, cudaStream_t stream) const {
  const Tensor tensor = tensor_of(buffer);
  return launch(kCompareTensor, grid_for(tensor.stored / kThreads), 1, stream, memory, tensor, result, scale, first,
                error_bound(buffer), kNotFiniteRatio, pattern, out);
}

CudaResult<> HelperKernels::sum_tensor(std::uint64_t memory, const OperationBuffer& buffer, std::uint64_t scale,
                                       std::int64_t first, std::uint64_t sum, cudaStream_t stream) const {
  const Tensor tensor = tensor_of(buffer);
  return launch(kSumTensor, grid_for(tensor.stored / kThreads), 1, stream, memory, tensor, scale, first, sum);
}

CudaResult<> HelperKernels::store_result(std::uint64_t memory, const OperationBuffer& buffer, std::uint64_t result,
                                         std::int64_t first, std::int64_t shift, bool zero, cudaStream_t stream) const {
  const Tensor tensor = tensor_of(buffer);
  return launch(kStoreResult, grid_for(tensor.stored / kThreads), 1, stream, memory, tensor, result, first,
                buffer.elements(), shift, std::int32_t{zero});
}

CudaResult<> HelperKernels::clear_pieces(std::uint64_t memory, const OperationBuffer& buffer,
                                         cudaStream_t stream) const {
  constexpr std::int64_t kPieces = 16, kLargest = 64;
  const Tensor tensor = tensor_of(buffer);
  const std::int64_t piece = std::clamp<std::int64_t>(buffer.elements() / kPieces, 1, kLargest);
  return launch(kClearPieces, grid_for(tensor.stored / kThreads), 1, stream, memory, tensor, piece);
}

CudaResult<> HelperKernels::count_unwritten(std::uint64_t values, std::int64_t count, std::uint64_t unwritten,
                                            cudaStream_t stream) const {
  return launch(kCountUnwritten, grid_for(count / kThreads), 1, stream, values, count, unwritten);
}

CudaResult<> HelperKernels::copy_words(Copy copy, std::uint64_t from, std::uint64_t to, std::int64_t bytes,
                                       cudaStream_t stream) const {
  constexpr std::array<std::pair<Kernel, std::int64_t>, kCopies> kCopying{
      {{kCopyTwo, 2}, {kCopyFour, 4}, {kCopyFourStreaming, 4}, {kCopyEightStreaming, 8}}};
  constexpr std::int64_t kWordBytes = 16;
  const auto& [kernel, in_flight] = kCopying.at(static_cast<std::size_t>(copy));
  const std::int64_t words = bytes / kWordBytes, piece = kThreads * in_flight;
  return launch(kernel, std::max<std::int64_t>((words + piece - 1) / piece, 1), 1, stream, from, to, words);
}

CudaResult<> HelperKernels::rewrite(const DeviceSpan& span, cudaStream_t stream) const {
  return launch(kRewrite, grid_for(word_blocks(span)), 1, stream, span.address, span.bytes);
}

CudaResult<> HelperKernels::hold(std::chrono::nanoseconds duration, cudaStream_t stream) const {
  return launch(kHold, 1, 1, stream, static_cast<std::uint64_t>(duration.count()));
}

CudaResult<> HelperKernels::read_clocks(std::uint64_t entries, cudaStream_t stream) const {
  // More CTAs than SMs, so that few SMs are left out.
  return launch(kReadClocks, 2 * static_cast<std::int64_t>(sm_count_), 1, stream, entries);
}

}  // namespace pgtune::gpu
