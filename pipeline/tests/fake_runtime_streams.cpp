// SPDX-License-Identifier: MIT
// Streams, events and graphs of the fake runtime.
#include "pipeline/tests/fake_runtime_state.hpp"

using namespace pgtune::test::fake_runtime;

extern "C" {

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
/// Works off what the event waits for, so that a caller that asks again and again goes on.
cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

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
/// Nodes of kernels and copies; what only orders them has none.
cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  const Lock lock(runtime().mutex);
  if (const auto code = runtime().failure("cudaGraphGetNodes"); code != cudaSuccess) return code;
  size_t found = 0;
  for (const TaskPtr& task : reinterpret_cast<FakeGraph*>(graph)->tasks) {
    if (!task->described) continue;
    if (nodes != nullptr) nodes[found] = reinterpret_cast<cudaGraphNode_t>(task.get());
    ++found;
  }
  *count = found;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  const bool kernel = reinterpret_cast<Task*>(node)->described->kind == Work::Kind::kKernel;
  *type = kernel ? cudaGraphNodeTypeKernel : cudaGraphNodeTypeMemcpy;
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
  int node = 0;
  for (const TaskPtr& task : reinterpret_cast<FakeGraph*>(executable)->tasks) {
    auto copy = std::make_shared<Task>();
    copy->work = task->work;
    copy->described = task->described;
    if (copy->described) {
      copy->described->stream = stream;
      copy->described->call = r.calls;
      copy->described->node = ++node;
    }
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
