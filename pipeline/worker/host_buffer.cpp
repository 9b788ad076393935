// SPDX-License-Identifier: MIT
#include "pipeline/worker/host_buffer.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <sys/mman.h>

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
    if (auto ok = check(cudaHostAlloc(&memory, size, flags), "allocating pinned host memory"); !ok)
      return tl::unexpected(ok.error());
    buffer.memory_ = {static_cast<std::byte*>(memory), HostRelease{kind}};
    buffer.bytes_ = bytes;
    return buffer;
  }
  auto memory = node ? touched_on_node(size, *node) : touched_heap(size);
  if (!memory) return tl::unexpected(memory.error());
  buffer.memory_ = std::move(*memory);
  buffer.bytes_ = bytes;
  if (kind == HostKind::kRegistered) {
    if (auto ok = check(cudaHostRegister(buffer.data(), size, cudaHostRegisterDefault), "pinning host memory"); !ok)
      return tl::unexpected(ok.error());
    buffer.memory_.get_deleter().kind = HostKind::kRegistered;
  }
  return buffer;
}

}  // namespace pgtune::gpu
