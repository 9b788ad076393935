// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/operand_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tuner/gpu/measure/check/tensors.hpp"

namespace pgtune::gpu {
namespace {

// Far apart for neighbouring copies, so that their counters never meet.
std::uint64_t copy_seed(std::uint64_t seed, std::size_t copy) { return seed + copy * kFillStreams * kStreamStep; }

}  // namespace

CudaResult<OperandBuffers> OperandBuffers::allocate(const HelperKernels& kernels, const OperationKernels& operation,
                                                    const Data& data, std::int64_t copies, cudaStream_t stream) {
  OperandBuffers buffers(kernels, operation, data);
  TRY_ASSIGN(auto memory, DeviceBuffer::allocate(buffers.layout_.copy_bytes * copies));
  buffers.memory_ = std::move(memory);
  for (std::size_t i = 0; i < static_cast<std::size_t>(copies); ++i) {
    buffers.copies_.push_back(buffers.layout_.at(buffers.copy_address(i)));
    const std::string filling = fmt::format("filling the buffers of the operation '{}'", operation.operation().name);
    auto filled = buffers.fill(i, stream).and_then([&] { return check(cudaStreamSynchronize(stream), filling); });
    if (filled) continue;
    // A fault of the operation's kernel would be reported by the next launch or wait.
    CudaFailure failure = filled.error();
    if (is_kernel_fault(failure.code)) failure.call = filling;
    return tl::unexpected(std::move(failure));
  }
  return buffers;
}

std::uint64_t OperandBuffers::copy_address(std::size_t index) const {
  return memory_.address() + index * static_cast<std::uint64_t>(layout_.copy_bytes);
}

CudaResult<> OperandBuffers::add_guarded_places(const Driver& driver) {
  std::vector<Guarded> guarded;
  const OperationProblem& operation = operation_->operation();
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    const OperationBuffer& buffer = operation.buffers[i];
    if (buffer.absent) continue;
    // pgtune's own kernels take buffers by words.
    const std::int64_t alignment = std::max<std::int64_t>(buffer.alignment, sizeof(kPoison));
    TRY_ASSIGN(auto memory, GuardedMemory::allocate(driver, buffer.bytes(), alignment));
    guarded.push_back({buffer.title(), buffer.is_output(), i, std::move(memory)});
  }
  for (std::size_t i = 0; i < kGuardedPlaces.size(); ++i) {
    std::vector<DeviceSpan>& places = guarded_sets_.at(i).buffers;
    places.assign(operation.buffers.size(), {});
    for (const Guarded& buffer : guarded) places[buffer.buffer] = buffer.memory.at(kGuardedPlaces.at(i));
    put_in_place_of_absent(operation, places);
  }
  guarded_ = std::move(guarded);
  return {};
}

std::vector<OperandSet> OperandBuffers::places() const {
  std::vector<OperandSet> places = copies_;
  if (!guarded_.empty()) places.insert(places.end(), guarded_sets_.begin(), guarded_sets_.end());
  return places;
}

const OperandSet& OperandBuffers::place(std::size_t index) const {
  return is_guarded(index) ? guarded_sets_.at(index - copies_.size()) : copies_[index];
}

