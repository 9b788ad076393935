// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/workspace.hpp"

#include <string>
#include <utility>

#include "tuner/gpu/measure/check/operand_layout.hpp"

namespace pgtune::gpu {

CudaResult<Workspace> Workspace::allocate(const Driver& driver, std::int64_t bytes, bool guarded) {
  Workspace workspace;
  workspace.bytes_ = bytes;
  if (bytes == 0) return workspace;
  CudaResult<> done;
  if (guarded) {
    done = GuardedMemory::allocate(driver, bytes).map([&](GuardedMemory memory) {
      workspace.guarded_ = std::move(memory);
    });
  } else {
    const std::int64_t rounded = (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    done = DeviceBuffer::allocate(rounded + 2 * kGuardBytes).map([&](DeviceBuffer memory) {
      workspace.plain_ = std::move(memory);
    });
  }
  if (done) return workspace;
  done.error().call = "allocating " + std::to_string(bytes) + " bytes of workspace";
  return tl::unexpected(done.error());
}

DeviceSpan Workspace::memory() const {
  return guarded_.mapped().bytes > 0 ? guarded_.mapped() : DeviceSpan{plain_.address(), plain_.bytes()};
}

DeviceSpan Workspace::at(MemoryEdge edge) const {
  if (bytes_ == 0) return {};
  if (guarded_.mapped().bytes > 0) return guarded_.at(edge);
  return {plain_.address() + kGuardBytes, bytes_};
}

}  // namespace pgtune::gpu
