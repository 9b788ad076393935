// SPDX-License-Identifier: MIT
// CUPTI's functions for activity records, looked up by name when a run is to be traced and not before: nothing links
// CUPTI, and a process that traces nothing never loads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

// CUPTI's stable C interface: contexts and streams are opaque pointers.
using CuptiStatus = int;
inline constexpr CuptiStatus kCuptiSuccess = 0, kCuptiNoMoreRecords = 12, kCuptiIncompleteRecord = 21,
                             kCuptiNoPrivileges = 35, kCuptiOtherProfiler = 39;
using CuptiBufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using CuptiBufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                      std::size_t valid_bytes);

struct CuptiLibrary {
  CuptiStatus (*register_callbacks)(CuptiBufferRequested, CuptiBufferCompleted) = nullptr;
  CuptiStatus (*enable)(std::uint32_t kind) = nullptr;
  CuptiStatus (*disable)(std::uint32_t kind) = nullptr;
  CuptiStatus (*flush)(std::uint32_t flag) = nullptr;
  CuptiStatus (*next_record)(std::uint8_t* buffer, std::size_t valid_bytes, void** record) = nullptr;
  CuptiStatus (*dropped_records)(void* context, std::uint32_t stream, std::size_t* count) = nullptr;
  CuptiStatus (*timestamp)(std::uint64_t* time_ns) = nullptr;
  CuptiStatus (*stream_number)(void* context, void* stream, std::uint8_t per_thread, std::uint32_t* number) = nullptr;
  CuptiStatus (*result_string)(CuptiStatus status, const char** text) = nullptr;  ///< may be null

  /// From the first place that has one. It is never closed: CUPTI stays tied into the driver. Errors (environment):
  /// none, or none that is at least CUDA 12.8's; the message has the cause in each place and the remedy.
  [[nodiscard]] static Result<std::shared_ptr<const CuptiLibrary>> open(const std::vector<LibraryPlace>& places);

  /// That `call` came back with `status`, in CUPTI's words, and what that means where it is known.
  [[nodiscard]] Error error(const std::string& call, CuptiStatus status) const;
};

}  // namespace pgtune::gpu
