// SPDX-License-Identifier: MIT
// What the parts of the fake runtime share: work that waits, and its order.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "pipeline/tests/fake_runtime.hpp"

namespace pgtune::test::fake_runtime {

/// A piece of work, which may begin once those before it have ended.
struct Task {
  std::function<void()> work;
  std::optional<Work> described;  ///< of kernels and copies
  std::vector<std::shared_ptr<Task>> after;
  bool done = false;
  int ended = 0;  ///< how many had ended before
};
using TaskPtr = std::shared_ptr<Task>;

struct FakeStream {
  TaskPtr last;
  bool blocking = false;  ///< takes part in the default stream's barriers
  bool captured = false;
};
struct FakeEvent {
  TaskPtr recorded;
  bool captured = false;
};
struct FakeGraph {
  std::vector<TaskPtr> tasks;  ///< in the order of issue
};

class Runtime {
 public:
  std::mutex mutex;
  std::mt19937_64 random;
  std::set<FakeStream*> streams;
  FakeStream legacy;
  std::vector<TaskPtr> waiting;
  int ended = 0;
  int calls = 0;
  std::vector<Work> ran;
  std::map<void*, std::size_t> on_device;  ///< allocations
  int driver = 13000;
  std::map<void*, std::int64_t> pinned;
  std::map<std::string, std::pair<cudaError_t, int>> failures;
  std::unique_ptr<FakeGraph> capturing;
  Counts counts;

  FakeStream& of(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy ? legacy : *reinterpret_cast<FakeStream*>(stream);
  }

  cudaError_t failure(const std::string& call) {
    const auto found = failures.find(call);
    if (found == failures.end() || found->second.second-- > 0) return cudaSuccess;
    found->second.second = 0;
    return found->second.first;
  }

  /// Under the mutex.
  TaskPtr add(FakeStream& stream, std::function<void()> work, std::optional<Work> described = std::nullopt);

  /// Runs what is ready, one after another at random, until `target` is done; of nothing, all. Under the mutex.
  void run_until(const TaskPtr& target);
};

Runtime& runtime();

using Lock = std::lock_guard<std::mutex>;

/// Counts what is made, unless the call is to fail.
template <typename Make>
cudaError_t made(const char* call, Make make) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  if (const auto code = r.failure(call); code != cudaSuccess) return code;
  make(r);
  ++r.counts.live;
  return cudaSuccess;
}

}  // namespace pgtune::test::fake_runtime
