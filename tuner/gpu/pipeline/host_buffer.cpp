// SPDX-License-Identifier: MIT
#include "tuner/gpu/pipeline/host_buffer.hpp"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

namespace pgtune::gpu {
namespace {

constexpr std::size_t kPage = 4096;

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
  std::free(memory);
}

CudaResult<HostBuffer> HostBuffer::allocate(HostKind kind, std::int64_t bytes) {
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
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kPage, size));
  if (memory == nullptr)
    return tl::unexpected(CudaFailure{cudaErrorMemoryAllocation, cudaGetErrorName(cudaErrorMemoryAllocation),
                                      cudaGetErrorString(cudaErrorMemoryAllocation), "allocating host memory", false});
  buffer.memory_ = {memory, HostRelease{HostKind::kPageable}};
  buffer.bytes_ = bytes;
  std::memset(memory, 0, size);
  if (kind == HostKind::kRegistered) {
    if (auto ok = check(cudaHostRegister(memory, size, cudaHostRegisterDefault), "pinning host memory"); !ok)
      return tl::unexpected(ok.error());
    buffer.memory_.get_deleter().kind = HostKind::kRegistered;
  }
  return buffer;
}

}  // namespace pgtune::gpu