CudaResult<> OperandBuffers::fill_pattern(std::size_t index, cudaStream_t stream) const {
  if (!is_guarded(index)) return kernels_->fill_pattern({copy_address(index), layout_.copy_bytes}, kPoison, stream);
  for (const Guarded& buffer : guarded_) {
    if (auto ok = kernels_->fill_pattern(buffer.memory.mapped(), kPoison, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> OperandBuffers::fill(std::size_t index, cudaStream_t stream) const {
  return fill_pattern(index, stream).and_then([&] { return fill_inputs(index, stream); });
}

CudaResult<> OperandBuffers::poison(std::size_t index, cudaStream_t stream) const {
  if (auto ok = poison_results(index, kPoison, stream); !ok) return ok;
  for (const Guard& guard : guards(index)) {
    if (auto ok = kernels_->fill_pattern(guard.span, kPoison, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> OperandBuffers::poison_results(std::size_t index, std::uint32_t pattern, cudaStream_t stream) const {
  const OperandSet& set = place(index);
  const std::vector<OperationBuffer>& buffers = operation_->operation().buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role == BufferRole::kIn) continue;
    if (auto ok = kernels_->fill_pattern(set.buffers[i], pattern, stream); !ok) return ok;
  }
  return operation_->restore_inouts(set, data_.distribution, seed_of(index), stream);
}

Rotation OperandBuffers::rotation() const {
  Rotation rotation{copies_.size(), sweep_, mode_};
  if (has_inout()) {
    rotation.restore = [this](std::size_t copy, cudaStream_t stream) {
      return operation_->restore_inouts(copies_[copy], data_.distribution, seed_of(copy), stream);
    };
  }
  return rotation;
}

CudaResult<> OperandBuffers::rewrite_results(std::size_t index, cudaStream_t stream) const {
  const OperandSet& set = place(index);
  for (const OperationKernels::Output& output : operation_->outputs()) {
    if (auto ok = kernels_->rewrite(set.buffers[output.buffer], stream); !ok) return ok;
  }
  return {};
}

std::vector<WatchedInput> OperandBuffers::watched_inputs(std::size_t index) const {
  const OperandSet& set = place(index);
  std::vector<WatchedInput> inputs;
  const std::vector<OperationBuffer>& buffers = operation_->operation().buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].is_left_alone()) continue;
    WatchedInput& input = inputs.emplace_back(WatchedInput{buffers[i].title(), set.buffers[i]});
    if (buffers[i].pointers) input.into = set.buffers.at(static_cast<std::size_t>(buffers[i].pointers->buffer)).address;
  }
  return inputs;
}

CudaResult<std::vector<NamedScalar>> OperandBuffers::counts(cudaStream_t stream) const {
  std::vector<NamedScalar> out;
  if (operation_->operation().counts.empty()) return out;
  TRY(check(cudaStreamSynchronize(stream), "filling buffers"));
  const OperationProblem& operation = operation_->operation();
  std::vector<std::byte> stored;
  for (const OperationCount& count : operation.counts) {
    const auto index = static_cast<std::size_t>(count.buffer);
    const OperationBuffer& buffer = operation.buffers.at(index);
    double sum = 0;
    for (const OperandSet& copy : copies_) {
      stored.resize(static_cast<std::size_t>(buffer.bytes()));
      const std::uint64_t address = copy.buffers.at(index).address;
      if (auto ok = check(cudaMemcpy(stored.data(), device_pointer(address), stored.size(), cudaMemcpyDeviceToHost),
                          "counting in " + buffer.name);
          !ok)
        return tl::unexpected(ok.error());
      sum += count_elements(count, buffer, stored);
    }
    out.push_back({count.name, sum / static_cast<double>(copies_.size())});
  }
  return out;
}

std::uint64_t OperandBuffers::seed_of(std::size_t index) const {
  const std::size_t copy = is_guarded(index) ? 0 : index;
  return copy_seed(data_.seed, data_.sets > 0 ? copy % data_.sets : copy);
}

std::vector<Guard> OperandBuffers::guards(std::size_t index) const {
  if (!is_guarded(index)) return guards_of_copy(index);
  std::vector<Guard> guards;
  for (const Guarded& buffer : guarded_) {
    const auto [before, after] = around(buffer.memory.mapped(), place(index).buffers[buffer.buffer]);
    if (before.bytes > 0) guards.push_back({"before " + buffer.name, buffer.is_result, before});
    if (after.bytes > 0) guards.push_back({"after " + buffer.name, buffer.is_result, after});
  }
  return guards;
}

std::vector<Guard> OperandBuffers::guards_of_copy(std::size_t index) const {
  std::vector<Guard> guards;
  for (const GuardZone& zone : layout_.guards) {
    const std::uint64_t address = copy_address(index) + static_cast<std::uint64_t>(zone.extent.offset);
    guards.push_back({zone.place, zone.around_result, {address, zone.extent.bytes}});
  }
  return guards;
}

}  // namespace pgtune::gpu
