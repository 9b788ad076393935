// SPDX-License-Identifier: MIT
// Streams, events, graphs and memory that give themselves back.
#pragma once

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "pipeline/exported/types.hpp"

namespace pgtune_pipeline {
namespace detail {

template <typename T, cudaError_t (*Destroy)(T)>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() { reset(); }
  T get() const noexcept { return value_; }
  /// For the calls that make one.
  T* out() noexcept {
    reset();
    return &value_;
  }
  void reset() noexcept {
    if (value_ != T{}) static_cast<void>(Destroy(value_));
    value_ = T{};
  }

 private:
  T value_{};
};
using Stream = Handle<cudaStream_t, cudaStreamDestroy>;
using Event = Handle<cudaEvent_t, cudaEventDestroy>;
using Graph = Handle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Handle<cudaGraphExec_t, cudaGraphExecDestroy>;
using DeviceBytes = Handle<void*, cudaFree>;

/// Pages that come from a NUMA node as long as it has some; where the system has no such node, or refuses, from
/// wherever they are touched. Null where there is no memory.
inline void* map_on_node(std::size_t bytes, int node) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  constexpr int kPreferred = 1, kNodes = 64;  // MPOL_PREFERRED
  const unsigned long mask = node < kNodes ? 1UL << static_cast<unsigned>(node) : 0;
  if (mask != 0) static_cast<void>(syscall(SYS_mbind, memory, bytes, kPreferred, &mask, kNodes + 1, 0));
  return memory;
}

}  // namespace detail

/// Host memory of one kind, given back at the end.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), kind_(other.kind_), mapped_bytes_(other.mapped_bytes_) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(kind_, other.kind_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    return *this;
  }
  ~HostBuffer() { reset(); }

  /// As an operand of a plan with such memory wants it; write-combined memory is slow to read for the host.
  /// `host_node` as Plan has it.
  static Status allocate(Memory memory, Matrix matrix, std::size_t bytes, HostBuffer& out,
                         int host_node = -1) noexcept {
    out.reset();
    if (bytes == 0) return Status::invalid_argument;
    if (memory == Memory::pinned || memory == Memory::mapped || memory == Memory::write_combined) {
      const unsigned combined =
          memory == Memory::write_combined && matrix != Matrix::d ? cudaHostAllocWriteCombined : 0U;
      if (cudaHostAlloc(&out.data_, bytes, cudaHostAllocMapped | combined) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        out.data_ = nullptr;
        return Status::out_of_memory;
      }
      out.kind_ = Kind::pinned;
      return Status::ok;
    }
    constexpr std::size_t kPage = 4096;
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    const bool on_node = memory == Memory::registered && host_node >= 0;
    out.data_ = on_node ? detail::map_on_node(whole, host_node) : std::aligned_alloc(kPage, whole);
    if (out.data_ == nullptr) return Status::out_of_memory;
    out.kind_ = Kind::pageable;
    out.mapped_bytes_ = on_node ? whole : 0;
    if (memory != Memory::registered) return Status::ok;
    if (cudaHostRegister(out.data_, bytes, cudaHostRegisterDefault) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      out.reset();
      return Status::out_of_memory;
    }
    out.kind_ = Kind::registered;
    return Status::ok;
  }

  void* data() const noexcept { return data_; }
  void reset() noexcept {
    if (data_ == nullptr) return;
    if (kind_ == Kind::pinned) {
      static_cast<void>(cudaFreeHost(data_));
    } else {
      if (kind_ == Kind::registered) static_cast<void>(cudaHostUnregister(data_));
      if (mapped_bytes_ > 0) {
        static_cast<void>(munmap(data_, mapped_bytes_));
      } else {
        std::free(data_);
      }
    }
    data_ = nullptr;
  }

 private:
  enum class Kind { pageable, pinned, registered };
  void* data_ = nullptr;
  Kind kind_ = Kind::pageable;
  std::size_t mapped_bytes_ = 0;  ///< of memory that is not from the heap
};

}  // namespace pgtune_pipeline
