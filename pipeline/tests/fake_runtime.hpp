// SPDX-License-Identifier: MIT
// A CUDA runtime on the host that keeps what streams promise and nothing else: work runs as late as it may and in a
// random order among what is ready, so that a wait that is missing shows as a wrong result. Copies and kernels are the
// host's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pgtune::test::fake_runtime {

/// A piece of work takes a millisecond by the events' clock, one after another. Forgets everything; `seed` decides the
/// order of what is ready.
void reset(std::uint64_t seed);

/// Another order from here on.
void shuffle(std::uint64_t seed);

/// As a kernel's launch.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/// Calls of this name fail with `code`, after the first `after` ones.
void fail(const std::string& call, cudaError_t code, int after = 0);

/// The driver's version from here on, as cudaDriverGetVersion tells it; 13000 after reset().
void set_driver(int version);

/// A kernel or a copy as it ran.
struct Work {
  enum class Kind { kKernel, kCopyIn, kCopyOut } kind = Kind::kKernel;
  std::int64_t bytes = 0;         ///< of a copy
  cudaStream_t stream = nullptr;  ///< that it was given to; of a graph, that the graph was
  int call = 0;                   ///< counts calls that give a stream something
  int node = 0;                   ///< of a graph, counting from 1; else 0
  int ended = 0;                  ///< the clock's milliseconds; it took one
};
/// What has run since the last call.
[[nodiscard]] std::vector<Work> take_work();
/// The events' clock: how many pieces of work have ended.
[[nodiscard]] int now_ms();

struct Counts {
  int copies = 0, kernels = 0, launched_graphs = 0;
  int batches = 0;                ///< calls of several copies, which run in any order
  int live = 0;                   ///< streams, events, graphs and allocations that were not given back
  std::int64_t pinned_bytes = 0;  ///< now
  std::int64_t most_pinned_bytes = 0;
  int without_capture = 0;  ///< work that a capture missed: its stream had not joined it
};
[[nodiscard]] Counts counts();

}  // namespace pgtune::test::fake_runtime
