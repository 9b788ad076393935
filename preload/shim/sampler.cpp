// SPDX-License-Identifier: MIT
#include "preload/shim/sampler.hpp"

#include <cstdlib>
#include <initializer_list>

#include "preload/shim/ledger.hpp"
#include "preload/shim/real.hpp"
#include "preload/shim/relaxed_capture.hpp"

namespace pgtune::preload {
namespace {

using Event = void*;
using Code = int;  // CUresult

constexpr const char* kDriver = "libcuda.so.1";
RealFunction event_create{kDriver, "cuEventCreate"}, event_destroy{kDriver, "cuEventDestroy_v2"},
    event_record{kDriver, "cuEventRecord"}, event_query{kDriver, "cuEventQuery"},
    event_elapsed{kDriver, "cuEventElapsedTime"};

Code create(Event& event) { return event_create.get<Code(Event*, unsigned)>()(&event, 0); }
Code record(Event event, Stream stream) { return event_record.get<Code(Event, Stream)>()(event, stream); }
void destroy(Event event) { event_destroy.get<Code(Event)>()(event); }

bool has_driver() {
  for (RealFunction* function : {&event_create, &event_destroy, &event_record, &event_query, &event_elapsed}) {
    if (function->get<void>() == nullptr) return false;
  }
  return true;
}

enum SampleState : int { kFree, kTaken, kPending };
struct EventPair {
  int state;
  Event start, end;
  Slot* slot;
};
constexpr int kMostPending = 64;
EventPair samples[kMostPending];
int pending = 0;
bool collecting = false, at_exit = false;

void free_sample(EventPair& sample) {
  destroy(sample.start);
  destroy(sample.end);
  __atomic_store_n(&sample.state, int{kFree}, __ATOMIC_RELEASE);
}

void store(Slot& slot, float us) {
  const std::uint32_t number = add(slot.samples, 1U) - 1;
  slot.sample_us[number % kSamples] = us;
}

}  // namespace

int begin_sample(Slot& slot, Stream stream) {
  if (!has_driver()) return -1;
  // Before CUDA's own handler, because registered after it.
  if (!__atomic_exchange_n(&at_exit, true, __ATOMIC_RELAXED)) std::atexit(collect_samples);
  for (int i = 0; i < kMostPending; ++i) {
    EventPair& sample = samples[i];
    int state = kFree;
    if (!__atomic_compare_exchange_n(&sample.state, &state, int{kTaken}, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    const RelaxedCapture relaxed;
    if (create(sample.start) != 0) {
      __atomic_store_n(&sample.state, int{kFree}, __ATOMIC_RELEASE);
      return -1;
    }
    if (create(sample.end) != 0) {
      destroy(sample.start);
      __atomic_store_n(&sample.state, int{kFree}, __ATOMIC_RELEASE);
      return -1;
    }
    sample.slot = &slot;
    if (record(sample.start, stream) == 0) return i;
    free_sample(sample);
    return -1;
  }
  return -1;
}

void end_sample(int number, Stream stream, bool launched) {
  if (number < 0) return;
  EventPair& sample = samples[number];
  const RelaxedCapture relaxed;
  if (!launched || record(sample.end, stream) != 0) return free_sample(sample);
  add(pending, 1);
  __atomic_store_n(&sample.state, int{kPending}, __ATOMIC_RELEASE);
}

void collect_samples() {
  if (__atomic_load_n(&pending, __ATOMIC_RELAXED) <= 0 || __atomic_test_and_set(&collecting, __ATOMIC_ACQUIRE)) return;
  const RelaxedCapture relaxed;
  constexpr Code kNotReady = 600;
  for (EventPair& sample : samples) {
    if (__atomic_load_n(&sample.state, __ATOMIC_ACQUIRE) != kPending) continue;
    const Code result = event_query.get<Code(Event)>()(sample.end);
    if (result == kNotReady) continue;
    float ms = 0;
    if (result == 0 && event_elapsed.get<Code(float*, Event, Event)>()(&ms, sample.start, sample.end) == 0)
      store(*sample.slot, ms * 1000);
    free_sample(sample);
    add(pending, -1);
  }
  __atomic_clear(&collecting, __ATOMIC_RELEASE);
}

void forget_samples() {
  for (EventPair& sample : samples) sample = {};
  pending = 0;
  collecting = false;
}

}  // namespace pgtune::preload
