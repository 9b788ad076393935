// SPDX-License-Identifier: MIT
#include "pipeline/worker/host_operands.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "pipeline/plan/host_nodes.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::size_t kPage = 4096;

tl::unexpected<CudaFailure> no_memory(std::string doing) {
  return tl::unexpected(CudaFailure{cudaErrorMemoryAllocation, cudaGetErrorName(cudaErrorMemoryAllocation),
                                    cudaGetErrorString(cudaErrorMemoryAllocation), std::move(doing), false});
}

using HostBytes = std::unique_ptr<std::byte, HostRelease>;

CudaResult<HostBytes> touched_heap(std::size_t size) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kPage, size));
  if (memory == nullptr) return no_memory("allocating host memory");
  std::memset(memory, 0, size);
  return HostBytes(memory, HostRelease{HostKind::kPageable});
}

/// The heap may hand out pages that were touched already, so this has fresh ones.
CudaResult<HostBytes> touched_on_node(std::size_t size, int node) {
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return no_memory("allocating host memory");
  HostBytes memory(static_cast<std::byte*>(mapped), HostRelease{HostKind::kPageable, size});
  const bool taken = prefer_node(mapped, size, node);
  if (taken) std::memset(mapped, 0, size);
  if (!taken || !lies_on_node(mapped, size, node))
    return no_memory(fmt::format("allocating host memory on NUMA node {}", node));
  return memory;
}

}  // namespace

void HostRelease::operator()(std::byte* memory) const noexcept {
  switch (kind) {
    case HostKind::kPinned:
    case HostKind::kWriteCombined:
      static_cast<void>(cudaFreeHost(memory));
      return;
    case HostKind::kRegistered:
      static_cast<void>(cudaHostUnregister(memory));
      break;
    case HostKind::kPageable:
      break;
  }
  if (mapped_bytes > 0) {
    static_cast<void>(::munmap(memory, mapped_bytes));
  } else {
    std::free(memory);
  }
}

CudaResult<HostBuffer> HostBuffer::allocate(HostKind kind, std::int64_t bytes, std::optional<int> node) {
  HostBuffer buffer;
  if (bytes == 0) return buffer;
  const std::size_t size = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage;
  if (kind == HostKind::kPinned || kind == HostKind::kWriteCombined) {
    void* memory = nullptr;
    const unsigned flags =
        kind == HostKind::kPinned ? cudaHostAllocMapped : cudaHostAllocMapped | cudaHostAllocWriteCombined;
    TRY(check(cudaHostAlloc(&memory, size, flags), "allocating pinned host memory"));
    buffer.memory_ = {static_cast<std::byte*>(memory), HostRelease{kind}};
    buffer.bytes_ = bytes;
    return buffer;
  }
  TRY_ASSIGN(auto memory, node ? touched_on_node(size, *node) : touched_heap(size));
  buffer.memory_ = std::move(memory);
  buffer.bytes_ = bytes;
  if (kind == HostKind::kRegistered) {
    TRY(check(cudaHostRegister(buffer.data(), size, cudaHostRegisterDefault), "pinning host memory"));
    buffer.memory_.get_deleter().kind = HostKind::kRegistered;
  }
  return buffer;
}

namespace {

using pipeline::HostMemory;
using pipeline::Matrix;

HostKind kind_of(HostMemory memory, Matrix matrix) {
  if (memory == HostMemory::kRegistered) return HostKind::kRegistered;
  // The host reads D, and reads write-combined memory byte by byte.
  if (memory == HostMemory::kWriteCombined && matrix != Matrix::kD) return HostKind::kWriteCombined;
  return memory == HostMemory::kPageable ? HostKind::kPageable : HostKind::kPinned;
}

}  // namespace

CudaResult<> HostOperandSets::allocate_pageable() {
  for (const Matrix matrix : pipeline::kMatrices) {
    if (!streamed_.streams(matrix)) continue;
    TRY_ASSIGN(auto buffer, HostBuffer::allocate(HostKind::kPageable, streamed_.bytes(matrix)));
    pageable_.matrices[pipeline::index_of(matrix)] = std::move(buffer);
  }
  return {};
}

std::int64_t HostOperandSets::pinned_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [place, held] : pinned_) bytes += held.operands->bytes();
  return bytes;
}

void HostOperandSets::make_room(std::int64_t bytes, const Release& release) {
  while (!pinned_.empty() && pinned_bytes() + bytes > pinned_limit_bytes_) {
    const auto oldest = std::min_element(pinned_.begin(), pinned_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    release(oldest->first);
    pinned_.erase(oldest);
  }
}

CudaResult<HostOperands> HostOperandSets::copy_of_pageable(const HostPlace& place) {
  HostOperands copy;
  for (const Matrix matrix : pipeline::kMatrices) {
    const HostBuffer& from = pageable_[matrix];
    TRY_ASSIGN(auto buffer, HostBuffer::allocate(kind_of(place.memory, matrix), from.bytes(), place.node));
    if (from.bytes() > 0) copy_bytes(copier_, buffer.data(), from.data(), from.bytes());
    copy.matrices[pipeline::index_of(matrix)] = std::move(buffer);
  }
  return copy;
}

CudaResult<const HostOperands*> HostOperandSets::of(HostPlace place, std::int64_t ring_bytes, const Release& release) {
  if (place.memory == HostMemory::kPageable || place.memory == HostMemory::kStaged) {
    make_room(ring_bytes, release);
    return &pageable_;
  }
  if (place.memory == HostMemory::kMapped) place.memory = HostMemory::kPinned;
  if (const auto known = pinned_.find(place); known != pinned_.end()) {
    known->second.used = ++uses_;
    return known->second.operands.get();
  }
  make_room(pageable_.bytes() + ring_bytes, release);
  TRY_ASSIGN(auto copy, copy_of_pageable(place));
  Held& held = pinned_[place];
  held.operands = std::make_unique<HostOperands>(std::move(copy));
  held.used = ++uses_;
  return held.operands.get();
}

void HostOperandSets::poison_d(const HostOperands& operands, std::uint32_t pattern) {
  const HostBuffer& d = operands[Matrix::kD];
  if (d.bytes() == 0) return;
  // The first mebibyte by hand, the rest from there.
  const std::int64_t first = std::min<std::int64_t>(d.bytes(), std::int64_t{1} << 20);
  for (std::int64_t i = 0; i < first; ++i)
    d.data()[i] = static_cast<std::byte>(pattern >> 8 * static_cast<unsigned>(i % 4));
  for (std::int64_t at = first; at < d.bytes(); at += first) {
    const std::int64_t bytes = std::min(first, d.bytes() - at);
    std::copy_n(d.data(), bytes, d.data() + at);
  }
}

void copy_bytes(pgtune_pipeline::detail::Copier& copier, std::byte* to, const std::byte* from, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  copier.copy({reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from), size, size, size, 1});
}

OperandSet product_operands(const DeviceSpan& a, const DeviceSpan& b, const DeviceSpan& d) {
  OperandSet operands;
  operands.buffers.resize(buffer_of_operand(Operand::kD).value() + 1);
  operands[Operand::kA] = a;
  operands[Operand::kB] = b;
  // What a pipeline's products have not is D's buffer.
  operands[Operand::kC] = operands[Operand::kBias] = operands[Operand::kD] = d;
  return operands;
}

}  // namespace pgtune::gpu
