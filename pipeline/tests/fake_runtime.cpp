// SPDX-License-Identifier: MIT
#include "pipeline/tests/fake_runtime.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/tests/fake_runtime_state.hpp"

namespace pgtune::test::fake_runtime {

Runtime& runtime() {
  static Runtime instance;
  return instance;
}

TaskPtr Runtime::add(FakeStream& stream, std::function<void()> work, std::optional<Work> described) {
  auto task = std::make_shared<Task>();
  task->work = std::move(work);
  task->described = described;
  ++calls;
  if (task->described) task->described->call = calls;
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

void Runtime::run_until(const TaskPtr& target) {
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
    if (task->described) {
      task->described->ended = ended;
      ran.push_back(*task->described);
    }
    task->after.clear();
  }
}

void reset(std::uint64_t seed) {
  Runtime& r = runtime();
  const Lock lock(r.mutex);
  r.random.seed(seed);
  r.failures.clear();
  r.driver = 13000;
  r.capturing.reset();
  r.waiting.clear();
  r.ran.clear();
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
  r.add(r.of(stream), std::move(work), Work{Work::Kind::kKernel, 0, stream});
  return cudaSuccess;
}

void fail(const std::string& call, cudaError_t code, int after) {
  const Lock lock(runtime().mutex);
  runtime().failures[call] = {code, after};
}

void set_driver(int version) {
  const Lock lock(runtime().mutex);
  runtime().driver = version;
}

std::vector<Work> take_work() {
  const Lock lock(runtime().mutex);
  return std::exchange(runtime().ran, {});
}

int now_ms() {
  const Lock lock(runtime().mutex);
  return runtime().ended;
}

Counts counts() {
  const Lock lock(runtime().mutex);
  return runtime().counts;
}

}  // namespace pgtune::test::fake_runtime

extern "C" {

cudaError_t CUDARTAPI cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t CUDARTAPI cudaSetDevice(int) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaDriverGetVersion(int* version) {
  auto& r = pgtune::test::fake_runtime::runtime();
  const pgtune::test::fake_runtime::Lock lock(r.mutex);
  if (const auto code = r.failure("cudaDriverGetVersion"); code != cudaSuccess) return code;
  return *version = r.driver, cudaSuccess;
}
cudaError_t CUDARTAPI cudaGetLastError() { return cudaSuccess; }
const char* CUDARTAPI cudaGetErrorName(cudaError_t) { return "fakeError"; }
const char* CUDARTAPI cudaGetErrorString(cudaError_t) { return "it was told to"; }

}  // extern "C"
