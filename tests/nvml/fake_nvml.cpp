// SPDX-License-Identifier: MIT
// The rest of the stand-in for libnvidia-ml.so.1. Declared here once more, after NVIDIA's baseline manual, so that a
// wrong declaration in pgtune shows.
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "tests/nvml/fake_nvml_call.hpp"

namespace {

using namespace pgtune::gpu::test;

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kInsufficientSize = 7;
constexpr unsigned kFastMemoryMhz = 3201, kSlowMemoryMhz = 1593;

struct FieldValue {
  unsigned field_id, scope_id;
  long long timestamp, latency_us;
  int value_type;  // 1: unsigned int, 3: unsigned long long
  int status;
  unsigned long long value;
};
static_assert(sizeof(FieldValue) == 40);

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

FakeState state() { return FakeState::from_environment(); }

void log_call(const std::string& call) { state().add("called " + std::to_string(::getpid()) + " " + call); }

struct ClockRange {
  unsigned lowest = 345, highest = 1980, step = 15;
};

ClockRange clock_range() {
  const auto found = state().find({"clocks"});
  if (found.empty()) return {};
  const auto number = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(found.front().at(i))); };
  return {number(0), number(1), number(2)};
}

unsigned long long energy_mj() {
  const auto base = static_cast<unsigned long long>(state().number("energy_mj", 5000));
  const long long period_ms = state().number("energy_period_ms", 0);
  if (period_ms == 0) return base;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const long long now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return base + static_cast<unsigned long long>(now_ms / period_ms) * 1000;
}

template <typename Value>
int give(const char* function, Value* out, long long value) {
  return answer(function, [&] {
    *out = static_cast<Value>(value);
    return kSuccess;
  });
}

}  // namespace

extern "C" {

int nvmlDeviceIsMigDeviceHandle(void* device, unsigned* is_instance);  // fake_nvml_core.cpp

const char* nvmlErrorString(int status) {
  return status == 4 ? "Insufficient Permissions" : status == kNotSupported ? "Not Supported" : "Unknown Error";
}

int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* limit_mw) {
  unsigned is_instance = 0;
  if (nvmlDeviceIsMigDeviceHandle(device, &is_instance) != kSuccess || is_instance != 0) return kNotSupported;
  return give("nvmlDeviceGetEnforcedPowerLimit", limit_mw, state().number("power_limit_mw", 650500));
}

int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* after_reset) {
  *after_reset = 0;
  return give("nvmlDeviceGetMigMode", now, state().number("mig_mode", 0));
}

int nvmlDeviceGetTemperature(void*, int sensor, unsigned* degrees) {
  if (sensor != 0) return kInvalidArgument;
  return give("nvmlDeviceGetTemperature", degrees, state().number("temperature", 41));
}

int nvmlDeviceGetFieldValues(void*, int count, FieldValue* values) {
  return answer("nvmlDeviceGetFieldValues", [&] {
    for (int i = 0; i < count; ++i) {
      const auto found = state().find({"field", std::to_string(values[i].field_id)});
      values[i].status = found.empty() ? kNotSupported : kSuccess;
      if (found.empty()) continue;
      // Power, fields 185 and 186, comes in 32 bits; what the other 32 hold is not said.
      values[i].value_type = values[i].field_id == 185 ? 1 : 3;
      const unsigned long long rest = values[i].value_type == 1 ? 0xdeadbeef00000000ULL : 0;
      values[i].value = std::stoull(found.front().at(0)) | rest;
    }
    return kSuccess;
  });
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* out_mj) {
  return give("nvmlDeviceGetTotalEnergyConsumption", out_mj, static_cast<long long>(energy_mj()));
}

int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) {
  if (clock != 1) return kInvalidArgument;  // 1: SM
  const FakeState now = state();
  const long long free_mhz = now.number("sm_mhz", 345);
  const bool shows = now.number("shows_lock", 1) != 0;
  return give("nvmlDeviceGetClockInfo", mhz, shows ? now.locked_mhz().value_or(free_mhz) : free_mhz);
}

int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
  if (clock != 1) return kInvalidArgument;
  return give("nvmlDeviceGetMaxClockInfo", mhz, clock_range().highest);
}

int nvmlDeviceGetApplicationsClock(void*, int clock, unsigned* mhz) {
  if (clock != 0) return kInvalidArgument;  // 0: graphics
  return give("nvmlDeviceGetApplicationsClock", mhz, 1980);
}

int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* infos) {
  return answer("nvmlDeviceGetComputeRunningProcesses_v3", [&] {
    const auto processes = state().find({"process"});
    const bool fits = processes.size() <= *count;
    *count = static_cast<unsigned>(processes.size());
    for (std::size_t i = 0; fits && i < processes.size(); ++i)
      infos[i] = {static_cast<unsigned>(std::stoul(processes[i].at(0))),
                  static_cast<unsigned long long>(std::stoll(processes[i].at(1))), 0, 0};
    return fits ? kSuccess : kInsufficientSize;
  });
}

int nvmlDeviceGetSupportedMemoryClocks(void*, unsigned* count, unsigned* mhz) {
  return answer("nvmlDeviceGetSupportedMemoryClocks", [&] {
    if (*count < 2) return kInsufficientSize;
    *count = 2;
    mhz[0] = kFastMemoryMhz;
    mhz[1] = kSlowMemoryMhz;
    return kSuccess;
  });
}

int nvmlDeviceGetSupportedGraphicsClocks(void*, unsigned memory_mhz, unsigned* count, unsigned* mhz) {
  return answer("nvmlDeviceGetSupportedGraphicsClocks", [&] {
    const ClockRange range = clock_range();
    if (memory_mhz == kSlowMemoryMhz) {  // fewer clocks, so that asking with the wrong one shows
      *count = 1;
      mhz[0] = range.lowest;
      return kSuccess;
    }
    if (memory_mhz != kFastMemoryMhz) return kInvalidArgument;
    unsigned filled = 0;  // from the highest down, as drivers list them
    for (unsigned clock = range.highest; clock >= range.lowest && clock > 0; clock -= range.step) {
      if (filled == *count) return kInsufficientSize;
      mhz[filled++] = clock;
    }
    *count = filled;
    return kSuccess;
  });
}

int nvmlDeviceSetGpuLockedClocks(void*, unsigned min_mhz, unsigned max_mhz) {
  log_call("nvmlDeviceSetGpuLockedClocks " + std::to_string(min_mhz) + " " + std::to_string(max_mhz));
  return answer("nvmlDeviceSetGpuLockedClocks", [&] {
    state().replace({"locked_mhz"}, "locked_mhz " + std::to_string(max_mhz));
    return kSuccess;
  });
}

int nvmlDeviceResetGpuLockedClocks(void*) {
  log_call("nvmlDeviceResetGpuLockedClocks");
  return answer("nvmlDeviceResetGpuLockedClocks", [&] {
    state().remove({"locked_mhz"});
    return kSuccess;
  });
}
}
