// SPDX-License-Identifier: MIT
// The GPU's activity records from CUPTI. No setting of the GPU changes: clocks, caches and the order of kernels stay
// the same. CUPTI is opened for the traced run; building needs neither it nor CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/plan/recorded_run.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class ActivityRecorder {
 public:
  virtual ~ActivityRecorder() = default;

  /// Starts recording copies, fills and kernels, which slows each of them down.
  [[nodiscard]] virtual Result<void> start() = 0;
  /// The records since start() or the last take(). Precondition: the GPU is idle. Errors (environment): also if records
  /// were lost.
  [[nodiscard]] virtual Result<std::vector<pipeline::Activity>> take() = 0;
  /// Ends start(). Never fails: recording that cannot be turned off ends with the process.
  virtual void stop() = 0;

  /// The present time on the records' clock.
  [[nodiscard]] virtual Result<std::int64_t> now_ns() = 0;
  /// The number that records have for a stream (cudaStream_t) of the current context. CUPTI 13.0 refuses the legacy
  /// default stream, by null as by cudaStreamLegacy.
  [[nodiscard]] virtual Result<std::uint32_t> number_of(void* stream) = 0;
};

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

/// At most one records at a time.
class CuptiRecorder final : public ActivityRecorder {
 public:
  /// Errors as CuptiLibrary::open().
  [[nodiscard]] static Result<std::unique_ptr<ActivityRecorder>> open(const std::vector<LibraryPlace>& places);
  /// Stops.
  ~CuptiRecorder() override;

  [[nodiscard]] Result<void> start() override;
  [[nodiscard]] Result<std::vector<pipeline::Activity>> take() override;
  void stop() override;
  [[nodiscard]] Result<std::int64_t> now_ns() override;
  [[nodiscard]] Result<std::uint32_t> number_of(void* stream) override;

 private:
  explicit CuptiRecorder(std::shared_ptr<const CuptiLibrary> library) : library_(std::move(library)) {}
  [[nodiscard]] Result<void> check(const char* call, CuptiStatus status) const;

  std::shared_ptr<const CuptiLibrary> library_;
  std::vector<std::uint32_t> enabled_;  ///< kinds
};

}  // namespace pgtune::gpu
