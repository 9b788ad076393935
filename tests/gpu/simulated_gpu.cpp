// SPDX-License-Identifier: MIT
#include "tests/gpu/simulated_gpu.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace pgtune::gpu::simulated {
namespace {

struct State {
  Timing timing;
  double host_s = 0, gpu_s = 0;
  bool capturing = false;
  std::vector<double> captured_s;  ///< of the launches
  std::deque<double> queued_s;     ///< when those end that have not
  int live_graphs = 0;
};
State& state() {
  static State state;
  return state;
}

struct FakeEvent {
  double at_s = -1;
  bool asked = false;
};
using FakeGraph = std::vector<double>;

FakeEvent* event_of(cudaEvent_t event) { return reinterpret_cast<FakeEvent*>(event); }

/// Something that the host enqueues now.
void run_for(double seconds) {
  State& now = state();
  now.gpu_s = std::max(now.gpu_s, now.host_s) + seconds;
}

void wait_for_room() {
  State& now = state();
  while (!now.queued_s.empty() && now.queued_s.front() <= now.host_s) now.queued_s.pop_front();
  if (now.queued_s.size() < now.timing.queue) return;
  now.host_s = now.queued_s.front();
  now.queued_s.pop_front();
}

}  // namespace

void reset(const Timing& timing) {
  state() = {};
  state().timing = timing;
}

double host_s() { return state().host_s; }
void host_works(double seconds) { state().host_s += seconds; }
double gpu_s() { return state().gpu_s; }
int live_graphs() { return state().live_graphs; }

CudaResult<> Kernel::launch(std::size_t /*copy*/, cudaStream_t /*stream*/) {
  if (failure_) return tl::unexpected(*failure_);
  ++launches;
  if (state().capturing) {
    state().captured_s.push_back(launch_s_());
  } else {
    wait_for_room();
    host_works(enqueue_s_());
    run_for(launch_s_());
    state().queued_s.push_back(gpu_s());
  }
  return {};
}

}  // namespace pgtune::gpu::simulated

// The linker gives these to whoever calls the functions without the prefix.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
using namespace pgtune::gpu::simulated;

cudaError_t __wrap_cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(std::make_unique<FakeEvent>().release());
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) {
  const std::unique_ptr<FakeEvent> owned(event_of(event));
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t /*stream*/) {
  run_for(0);
  *event_of(event) = {gpu_s()};
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event) {
  host_works(std::max(0.0, event_of(event)->at_s - host_s()));
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventQuery(cudaEvent_t event) {
  FakeEvent& asked = *event_of(event);
  if (host_s() >= asked.at_s) return cudaSuccess;
  if (asked.asked) return __wrap_cudaEventSynchronize(event);  // a caller that polls again has waited meanwhile
  asked.asked = true;
  return cudaErrorNotReady;
}
cudaError_t __wrap_cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
  *ms = static_cast<float>((event_of(stop)->at_s - event_of(start)->at_s) * 1e3);
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t /*stream*/) {
  host_works(std::max(0.0, gpu_s() - host_s()));
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t /*stream*/, cudaStreamCaptureMode /*mode*/) {
  state().capturing = true;
  state().captured_s.clear();
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t /*stream*/, cudaGraph_t* graph) {
  state().capturing = false;
  *graph = reinterpret_cast<cudaGraph_t>(std::make_unique<FakeGraph>(state().captured_s).release());
  return cudaSuccess;
}
cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph) {
  const std::unique_ptr<FakeGraph> owned(reinterpret_cast<FakeGraph*>(graph));
  return cudaSuccess;
}
cudaError_t __wrap_cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long /*flags*/) {
  *executable =
      reinterpret_cast<cudaGraphExec_t>(std::make_unique<FakeGraph>(*reinterpret_cast<FakeGraph*>(graph)).release());
  ++state().live_graphs;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::unique_ptr<FakeGraph> owned(reinterpret_cast<FakeGraph*>(executable));
  --state().live_graphs;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGraphUpload(cudaGraphExec_t /*executable*/, cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t /*stream*/) {
  wait_for_room();
  host_works(state().timing.graph_s);
  for (const double launch_s : *reinterpret_cast<FakeGraph*>(executable))
    run_for(std::max(0.0, launch_s - state().timing.graph_saves_s));
  state().queued_s.push_back(gpu_s());
  return cudaSuccess;
}
}
// NOLINTEND(bugprone-reserved-identifier)
