// SPDX-License-Identifier: MIT
// A stand-in for libcupti.so.13. Built with FAKE_CUPTI_VERSION, which cuptiGetVersion says; of 0 it lacks a function.
#include "pipeline/tests/worker/fake_cupti.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace {

using pgtune::gpu::test::FakeCupti;
using Requested = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Completed = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

constexpr int kSuccess = 0, kInvalidParameter = 1, kNoMoreRecords = 12, kNotInitialized = 15, kInvalidStream = 20;
/// cudaStreamLegacy, which the library of an H200's machine refused, as it did null.
const void* const kLegacyHandle = reinterpret_cast<void*>(std::uintptr_t{1});
constexpr std::size_t kRecordsOfBuffer = 3;

FakeCupti state;
Requested requested = nullptr;
Completed completed = nullptr;

template <typename Action>
int answer(const std::string& function, const Action& action) {
  state.calls.push_back(function);
  const auto scripted = state.status.find(function);
  return scripted == state.status.end() ? action() : scripted->second;
}

/// A buffer begins with the number of its records; each has its length before it.
void hand_out(std::size_t first, std::size_t end) {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, most = 0, used = 0;
  requested(&buffer, &bytes, &most);
  ++state.buffers;
  if (buffer == nullptr) return;
  for (std::size_t i = first; i < end; ++i) {
    const std::uint64_t length = state.records[i].size();
    std::memcpy(buffer + used, &length, sizeof length);
    std::memcpy(buffer + used + sizeof length, state.records[i].data(), length);
    used += sizeof length + length;
  }
  completed(nullptr, 0, buffer, bytes, used);
}

}  // namespace

extern "C" {

FakeCupti* fake_cupti();
FakeCupti* fake_cupti() { return &state; }

int cuptiGetVersion(std::uint32_t* version) {
  *version = FAKE_CUPTI_VERSION;
  return kSuccess;
}
int cuptiGetResultString(int status, const char** text) {
  if (status != 35) return kInvalidParameter;
  *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
  return kSuccess;
}
int cuptiActivityRegisterCallbacks(Requested request, Completed complete) {
  return answer("cuptiActivityRegisterCallbacks", [&] {
    requested = request;
    completed = complete;
    return kSuccess;
  });
}
int cuptiActivityEnable(std::uint32_t kind) {
  const std::string function = "cuptiActivityEnable " + std::to_string(kind);
  return answer(function, [&] {
    state.enabled.insert(kind);
    return kSuccess;
  });
}
int cuptiActivityDisable(std::uint32_t kind) {
  return answer("cuptiActivityDisable " + std::to_string(kind), [&] {
    state.enabled.erase(kind);
    return kSuccess;
  });
}
int cuptiActivityFlushAll(std::uint32_t flag) {
  return answer("cuptiActivityFlushAll", [&] {
    if (completed == nullptr || flag != 1) return kNotInitialized;
    for (std::size_t first = 0; first < state.records.size(); first += kRecordsOfBuffer)
      hand_out(first, std::min(first + kRecordsOfBuffer, state.records.size()));
    state.records.clear();
    return kSuccess;
  });
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, void** record) {
  return answer("cuptiActivityGetNextRecord", [&] {
    // Behind the record that was handed out last, whose length stands before it.
    std::size_t at = 0;
    if (*record != nullptr) {
      std::uint8_t* const last = static_cast<std::uint8_t*>(*record);
      std::uint64_t length = 0;
      std::memcpy(&length, last - sizeof length, sizeof length);
      at = static_cast<std::size_t>(last - buffer) + length;
    }
    if (at >= valid_bytes) return kNoMoreRecords;
    *record = buffer + at + sizeof(std::uint64_t);
    return kSuccess;
  });
}
int cuptiActivityGetNumDroppedRecords(void* /*context*/, std::uint32_t /*stream*/, std::size_t* count) {
  return answer("cuptiActivityGetNumDroppedRecords", [&] {
    *count = state.dropped;
    return kSuccess;
  });
}
int cuptiGetTimestamp(std::uint64_t* time_ns) {
  return answer("cuptiGetTimestamp", [&] {
    *time_ns = state.now_ns;
    return kSuccess;
  });
}
#if FAKE_CUPTI_VERSION > 0
int cuptiGetStreamIdEx(void* context, void* stream, std::uint8_t per_thread, std::uint32_t* number) {
  return answer("cuptiGetStreamIdEx", [&] {
    if (context != nullptr || per_thread != 0) return kInvalidParameter;
    if (stream == kLegacyHandle || stream == nullptr) return kInvalidStream;
    *number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream)) + 1;
    return kSuccess;
  });
}
#endif

}  // extern "C"
