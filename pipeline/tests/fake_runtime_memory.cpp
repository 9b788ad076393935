// SPDX-License-Identifier: MIT
// Memory of the fake runtime, and copies.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "pipeline/tests/fake_runtime_state.hpp"

using namespace pgtune::test::fake_runtime;

namespace {

cudaError_t copy_rows(const char* call, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  if (const auto code = r.failure(call); code != cudaSuccess) return code;
  ++r.counts.copies;
  r.add(
      r.of(stream),
      [=] {
        for (std::size_t row = 0; row < rows; ++row)
          std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
                      width);
      },
      Work{kind == cudaMemcpyHostToDevice ? Work::Kind::kCopyIn : Work::Kind::kCopyOut,
           static_cast<std::int64_t>(width * rows), stream});
  return cudaSuccess;
}

/// Refuses what the real one does, and copies in any order.
cudaError_t copy_batch(void* const* to, const void* const* from, const size_t* bytes, size_t count,
                       const cudaMemcpyAttributes* attributes, const size_t* first, size_t attribute_count,
                       cudaStream_t stream) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  if (const auto code = r.failure("cudaMemcpyBatchAsync"); code != cudaSuccess) return code;
  if (&r.of(stream) == &r.legacy) return cudaErrorInvalidValue;
  if (r.of(stream).captured) return cudaErrorStreamCaptureUnsupported;
  if (count == 0 || attribute_count != 1 || *first != 0 || attributes->srcAccessOrder != cudaMemcpySrcAccessOrderStream)
    return cudaErrorInvalidValue;
  struct Copy {
    void* to;
    const void* from;
    size_t bytes;
  };
  std::vector<Copy> copies;
  for (size_t i = 0; i < count; ++i) copies.push_back({to[i], from[i], bytes[i]});
  std::shuffle(copies.begin(), copies.end(), r.random);
  r.counts.copies += static_cast<int>(count);
  ++r.counts.batches;
  // The last allocation that begins before it has it, where it is on the device at all.
  const auto after = r.on_device.upper_bound(copies.front().to);
  const bool in =
      after != r.on_device.begin() &&
      static_cast<char*>(copies.front().to) < static_cast<char*>(std::prev(after)->first) + std::prev(after)->second;
  std::int64_t bytes_of_all = 0;
  for (const Copy& copy : copies) bytes_of_all += static_cast<std::int64_t>(copy.bytes);
  r.add(
      r.of(stream),
      [copies] {
        for (const Copy& copy : copies) std::memcpy(copy.to, copy.from, copy.bytes);
      },
      Work{in ? Work::Kind::kCopyIn : Work::Kind::kCopyOut, bytes_of_all, stream});
  return cudaSuccess;
}

void pin(Runtime& r, void* memory, size_t bytes) {
  r.pinned[memory] = static_cast<std::int64_t>(bytes);
  r.counts.pinned_bytes += static_cast<std::int64_t>(bytes);
  r.counts.most_pinned_bytes = std::max(r.counts.most_pinned_bytes, r.counts.pinned_bytes);
}
cudaError_t unpin(void* memory) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  const auto found = r.pinned.find(memory);
  if (found == r.pinned.end()) return cudaErrorInvalidValue;
  r.counts.pinned_bytes -= found->second;
  r.pinned.erase(found);
  --r.counts.live;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t CUDARTAPI cudaMalloc(void** memory, size_t bytes) {
  return made("cudaMalloc", [&](Runtime& r) {
    *memory = std::malloc(bytes);
    r.on_device[*memory] = bytes;
  });
}
cudaError_t CUDARTAPI cudaFree(void* memory) {
  const Lock lock(runtime().mutex);
  runtime().run_until(nullptr);  // as cudaFree does
  runtime().on_device.erase(memory);
  std::free(memory);
  --runtime().counts.live;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostAlloc(void** memory, size_t bytes, unsigned int) {
  return made("cudaHostAlloc", [&](Runtime& r) { pin(r, *memory = std::malloc(bytes), bytes); });
}
cudaError_t CUDARTAPI cudaFreeHost(void* memory) {
  const cudaError_t code = unpin(memory);
  if (code == cudaSuccess) std::free(memory);
  return code;
}
cudaError_t CUDARTAPI cudaHostRegister(void* memory, size_t bytes, unsigned int) {
  return made("cudaHostRegister", [&](Runtime& r) { pin(r, memory, bytes); });
}
cudaError_t CUDARTAPI cudaHostUnregister(void* memory) { return unpin(memory); }

cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copy_rows("cudaMemcpyAsync", to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                        size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, rows, kind, stream);
}
#if CUDART_VERSION >= 13000
cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes, size_t count,
                                           cudaMemcpyAttributes* attributes, size_t* first, size_t attribute_count,
                                           cudaStream_t stream) {
  return copy_batch(to, from, bytes, count, attributes, first, attribute_count, stream);
}
#else
cudaError_t CUDARTAPI cudaMemcpyBatchAsync(void** to, void** from, size_t* bytes, size_t count,
                                           cudaMemcpyAttributes* attributes, size_t* first, size_t attribute_count,
                                           size_t*, cudaStream_t stream) {
  return copy_batch(to, from, bytes, count, attributes, first, attribute_count, stream);
}
#endif

}  // extern "C"
