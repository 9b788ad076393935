// SPDX-License-Identifier: MIT
// Activity records by CUPTI. Nothing of the GPU is set: clocks, caches and the order of kernels stay as they are.
#pragma once

#include <memory>

#include "pipeline/worker/activity_recorder.hpp"
#include "pipeline/worker/cupti_library.hpp"

namespace pgtune::gpu {

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
