// SPDX-License-Identifier: MIT
// What a program sees of an exported pipeline: the plan, operands, chunks, status codes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgtune_pipeline {

enum class Status {
  ok,
  invalid_argument,  ///< a plan that makes no sense, or a null pointer
  out_of_memory,     ///< of the host, of what it may pin, or of the GPU
  kernel_failed,     ///< the caller's kernel returned an error or threw
  cuda_error,        ///< a CUDA call failed: last_cuda_error() has its number
};

/// A sentence for people.
inline const char* text(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "done";
    case Status::invalid_argument:
      return "an argument is wrong: a plan that makes no sense, or a null pointer";
    case Status::out_of_memory:
      return "there is not enough memory on the host, to be pinned, or on the GPU";
    case Status::kernel_failed:
      return "the kernel that was given returned an error or threw";
    case Status::cuda_error:
      return "a CUDA call failed; last_cuda_error() has its number";
  }
  return "an unknown status";
}

enum class Cut { m, n, k };
enum class Matrix { a, b, d };
/// Where operands that stream lie, and how they get to the GPU.
enum class Memory { pageable, pinned, registered, write_combined, staged, mapped };
enum class StreamUse {
  per_chunk,       ///< all of a chunk to one stream, chunks in turn to all streams
  lanes,           ///< copies in, kernels and copies out each to a stream of their own
  one_copy_lane,   ///< the same with both directions in one stream
  default_stream,  ///< as per_chunk, but kernels to the legacy default stream
};
enum class Submission {
  blocking,  ///< each call waits: the serial loop
  loop,
  graph,    ///< the loop captured once
  batched,  ///< copies that follow each other in a stream in one call, where the program is compiled with CUDA 12.8 or
            ///< newer
};

/// A product D = A B, what of it streams, and how. Extents may be changed: the chunk stays what it is.
struct Plan {
  std::int64_t m = 0, n = 0, k = 0;
  bool transposed_a = false, transposed_b = false;  ///< stored as k x m, n x k
  int bytes_a = 0, bytes_b = 0, bytes_d = 0;        ///< of an element
  bool streams_a = false, streams_b = false, streams_d = false;
  Cut cut = Cut::m;
  std::int64_t chunk = 0;  ///< along the cut, of all chunks but the last
  StreamUse use = StreamUse::per_chunk;
  int streams = 1;  ///< that chunks take in turn
  int buffers = 1;  ///< chunks with device memory at a time
  bool breadth_first = false;
  Memory memory = Memory::pinned;
  Submission submission = Submission::loop;
  int host_node = -1;  ///< NUMA node of registered memory; -1: wherever the thread runs that touches it first
};

/// Row-major, rows packed. Host memory of what streams, device memory of what does not; the latter has to be complete.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
};

/// What the caller's kernel computes: d = a b, or d += a b where `accumulate` (chunks along k after the first). Memory
/// is the device's, or host memory that the device reaches (Memory::mapped).
struct Chunk {
  std::int64_t index = 0, first = 0;  ///< which one, and where it begins along the cut
  std::int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  std::int64_t lda = 0, ldb = 0, ldd = 0;  ///< elements from one stored row to the next
  bool accumulate = false;
  int lane = 0;  ///< chunks of one lane follow each other, those of several may overlap: a workspace each
};

}  // namespace pgtune_pipeline
