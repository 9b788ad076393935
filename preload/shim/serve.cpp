// SPDX-License-Identifier: MIT
#include "preload/shim/serve.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "preload/shim/ledger.hpp"
#include "preload/shim/own_workspace.hpp"
#include "preload/shim/real.hpp"
#include "preload/shim/relaxed_capture.hpp"

namespace pgtune::preload {
namespace {

constexpr const char* kDriver = "libcuda.so.1";
RealFunction context_device{kDriver, "cuCtxGetDevice"}, context_get{kDriver, "cuCtxGetCurrent"},
    primary_state{kDriver, "cuDevicePrimaryCtxGetState"}, retain_primary{kDriver, "cuDevicePrimaryCtxRetain"},
    release_primary{kDriver, "cuDevicePrimaryCtxRelease_v2"};

/// What the environment said when the library was loaded.
const char *library_path = nullptr, *deny_path = nullptr;
std::uint32_t checked_calls = 0;        ///< of each key
bool shadow = false;                    ///< all calls are checked, and none is served
bool reproducible = false;              ///< nothing is served
std::size_t own_bytes = 0;              ///< of workspace that a call may get from pgtune
Arithmetic for_f32 = Arithmetic::kF32;  ///< what serves float32 calls, by the user's choice
bool tf32 = true;                       ///< see arithmetic_of()

const PgtuneKernels* kernels = nullptr;
const PgtuneProblem* denied = nullptr;
std::size_t denied_count = 0;
bool loaded = false, tripped = false;

/// PgtuneStatus of prepare(), plus 1; 0: not called.
int prepared[kMostDevices];

/// Of a key, made at its first call and then fixed, unless a check fails.
struct Decision {
  bool made;
  std::uint8_t refusal;  ///< Refusal
  Arithmetic arithmetic;
  void* gemm;
  std::size_t workspace_bytes;
  bool own_workspace;  ///< it may be pgtune's own
};
Decision* decisions = nullptr;
bool deciding = false;

static_assert(static_cast<int>(Arithmetic::kInt8) == kPgtuneInt8 &&
              static_cast<int>(Arithmetic::kTf32x3) == kPgtuneTf32x3);

/// Precondition: refusal_of() has none.
PgtuneProblem problem_of_key(const Key& key, Arithmetic arithmetic) {
  PgtuneProblem problem;
  std::memset(&problem, 0, sizeof problem);
  problem.m = key.m, problem.n = key.n, problem.k = key.k, problem.batch = key.batch;
  problem.lda = key.lda, problem.ldb = key.ldb, problem.ldc = key.ldc;
  problem.arithmetic = static_cast<std::int32_t>(arithmetic);
  problem.layout = key.trans_a * 2 + key.trans_b;
  problem.float32_out = key.type_d == kR32F && key.type_a != kR32F ? 1 : 0;
  problem.bias = (key.epilogue & kLtBias) != 0 ? 1 : 0;
  problem.activation = (key.epilogue & kLtRelu) != 0 ? 1 : (key.epilogue & kLtGelu) != 0 ? 2 : 0;
  problem.adds_c = key.beta != 0 ? 1 : 0;
  return problem;
}

template <typename... Values>
void say(const char* format, Values... values) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, format, values...);
  if (length > 0 && write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) return;
}

