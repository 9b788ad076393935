// SPDX-License-Identifier: MIT
#include "preload/shim/ledger.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "preload/shim/graphs.hpp"
#include "preload/shim/sampler.hpp"
#include "preload/shim/serve.hpp"

namespace pgtune::preload {
namespace {

const char* folder = nullptr;  // null: nothing is recorded
LedgerHeader* ledger = nullptr;
bool opening = false;
bool called[2];  ///< by Major

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

/// Reserved in full: writing to a hole of a full disk would kill the program, as would a file beyond its limit.
bool reserve(int file) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= kLedgerBytes &&
         posix_fallocate(file, 0, kLedgerBytes) == 0;
}

LedgerHeader* create() {
  const int file = create_file();
  if (file < 0) return nullptr;
  void* const mapped =
      reserve(file) ? mmap(nullptr, kLedgerBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
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
  forget_graphs();
  forget_samples();
  stop_serving_in_child();
}

/// Its name, if it is a cuBLAS that was not called.
int add_uncalled(dl_phdr_info* library, std::size_t, void* names) {
  const char* const slash = std::strrchr(library->dlpi_name, '/');
  const char* const name = slash == nullptr ? library->dlpi_name : slash + 1;
  const char* const version = std::strstr(name, ".so.");
  if (std::strncmp(name, "libcublas", 9) != 0 || version == nullptr) return 0;
  const long major = std::strtol(version + 4, nullptr, 10);
  if ((major == 12 && called[0]) || (major == 13 && called[1])) return 0;
  char* const text = static_cast<char*>(names);
  const std::size_t length = std::strlen(text), room = sizeof(LedgerHeader::uncalled) - length;
  if (std::strlen(name) + 2 <= room) std::snprintf(text + length, room, "%s ", name);
  return 0;
}

/// When a process ends that opened the CUDA driver: cuBLAS libraries that are loaded and of which no function here was
/// called; the driver where no cuBLAS is there.
__attribute__((destructor)) void note_uncalled_libraries() {
  if (!recording() || dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) == nullptr) return;
  char names[sizeof(LedgerHeader::uncalled)] = {};
  dl_iterate_phdr(add_uncalled, names);
  if (names[0] == '\0' && !called[0] && !called[1]) std::strcpy(names, "libcuda.so.1 ");
  if (names[0] == '\0') return;
  if (ledger == nullptr) open_ledger();
  if (ledger != nullptr) std::memcpy(ledger->uncalled, names, sizeof names);
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

void mark_called(Major major) { __atomic_store_n(&called[static_cast<int>(major)], true, __ATOMIC_RELAXED); }

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
