// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/operand_buffers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tuner/gpu/measure/check/data_counts.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::uint64_t kStreamsPerCopy = 4;

// Far apart for neighbouring streams, so that their counters never meet.
std::uint64_t stream_seed(std::uint64_t seed, std::size_t copy, std::uint64_t operand) {
  return seed + (copy * kStreamsPerCopy + operand) * 0xd1342543de82ef95ULL;
}

}  // namespace

CudaResult<OperandBuffers> OperandBuffers::allocate(const HelperKernels& kernels, const Problem& problem,
                                                    const Data& data, std::int64_t copies, cudaStream_t stream,
                                                    const OperationKernels* operation) {
  OperandBuffers buffers(kernels, problem, data, operation);
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

CudaResult<> OperandBuffers::add_guarded_places(const Driver& driver) {
  std::vector<Guarded> guarded;
  const auto add = [&](const std::string& name, Operand operand, bool is_result,
                       std::int64_t alignment = kGuardedAlignment) -> CudaResult<> {
    return GuardedMemory::allocate(driver, copies_.front()[operand].bytes, alignment).map([&](GuardedMemory memory) {
      guarded.push_back({name, is_result, operand, std::move(memory)});
    });
  };
  CudaResult<> added;
  if (operation_ != nullptr) {
    const std::vector<OperationBuffer>& buffers = operation_->operation().buffers;
    for (std::size_t i = 0; added && i < buffers.size(); ++i) {
      // pgtune's own kernels take buffers by words.
      const std::int64_t alignment = std::max<std::int64_t>(buffers[i].alignment, sizeof(kPoison));
      added = add(buffers[i].name, operand_of_buffer(i), buffers[i].is_output(), alignment);
    }
  } else {
    added = add("A", Operand::kA, false).and_then([&] { return add("B", Operand::kB, false); });
    if (problem_.beta != 0) added = added.and_then([&] { return add("C", Operand::kC, false); });
    if (problem_.epilogue.bias) added = added.and_then([&] { return add("the bias", Operand::kBias, false); });
    added = added.and_then([&] { return add("D", Operand::kD, true); });
  }
  if (!added) return added;
  for (std::size_t i = 0; i < kGuardedPlaces.size(); ++i) {
    OperandSet& set = guarded_sets_.at(i);
    set.buffers.resize(copies_.front().buffers.size());
    for (const Guarded& buffer : guarded) set[buffer.operand] = buffer.memory.at(kGuardedPlaces.at(i));
    if (problem_.beta == 0) set.c = set.d;
    if (!problem_.epilogue.bias) set.bias = set.d;
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
  const OperandSet& set = place(index);
  const Problem& p = problem_;
  if (auto ok = fill_pattern(index, stream); !ok) return ok;
  if (operation_ != nullptr) return operation_->fill(set, data_.distribution, seed_of(index), stream);
  const std::size_t data = is_guarded(index) ? 0 : index;
  const auto seed = [&](std::uint64_t operand) { return stream_seed(data_.seed, data, operand); };
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
  if (auto ok = poison_d(index, kPoison, stream); !ok) return ok;
  for (const Guard& guard : guards(index)) {
    if (auto ok = kernels_->fill_pattern(guard.span, kPoison, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> OperandBuffers::poison_d(std::size_t index, std::uint32_t pattern, cudaStream_t stream) const {
  const OperandSet& set = place(index);
  if (operation_ == nullptr) return kernels_->fill_pattern(set.d, pattern, stream);
  const std::vector<OperationBuffer>& buffers = operation_->operation().buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role == BufferRole::kIn) continue;
    if (auto ok = kernels_->fill_pattern(set.buffers[i], pattern, stream); !ok) return ok;
  }
  return operation_->restore_inouts(set, data_.distribution, seed_of(index), stream);
}

CudaResult<> OperandBuffers::rewrite_d(std::size_t index, cudaStream_t stream) const {
  const OperandSet& set = place(index);
  if (operation_ == nullptr) return kernels_->rewrite(set.d, stream);
  for (const OperationKernels::Output& output : operation_->outputs()) {
    if (auto ok = kernels_->rewrite(set.buffers[output.buffer], stream); !ok) return ok;
  }
  return {};
}

std::vector<WatchedInput> OperandBuffers::watched_inputs(std::size_t index) const {
  const OperandSet& set = place(index);
  if (operation_ == nullptr) {
    // Without beta, C is D's buffer, which launches are there to change; so is a bias that is none.
    std::vector<WatchedInput> inputs{{"A", set.a}, {"B", set.b}};
    if (problem_.beta != 0) inputs.push_back({"C", set.c});
    if (problem_.epilogue.bias) inputs.push_back({"the bias", set.bias});
    return inputs;
  }
  std::vector<WatchedInput> inputs;
  const std::vector<OperationBuffer>& buffers = operation_->operation().buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role != BufferRole::kIn) continue;
    WatchedInput& input = inputs.emplace_back(WatchedInput{buffers[i].name, set.buffers[i]});
    if (buffers[i].pointers) input.into = set.buffers.at(static_cast<std::size_t>(buffers[i].pointers->buffer)).address;
  }
  return inputs;
}

CudaResult<std::vector<NamedScalar>> OperandBuffers::counts(cudaStream_t stream) const {
  std::vector<NamedScalar> out;
  if (operation_ == nullptr || operation_->operation().counts.empty()) return out;
  if (auto ok = check(cudaStreamSynchronize(stream), "filling buffers"); !ok) return tl::unexpected(ok.error());
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
  return stream_seed(data_.seed, is_guarded(index) ? 0 : index, 0);
}

std::vector<Guard> OperandBuffers::guards(std::size_t index) const {
  if (!is_guarded(index)) return guards_of_copy(index);
  std::vector<Guard> guards;
  for (const Guarded& buffer : guarded_) {
    const auto [before, after] = around(buffer.memory.mapped(), place(index)[buffer.operand]);
    if (before.bytes > 0) guards.push_back({"before " + buffer.name, buffer.is_result, before});
    if (after.bytes > 0) guards.push_back({"after " + buffer.name, buffer.is_result, after});
  }
  return guards;
}

std::vector<Guard> OperandBuffers::guards_of_copy(std::size_t index) const {
  std::vector<Guard> guards;
  for (const GuardZone& zone : layout_.guards) {
    const std::uint64_t address = copy_address(index) + static_cast<std::uint64_t>(zone.extent.offset);
    guards.push_back({zone.place, zone.around_d, {address, zone.extent.bytes}});
  }
  return guards;
}

}  // namespace pgtune::gpu
