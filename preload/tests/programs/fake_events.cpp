// SPDX-License-Identifier: MIT
// Built as libcuda.so.1. Events are done when asked for the second time; each pair is 125 us apart. As in CUDA, a
// thread that captures may use events in relaxed mode only.
#include "preload/tests/programs/fake_events.hpp"

#include <cstdlib>

namespace {
struct Event {
  int queries = 0;
  bool recorded = false;
};
bool capturing = false;
unsigned long long captures = 0;
char graph[2];
thread_local int mode = 0;

void require_allowed() {
  if (capturing && mode != 2) std::abort();
}
Event& of(void* event) { return *static_cast<Event*>(event); }
}  // namespace

extern "C" {
void fake_capture(bool now) {
  capturing = now;
  captures += now ? 1 : 0;
}
void* fake_graph() { return graph; }
int cuStreamIsCapturing(void*, int* status) {
  *status = capturing ? 1 : 0;
  return 0;
}
int cuStreamGetCaptureInfo_v2(void*, int*, unsigned long long* id, void** of, const void***, unsigned long*) {
  *id = captures, *of = graph;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* other) {
  const int before = mode;
  mode = *other;
  *other = before;
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  require_allowed();
  *event = new Event;
  return 0;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
int cuEventRecord(void* event, void*) {
  if (capturing) std::abort();
  of(event).recorded = true;
  return 0;
}
int cuEventQuery(void* event) {
  require_allowed();
  constexpr int kNotReady = 600;
  return of(event).recorded && ++of(event).queries > 1 ? 0 : kNotReady;
}
int cuEventElapsedTime(float* ms, void*, void*) {
  *ms = 0.125F;
  return 0;
}
}
