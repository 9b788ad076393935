// SPDX-License-Identifier: MIT
#include "preload/shim/ledger.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "preload/shim/sampler.hpp"
#include "preload/shim/serve.hpp"

namespace pgtune::preload {
namespace {

const char* folder = nullptr;  // null: nothing is recorded
LedgerHeader* ledger = nullptr;
bool opening = false;

Slot* slots() { return reinterpret_cast<Slot*>(ledger + 1); }

/// A program that exec() replaced has left a ledger of the same process.
int create_file() {
  constexpr int kMostPrograms = 1000;
  for (int i = 0; i < kMostPrograms; ++i) {
    char path[4096];
    if (std::snprintf(path, sizeof path, "%s/%d.%d", folder, static_cast<int>(getpid()), i) >=
        static_cast<int>(sizeof path))
      return -1;
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 || access(path, F_OK) != 0) return file;
  }
  return -1;
}

LedgerHeader* create() {
  const int file = create_file();
  if (file < 0) return nullptr;
  // Reserved in full: writing to a hole of a full disk would kill the program.
  void* const mapped = posix_fallocate(file, 0, kLedgerBytes) != 0
                           ? MAP_FAILED
                           : mmap(nullptr, kLedgerBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const header = static_cast<LedgerHeader*>(mapped);
  header->slots = kSlots;
  header->pid = static_cast<std::uint32_t>(getpid());
  header->magic = kLedgerMagic;
  return header;
}

/// Precondition: recording(). Afterwards there is a ledger, or recording() has ended.
void open_ledger() {
  while (__atomic_test_and_set(&opening, __ATOMIC_ACQUIRE)) sched_yield();
  if (ledger == nullptr && folder != nullptr) {
    LedgerHeader* const made = create();
    if (made == nullptr) __atomic_store_n(&folder, nullptr, __ATOMIC_RELAXED);
    __atomic_store_n(&ledger, made, __ATOMIC_RELEASE);
  }
  __atomic_clear(&opening, __ATOMIC_RELEASE);
}

void forget_in_child() {
  if (ledger != nullptr) munmap(ledger, kLedgerBytes);
  ledger = nullptr;
  opening = false;
  forget_samples();
  stop_serving_in_child();
}

__attribute__((constructor)) void start() {
  const char* const run_switch = std::getenv(kRunSwitch);
  if (run_switch != nullptr && std::strcmp(run_switch, "off") == 0) return;
  const char* const found = std::getenv(kLedgerFolder);
  // The program may change its environment.
  folder = found == nullptr ? nullptr : strdup(found);
  if (folder == nullptr) return;
  read_serving_environment();
  pthread_atfork(nullptr, nullptr, forget_in_child);
}

}  // namespace

bool recording() { return __atomic_load_n(&folder, __ATOMIC_RELAXED) != nullptr; }

std::uint32_t number_of(const Slot& slot) { return static_cast<std::uint32_t>(&slot - slots()); }

Slot* slot_of(const Key& key) {
  if (__atomic_load_n(&ledger, __ATOMIC_ACQUIRE) == nullptr) open_ledger();
  if (__atomic_load_n(&ledger, __ATOMIC_ACQUIRE) == nullptr) return nullptr;
  constexpr std::uint32_t kProbes = 64;
  const std::uint64_t first = hash(key);
  for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
    Slot& slot = slots()[(first + probe) % kSlots];
    std::uint32_t state = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE);
    if (state == kEmpty && __atomic_compare_exchange_n(&slot.state, &state, std::uint32_t{kClaimed}, false,
                                                       __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
      slot.key = key;
      __atomic_store_n(&slot.state, std::uint32_t{kReady}, __ATOMIC_RELEASE);
      return &slot;
    }
    while (state == kClaimed) {
      sched_yield();
      state = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE);
    }
    if (slot.key == key) return &slot;
  }
  add(ledger->lost_calls, std::uint64_t{1});
  return nullptr;
}

}  // namespace pgtune::preload
