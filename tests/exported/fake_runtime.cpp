// SPDX-License-Identifier: MIT
#include "tests/exported/fake_runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

namespace {

using pgtune::test::fake_runtime::Counts;

/// A piece of work, which may begin once those before it have ended.
struct Task {
  std::function<void()> work;
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
  TaskPtr add(FakeStream& stream, std::function<void()> work) {
    auto task = std::make_shared<Task>();
    task->work = std::move(work);
    if (stream.last) task->after.push_back(stream.last);
    if (&stream == &legacy) {
      for (FakeStream* other : streams) {
        if (other->blocking && other->last) task->after.push_back(other->last);
      }
    } else if (stream.blocking && legacy.last) {
      task->after.push_back(legacy.last);
    }
    stream.last = task;
    if (capturing != nullptr) {
      counts.without_capture += stream.captured ? 0 : 1;
      capturing->tasks.push_back(task);
    } else {
      waiting.push_back(task);
    }
    return task;
  }

  /// Runs what is ready, one after another at random, until `target` is done; of nothing, all. Under the mutex.
  void run_until(const TaskPtr& target) {
    while (!waiting.empty() && !(target && target->done)) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < waiting.size(); ++i) {
        const auto& after = waiting[i]->after;
        if (std::all_of(after.begin(), after.end(), [](const TaskPtr& t) { return t->done; })) ready.push_back(i);
      }
      const std::size_t chosen = ready.at(random() % ready.size());
      const TaskPtr task = waiting[chosen];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
      if (task->work) task->work();
      task->done = true;
      task->ended = ++ended;
      task->after.clear();
    }
  }
};

Runtime& runtime() {
  static Runtime instance;
  return instance;
}

using Lock = std::lock_guard<std::mutex>;

cudaError_t copy_rows(const char* call, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t rows, cudaStream_t stream) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  if (const auto code = r.failure(call); code != cudaSuccess) return code;
  ++r.counts.copies;
  r.add(r.of(stream), [=] {
    for (std::size_t row = 0; row < rows; ++row)
      std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  });
  return cudaSuccess;
}

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

}  // namespace

namespace pgtune::test::fake_runtime {

void reset(std::uint64_t seed) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  r.random.seed(seed);
  r.failures.clear();
  r.capturing.reset();
  r.waiting.clear();
  r.legacy = {};
  r.counts = {};
}

void shuffle(std::uint64_t seed) {
  const Lock lock(runtime().mutex);
  runtime().random.seed(seed);
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  ++r.counts.kernels;
  r.add(r.of(stream), std::move(work));
  return cudaSuccess;
}

void fail(const std::string& call, cudaError_t code, int after) {
  const Lock lock(runtime().mutex);
  runtime().failures[call] = {code, after};
}

Counts counts() {
  const Lock lock(runtime().mutex);
  return runtime().counts;
}

}  // namespace pgtune::test::fake_runtime

