// SPDX-License-Identifier: MIT
#include "preload/shim/graphs.hpp"

#include <sched.h>

#include "preload/shim/ledger.hpp"
#include "preload/shim/real.hpp"

namespace pgtune::preload {
namespace {

/// Calls of one key in a graph or in an executable one, which is the owner.
struct Part {
  void* owner;
  Slot* slot;
  std::uint64_t capture, calls;
  int next;  ///< in the list of its owners, or of free parts; 0: none
};
constexpr int kMostParts = 1 << 14, kLists = 1 << 10;
constexpr std::uint64_t kNoCapture = ~std::uint64_t{0};
Part parts[kMostParts];  ///< number 0 is not used
int lists[kLists], unused = 0, used = 1;
bool locked = false;

class Lock {
 public:
  Lock() {
    while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) sched_yield();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { __atomic_clear(&locked, __ATOMIC_RELEASE); }
};

int& list_of(const void* owner) {
  const auto mixed = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(owner)) * 0x9E3779B97F4A7C15U;
  return lists[mixed >> 54U];
}

/// Frees the owner's parts, but for those of this capture.
void clear(const void* owner, std::uint64_t but_of) {
  for (int* place = &list_of(owner); *place != 0;) {
    Part& part = parts[*place];
    if (part.owner != owner || part.capture == but_of) {
      place = &part.next;
      continue;
    }
    const int number = *place;
    *place = part.next;
    part.next = unused;
    unused = number;
  }
}

/// Null: all are used.
Part* add_part(const Capture& capture, Slot& slot) {
  const int number = unused != 0 ? unused : used < kMostParts ? used++ : 0;
  if (number == 0) return nullptr;
  Part& part = parts[number];
  if (number == unused) unused = part.next;
  int& list = list_of(capture.graph);
  part = {capture.graph, &slot, capture.id, 0, list};
  list = number;
  return &part;
}

}  // namespace

bool is_capturing(Stream stream, Capture& capture) {
  static constinit RealFunction stream_capturing("libcuda.so.1", "cuStreamIsCapturing"),
      capture_info("libcuda.so.1", "cuStreamGetCaptureInfo_v2");
  auto* const query = stream_capturing.get<int(Stream, int*)>();
  if (query == nullptr) return false;
  int status = 0;
  const int result = query(stream, &status);
  // Without a context it is the default stream, which captures nothing.
  if (result == kInvalidContext || (result == 0 && status == 0)) return false;
  if (auto* const info = capture_info.get<int(Stream, int*, std::uint64_t*, void**, const void*, std::size_t*)>())
    info(stream, &status, &capture.id, &capture.graph, nullptr, nullptr);
  return true;
}

void add_to_graph(const Capture& capture, Slot& slot) {
  if (capture.graph == nullptr) return;
  const Lock lock;
  clear(capture.graph, capture.id);
  Part* part = nullptr;
  for (int i = list_of(capture.graph); i != 0 && part == nullptr; i = parts[i].next) {
    if (parts[i].owner == capture.graph && parts[i].slot == &slot) part = &parts[i];
  }
  if (part == nullptr) part = add_part(capture, slot);
  if (part != nullptr) ++part->calls;
}

void instantiate(void* executable, void* graph) {
  const Lock lock;
  clear(executable, kNoCapture);
  for (int* place = &list_of(graph); *place != 0;) {
    Part& part = parts[*place];
    if (part.owner != graph) {
      place = &part.next;
      continue;
    }
    const int number = *place;
    *place = part.next;
    int& list = list_of(executable);
    part.owner = executable;
    part.next = list;
    list = number;
  }
}

void forget_graph(void* graph) {
  const Lock lock;
  clear(graph, kNoCapture);
}

void launch(void* executable) {
  const Lock lock;
  for (int i = list_of(executable); i != 0; i = parts[i].next) {
    if (parts[i].owner == executable) add(parts[i].slot->replayed_calls, parts[i].calls);
  }
}

void forget_graphs() {
  for (int& list : lists) list = 0;
  unused = 0, used = 1;
  locked = false;
}

}  // namespace pgtune::preload
