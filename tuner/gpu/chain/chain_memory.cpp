// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/chain_memory.hpp"

#include <utility>

#include "tuner/gpu/measure/check/operand_layout.hpp"

namespace pgtune::gpu {
namespace {

/// Buffers begin as those of a problem do, with room between them.
std::int64_t placed_bytes(std::int64_t bytes) {
  return (bytes + kGuardBytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

}  // namespace

std::int64_t ChainMemory::copy_bytes(const Chain& chain) {
  std::int64_t sum = 0;
  for (const ChainBuffer& buffer : chain.buffers) sum += placed_bytes(buffer.bytes);
  return sum;
}

CudaResult<ChainMemory> ChainMemory::allocate(const HelperKernels& kernels, const Chain& chain, std::int64_t copies) {
  ChainMemory out(kernels);
  for (std::size_t i = 0; i < chain.buffers.size(); ++i) {
    out.offsets_.push_back(out.copy_bytes_);
    out.bytes_.push_back(chain.buffers[i].bytes);
    out.copy_bytes_ += placed_bytes(chain.buffers[i].bytes);
    if (chain.writer(i)) out.results_.push_back(i);
  }
  auto memory = DeviceBuffer::allocate(out.copy_bytes_ * copies);
  if (!memory) return tl::unexpected(memory.error());
  out.memory_ = std::move(*memory);
  out.copies_ = static_cast<std::size_t>(copies);
  return out;
}

DeviceSpan ChainMemory::span(std::size_t copy, std::size_t buffer) const {
  const std::uint64_t first = memory_.address() + copy * static_cast<std::uint64_t>(copy_bytes_);
  return {first + static_cast<std::uint64_t>(offsets_[buffer]), bytes_[buffer]};
}

OperandSet operand_set(const ChainStep& step, const std::vector<DeviceSpan>& spans) {
  const std::vector<ProblemOperand> operands = operands_of(step.problem);
  OperandSet set;
  set.buffers.resize(step.problem.operation->buffers.size());
  for (std::size_t i = 0; i < operands.size(); ++i) set[operands[i].operand] = spans[i];
  put_in_place_of_absent(*step.problem.operation, set.buffers);
  return set;
}

OperandSet ChainMemory::operands(std::size_t copy, const ChainStep& step) const {
  std::vector<DeviceSpan> spans;
  for (const std::int64_t buffer : step.buffers) spans.push_back(span(copy, static_cast<std::size_t>(buffer)));
  return operand_set(step, spans);
}

std::vector<OperandSet> ChainMemory::places(const ChainStep& step) const {
  std::vector<OperandSet> out;
  for (std::size_t copy = 0; copy < copies_; ++copy) out.push_back(operands(copy, step));
  return out;
}

CudaResult<> ChainMemory::poison_results(std::size_t copy, cudaStream_t stream) const {
  for (const std::size_t buffer : results_) {
    if (auto ok = kernels_->fill_pattern(span(copy, buffer), kPoison, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> ChainMemory::poison_all(std::size_t copy, cudaStream_t stream) const {
  for (std::size_t buffer = 0; buffer < offsets_.size(); ++buffer) {
    if (auto ok = kernels_->fill_pattern(span(copy, buffer), kPoison, stream); !ok) return ok;
  }
  return {};
}

std::vector<DeviceSpan> spans_of(const OperandSet& set, const std::vector<ProblemOperand>& operands) {
  std::vector<DeviceSpan> out;
  for (const ProblemOperand& operand : operands) out.push_back(set[operand.operand]);
  return out;
}

}  // namespace pgtune::gpu
