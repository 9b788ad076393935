// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/chain_snapshots.hpp"

#include <algorithm>
#include <utility>

namespace pgtune::gpu {

CudaResult<ChainSnapshots> ChainSnapshots::allocate(const Chain& chain, const ChainMemory& memory) {
  ChainSnapshots out(chain, memory);
  out.copies_.push_back(0);
  if (memory.copies() > 1) out.copies_.push_back(memory.copies() - 1);
  for (const std::size_t copy : out.copies_) {
    for (std::size_t step = 0; step < chain.steps.size(); ++step) {
      for (const std::int64_t place : chain.steps[step].buffers) {
        const auto buffer = static_cast<std::size_t>(place);
        if (!chain.changes_in_place(step, buffer)) continue;
        auto room = DeviceBuffer::allocate(chain.buffers[buffer].bytes);
        if (!room) return tl::unexpected(room.error());
        out.kept_.push_back({copy, step, buffer, std::move(*room)});
      }
    }
  }
  return out;
}

CudaResult<> ChainSnapshots::keep(std::size_t copy, std::size_t step, cudaStream_t stream) const {
  for (const Kept& kept : kept_) {
    if (kept.copy != copy || kept.step != step) continue;
    const DeviceSpan from = memory_->span(copy, kept.buffer);
    auto ok = check(cudaMemcpyAsync(kept.memory.data(), device_pointer(from.address),
                                    static_cast<std::size_t>(from.bytes), cudaMemcpyDeviceToDevice, stream),
                    "keeping what a step changes in place");
    if (!ok) return ok;
  }
  return {};
}

DeviceSpan ChainSnapshots::span(std::size_t copy, std::size_t buffer, std::optional<std::size_t> changed_by) const {
  if (!changed_by) return memory_->span(copy, buffer);
  const auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& candidate) {
    return candidate.copy == copy && candidate.step == *changed_by && candidate.buffer == buffer;
  });
  return {kept->memory.address(), kept->memory.bytes()};
}

OperandSet ChainSnapshots::found(std::size_t copy, std::size_t step) const {
  std::vector<DeviceSpan> spans;
  for (const std::int64_t place : chain_->steps[step].buffers) {
    const auto buffer = static_cast<std::size_t>(place);
    spans.push_back(
        span(copy, buffer,
             chain_->changes_in_place(step, buffer) ? std::optional(step) : chain_->next_change(buffer, step)));
  }
  return operand_set(chain_->steps[step], spans);
}

OperandSet ChainSnapshots::left(std::size_t copy, std::size_t step) const {
  std::vector<DeviceSpan> spans;
  for (const std::int64_t place : chain_->steps[step].buffers) {
    const auto buffer = static_cast<std::size_t>(place);
    spans.push_back(span(copy, buffer, chain_->next_change(buffer, step)));
  }
  return operand_set(chain_->steps[step], spans);
}

}  // namespace pgtune::gpu
