// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/operand_buffers.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::uint64_t kStreamsPerCopy = 4;

// Far apart for neighbouring streams, so that their counters never meet.
std::uint64_t stream_seed(std::uint64_t seed, std::size_t copy, std::uint64_t operand) {
  return seed + (copy * kStreamsPerCopy + operand) * 0xd1342543de82ef95ULL;
}

}  // namespace

CudaResult<OperandBuffers> OperandBuffers::allocate(const HelperKernels& kernels, const Problem& problem,
                                                    const Data& data, std::int64_t copies, cudaStream_t stream) {
  OperandBuffers buffers(kernels, problem, data);
  auto memory = DeviceBuffer::allocate(buffers.layout_.copy_bytes * copies);
  if (!memory) return tl::unexpected(memory.error());
  buffers.memory_ = std::move(*memory);
  for (std::size_t i = 0; i < static_cast<std::size_t>(copies); ++i) {
    buffers.copies_.push_back(buffers.layout_.at(buffers.copy_address(i)));
    if (auto ok = buffers.fill(i, stream); !ok) return tl::unexpected(ok.error());
  }
  return buffers;
}

std::uint64_t OperandBuffers::copy_address(std::size_t index) const {
  return memory_.address() + index * static_cast<std::uint64_t>(layout_.copy_bytes);
}

CudaResult<> OperandBuffers::fill(std::size_t index, cudaStream_t stream) const {
  const OperandSet& set = copies_[index];
  const Problem& p = problem_;
  if (auto ok = kernels_->fill_pattern({copy_address(index), layout_.copy_bytes}, kPoison, stream); !ok) return ok;
  const auto seed = [&](std::uint64_t operand) { return stream_seed(data_.seed, index, operand); };
  if (auto ok = fill_matrix(set.a, type_of_a(p.dtype), p.rows_a() * p.batch, p.columns_a(), p.lda, seed(0), stream);
      !ok)
    return ok;
  if (auto ok = fill_matrix(set.b, type_of_b(p.dtype), p.rows_b() * p.batch, p.columns_b(), p.ldb, seed(1), stream);
      !ok)
    return ok;
  if (p.epilogue.bias) {
    if (auto ok = fill_matrix(set.bias, p.type_of_c(), 1, p.n, p.n, seed(3), stream); !ok) return ok;
  }
  if (p.beta == 0) return {};
  return fill_matrix(set.c, p.type_of_c(), p.m * p.batch, p.n, p.ldc, seed(2), stream);
}

CudaResult<> OperandBuffers::fill_matrix(const DeviceSpan& matrix, ElementType type, std::int64_t rows,
                                         std::int64_t columns, std::int64_t ld, std::uint64_t seed,
                                         cudaStream_t stream) const {
  return kernels_->fill_data(matrix.address, type, rows, columns, ld, data_.distribution, seed, stream);
}

CudaResult<> OperandBuffers::poison(std::size_t index, cudaStream_t stream) const {
  if (auto ok = kernels_->fill_pattern(copies_[index].d, kPoison, stream); !ok) return ok;
  for (const DeviceSpan& guard : guards(index)) {
    if (auto ok = kernels_->fill_pattern(guard, kPoison, stream); !ok) return ok;
  }
  return {};
}

std::vector<DeviceSpan> OperandBuffers::guards(std::size_t index) const {
  std::vector<DeviceSpan> spans;
  for (const GuardZone& zone : layout_.guards) {
    spans.push_back({copy_address(index) + static_cast<std::uint64_t>(zone.extent.offset), zone.extent.bytes});
  }
  return spans;
}

}  // namespace pgtune::gpu