void* map_memory(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void load_denied() {
  const int file = deny_path == nullptr ? -1 : open(deny_path, O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  if (file < 0 || fstat(file, &facts) != 0 || facts.st_size == 0) return;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return;
  denied = static_cast<const PgtuneProblem*>(mapped);
  denied_count = bytes / sizeof(PgtuneProblem);
}

/// Precondition: deciding. At the first call and not when the library is loaded, which every child process does.
void load() {
  loaded = true;
  void* const library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
  const auto* const table =
      library == nullptr ? nullptr : static_cast<const PgtuneKernels*>(dlsym(library, "pgtune_kernels_v1"));
  if (table == nullptr || table->problem_bytes != sizeof(PgtuneProblem)) {
    say("pgtune: %s is no library of kernels of this version: %s\n", library_path, library == nullptr ? dlerror() : "");
    return;
  }
  load_denied();
  kernels = table;
}

bool is_denied(const PgtuneProblem& problem) {
  for (std::size_t i = 0; i < denied_count; ++i) {
    if (std::memcmp(&denied[i], &problem, sizeof problem) == 0) return true;
  }
  return false;
}

/// Whether the thread's context is the device's primary one, for which kernels are loaded.
bool in_primary_context(int device) {
  auto* const current = context_get.get<int(void**)>();
  auto* const state = primary_state.get<int(int, unsigned*, int*)>();
  auto* const retain = retain_primary.get<int(void**, int)>();
  auto* const give_back = release_primary.get<int(int)>();
  if (current == nullptr || state == nullptr || retain == nullptr || give_back == nullptr) return false;
  void *here = nullptr, *primary = nullptr;
  unsigned flags = 0;
  int is_active = 0;
  const RelaxedCapture relaxed;
  // To retain an inactive one would create it.
  if (current(&here) != 0 || state(device, &flags, &is_active) != 0 || is_active == 0) return false;
  if (retain(&primary, device) != 0) return false;
  give_back(device);
  return here == primary;
}

Refusal prepare(int device) {
  if (device < 0 || device >= kMostDevices) return Refusal::kDevice;
  if (prepared[device] == 0) {
    if (!in_primary_context(device)) return Refusal::kContext;
    prepared[device] = kernels->prepare(device) + 1;
  }
  return prepared[device] == kPgtuneOk + 1 ? Refusal::kNone : Refusal::kDevice;
}

/// Precondition: deciding.
Refusal decide(const Key& key, Decision& decision) {
  if (reproducible) return Refusal::kEnvironment;
  if (const Refusal refusal = refusal_of(key, tf32); refusal != Refusal::kNone) return refusal;
  if (!loaded) load();
  if (kernels == nullptr) return Refusal::kNoKernel;
  const Arithmetic asked = arithmetic_of(key, tf32);
  decision.arithmetic = asked == Arithmetic::kF32 ? for_f32 : asked;
  const PgtuneProblem problem = problem_of_key(key, decision.arithmetic);
  if (is_denied(problem)) return Refusal::kDenied;
  if (const Refusal refusal = prepare(key.device); refusal != Refusal::kNone) return refusal;
  void* const gemm = map_memory(kernels->gemm_bytes);
  if (gemm == nullptr) return Refusal::kNoKernel;
  if (const int status = kernels->select(&problem, key.device, gemm); status != kPgtuneOk) {
    munmap(gemm, kernels->gemm_bytes);
    return Refusal::kNoKernel;
  }
  decision.workspace_bytes = kernels->workspace_bytes(gemm);
  decision.gemm = gemm;
  decision.own_workspace =
      decision.workspace_bytes > 0 && decision.workspace_bytes <= own_bytes && make_workspace_pool(key.device);
  return Refusal::kNone;
}

/// Rounded up.
std::uint32_t mib(std::size_t bytes) {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  return static_cast<std::uint32_t>((bytes + kBytes - 1) / kBytes);
}

/// Null: there is no memory.
Decision* decision_of(Slot& slot) {
  Decision* const all = __atomic_load_n(&decisions, __ATOMIC_ACQUIRE);
  if (all != nullptr && __atomic_load_n(&all[number_of(slot)].made, __ATOMIC_ACQUIRE)) return &all[number_of(slot)];
  while (__atomic_test_and_set(&deciding, __ATOMIC_ACQUIRE)) sched_yield();
  if (decisions == nullptr)
    __atomic_store_n(&decisions, static_cast<Decision*>(map_memory(kSlots * sizeof(Decision))), __ATOMIC_RELEASE);
  Decision* decision = decisions == nullptr ? nullptr : &decisions[number_of(slot)];
  if (decision != nullptr && !decision->made) {
    const Refusal refusal = decide(slot.key, *decision);
    decision->refusal = static_cast<std::uint8_t>(refusal);
    if (refusal == Refusal::kNone && kernels->is_of_family(decision->gemm) != 0) slot.is_of_family = 1;
    slot.workspace_mib = mib(decision->workspace_bytes);
    // Another context may be current at the next call.
    __atomic_store_n(&decision->made, refusal != Refusal::kContext, __ATOMIC_RELEASE);
  }
  __atomic_clear(&deciding, __ATOMIC_RELEASE);
  return decision;
}

bool refuse(Slot& slot, Refusal refusal) {
  const int number = static_cast<int>(refusal) - static_cast<int>(kFirstOfServing);
  if (number >= 0) add(slot.refused_calls[number], 1U);
  return false;
}

void trip(const char* why, int number) {
  if (__atomic_exchange_n(&tripped, true, __ATOMIC_RELAXED)) return;
  say("pgtune: %s (CUDA error %d). From here on this process gets cuBLAS's results.\n", why, number);
}

}  // namespace

bool serving() { return library_path != nullptr; }

int current_device() {
  auto* const get = context_device.get<int(int*)>();
  int device = -1;
  return get != nullptr && get(&device) == 0 ? device : -1;
}

bool serve(Slot& slot, const Given& given, Check& check, int& status) {
  if (__atomic_load_n(&tripped, __ATOMIC_RELAXED)) return refuse(slot, Refusal::kTripped);
  if (!given.has_context) return refuse(slot, Refusal::kContext);
  const Decision* const decision = decision_of(slot);
  if (decision == nullptr) return false;
  const auto refusal = static_cast<Refusal>(__atomic_load_n(&decision->refusal, __ATOMIC_RELAXED));
  if (refusal != Refusal::kNone) return refuse(slot, refusal);
  PgtuneOperands operands = given.operands;
  Workspace workspace = decision->workspace_bytes > 0 ? given.workspace : Workspace{};
  OwnWorkspace own;
  // A graph may run beside its stream's later calls, which would get the same memory.
  if (decision->own_workspace && workspace.bytes < decision->workspace_bytes && !given.captured) {
    const int result = own.allocate(slot.key.device, decision->workspace_bytes, given.stream);
    if (result == kOutOfMemory) {
      trip("there is no memory for a workspace", result);
      return refuse(slot, Refusal::kTripped);
    }
    if (result != 0) return refuse(slot, Refusal::kContext);  // as the kernel would not run on this stream either
    workspace = {own.memory(), decision->workspace_bytes};
  }
  const bool wanted = shadow || __atomic_load_n(&slot.checked_calls, __ATOMIC_RELAXED) < checked_calls;
  if (wanted && !given.captured && begin_check(check, slot, operands, decision->arithmetic, given.stream))
    operands.d = check.scratch;
  else if (shadow)
    return refuse(slot, Refusal::kChecked);
  const int result = kernels->run(decision->gemm, &operands, workspace.memory, workspace.bytes, given.stream);
  if (check.slot != nullptr && (!keep_c(check) || result != kPgtuneOk)) drop_check(check);
  switch (result) {
    case kPgtuneOk:
      if (operands.d != given.operands.d) return refuse(slot, Refusal::kChecked);
      add(slot.served_calls, std::uint64_t{1});
      status = kSuccess;
      return true;
    case kPgtuneMisaligned:
      return refuse(slot, Refusal::kMisaligned);
    case kPgtuneWorkspace:
      return refuse(slot, Refusal::kWorkspace);
    case kPgtuneOtherContext:
    case kPgtuneOtherDevice:
      return refuse(slot, Refusal::kContext);
    case kPgtuneFailed:
      trip("a kernel could not be launched", kernels->last_error());
      refuse(slot, Refusal::kTripped);
      // What C held may be gone.
      status = kExecutionFailed;
      return operands.beta != 0 && operands.c == operands.d;
    default:
      return refuse(slot, Refusal::kNoKernel);
  }
}

void finish(Check& check, int status) {
  if (check.slot == nullptr) return;
  if (status != kSuccess) return drop_check(check);
  Slot& slot = *check.slot;
  const Verdict verdict = finish_check(check);
  if (verdict != Verdict::kNone) add(slot.checked_calls, 1U);
  if (verdict != Verdict::kWrong) return;
  if (add(slot.wrong_calls, 1U) == 1)
    say("pgtune: a kernel's result differs from cuBLAS's beyond the error bound: %lldx%lldx%lld. cuBLAS computes it "
        "from here on.\n",
        static_cast<long long>(slot.key.m), static_cast<long long>(slot.key.n), static_cast<long long>(slot.key.k));
  __atomic_store_n(&decision_of(slot)->refusal, static_cast<std::uint8_t>(Refusal::kTripped), __ATOMIC_RELAXED);
}

void read_serving_environment() {
  const auto read = [](const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr || *value == '\0' ? nullptr : strdup(value);  // the program may change its environment
  };
  library_path = read(kKernelsVariable);
  deny_path = read(kDenyVariable);
  if (const char* const word = std::getenv(kCheckVariable)) {
    shadow = std::strcmp(word, "shadow") == 0;
    checked_calls = static_cast<std::uint32_t>(std::strtoul(word, nullptr, 10));
  }
  if (const char* const word = std::getenv(kWorkspaceVariable))
    own_bytes = static_cast<std::size_t>(std::strtoul(word, nullptr, 10)) << 20U;
  if (const char* const word = std::getenv(kF32Variable))
    for_f32 = std::strcmp(word, "tf32") == 0 ? Arithmetic::kTf32 : Arithmetic::kTf32x3;
  const char* const override = std::getenv("NVIDIA_TF32_OVERRIDE");
  tf32 = override == nullptr;
  reproducible = override != nullptr && std::strcmp(override, "0") != 0;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    for (const char* name : {"CUBLAS_WORKSPACE_CONFIG=", "CUBLASLT_WORKSPACE_SIZE=", "CUBLAS_EMULAT"}) {
      if (std::strncmp(*variable, name, std::strlen(name)) == 0) reproducible = true;
    }
  }
}

void stop_serving_in_child() {
  deciding = false;
  decisions = nullptr;  // they belong to places in the parent's ledger
  for (const int status : prepared) {
    if (status != 0) tripped = true;  // CUDA does not survive a fork either
  }
}

}  // namespace pgtune::preload