extern "C" {

cudaError_t CUDARTAPI cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t CUDARTAPI cudaSetDevice(int) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaGetLastError() { return cudaSuccess; }
const char* CUDARTAPI cudaGetErrorName(cudaError_t) { return "fakeError"; }
const char* CUDARTAPI cudaGetErrorString(cudaError_t) { return "it was told to"; }

cudaError_t CUDARTAPI cudaMalloc(void** memory, size_t bytes) {
  return made("cudaMalloc", [&](Runtime&) { *memory = std::malloc(bytes); });
}
cudaError_t CUDARTAPI cudaFree(void* memory) {
  const Lock lock(runtime().mutex);
  runtime().run_until(nullptr);  // as cudaFree does
  std::free(memory);
  --runtime().counts.live;
  return cudaSuccess;
}

static void pin(Runtime& r, void* memory, size_t bytes) {
  r.pinned[memory] = static_cast<std::int64_t>(bytes);
  r.counts.pinned_bytes += static_cast<std::int64_t>(bytes);
  r.counts.most_pinned_bytes = std::max(r.counts.most_pinned_bytes, r.counts.pinned_bytes);
}
static cudaError_t unpin(void* memory) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  const auto found = r.pinned.find(memory);
  if (found == r.pinned.end()) return cudaErrorInvalidValue;
  r.counts.pinned_bytes -= found->second;
  r.pinned.erase(found);
  --r.counts.live;
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

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return made("cudaStreamCreateWithFlags", [&](Runtime& r) {
    auto* const fake = new FakeStream;
    fake->blocking = flags == cudaStreamDefault;
    r.streams.insert(fake);
    *stream = reinterpret_cast<cudaStream_t>(fake);
  });
}
cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  runtime().run_until(nullptr);
  runtime().streams.erase(&runtime().of(stream));
  delete &runtime().of(stream);
  --runtime().counts.live;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  if (const auto code = r.failure("cudaStreamSynchronize"); code != cudaSuccess) return code;
  if (r.of(stream).last) r.run_until(r.of(stream).last);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceSynchronize() {
  const Lock lock(runtime().mutex);
  runtime().run_until(nullptr);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  const auto& fake = *reinterpret_cast<FakeEvent*>(event);
  r.of(stream).captured |= fake.captured;
  const TaskPtr waits = r.add(r.of(stream), nullptr);
  if (fake.recorded) waits->after.push_back(fake.recorded);
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  return made("cudaEventCreateWithFlags", [&](Runtime&) { *event = reinterpret_cast<cudaEvent_t>(new FakeEvent); });
}
cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t CUDARTAPI cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
  const Lock lock(runtime().mutex);
  const TaskPtr from = reinterpret_cast<FakeEvent*>(start)->recorded, to = reinterpret_cast<FakeEvent*>(stop)->recorded;
  if (!from || !to || !from->done || !to->done) return cudaErrorNotReady;
  *ms = static_cast<float>(to->ended - from->ended);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
  const Lock lock(runtime().mutex);
  delete reinterpret_cast<FakeEvent*>(event);
  --runtime().counts.live;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  auto& fake = *reinterpret_cast<FakeEvent*>(event);
  fake.recorded = r.add(r.of(stream), nullptr);
  fake.captured = r.capturing != nullptr && r.of(stream).captured;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  if (const auto code = r.failure("cudaEventSynchronize"); code != cudaSuccess) return code;
  if (const auto& fake = *reinterpret_cast<FakeEvent*>(event); fake.recorded) r.run_until(fake.recorded);
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return copy_rows("cudaMemcpyAsync", to, bytes, from, bytes, bytes, 1, stream);
}
cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                        size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  return copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, rows, stream);
}

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  if (const auto code = r.failure("cudaStreamBeginCapture"); code != cudaSuccess) return code;
  r.run_until(nullptr);
  for (FakeStream* each : r.streams) each->last = nullptr;
  r.capturing = std::make_unique<FakeGraph>();
  r.of(stream).captured = true;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return made("cudaStreamEndCapture", [&](Runtime& r) {
    // What the origin does not wait for at the end would be an unjoined capture.
    std::set<Task*> joined;
    std::vector<TaskPtr> left{r.of(stream).last};
    while (!left.empty()) {
      const TaskPtr task = left.back();
      left.pop_back();
      if (!task || !joined.insert(task.get()).second) continue;
      left.insert(left.end(), task->after.begin(), task->after.end());
    }
    for (const TaskPtr& task : r.capturing->tasks) r.counts.without_capture += joined.count(task.get()) > 0 ? 0 : 1;
    for (FakeStream* each : r.streams) {
      each->captured = false;
      each->last = nullptr;
    }
    *graph = reinterpret_cast<cudaGraph_t>(r.capturing.release());
  });
}
cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
  const Lock lock(runtime().mutex);
  delete reinterpret_cast<FakeGraph*>(graph);
  --runtime().counts.live;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return made("cudaGraphInstantiate", [&](Runtime&) {
    *executable = reinterpret_cast<cudaGraphExec_t>(new FakeGraph(*reinterpret_cast<FakeGraph*>(graph)));
  });
}
cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const Lock lock(runtime().mutex);
  delete reinterpret_cast<FakeGraph*>(executable);
  --runtime().counts.live;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  ++r.counts.launched_graphs;
  const TaskPtr begin = r.add(r.of(stream), nullptr);
  std::map<Task*, TaskPtr> copies;
  std::vector<TaskPtr> all;
  for (const TaskPtr& task : reinterpret_cast<FakeGraph*>(executable)->tasks) {
    auto copy = std::make_shared<Task>();
    copy->work = task->work;
    copy->after.push_back(begin);
    for (const TaskPtr& before : task->after) {
      if (const auto found = copies.find(before.get()); found != copies.end()) copy->after.push_back(found->second);
    }
    copies[task.get()] = copy;
    r.waiting.push_back(copy);
    all.push_back(copy);
  }
  const TaskPtr end = r.add(r.of(stream), nullptr);
  end->after.insert(end->after.end(), all.begin(), all.end());
  return cudaSuccess;
}

}  // extern "C"
