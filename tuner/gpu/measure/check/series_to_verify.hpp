// SPDX-License-Identifier: MIT
// A timed series on the GPU, with the module, the workspace and the graphs it was timed with, for its verification.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/launches_to_verify.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/persisting_l2.hpp"

namespace pgtune::gpu {

class SeriesToVerify final : public LaunchesToVerify {
 public:
  /// `series` is of a launchable on `buffers`, which `checker` checks; all must outlive the result. A launch that has
  /// not ended after `launch_limit_s` (0: no limit) fails as wait_for() says.
  [[nodiscard]] static CudaResult<std::unique_ptr<SeriesToVerify>> create(OperandBuffers& buffers, Checker& checker,
                                                                          LaunchSeries& series, double launch_limit_s);

  [[nodiscard]] std::size_t copies() const override { return buffers_->copies().size(); }
  [[nodiscard]] bool has_inout() const override { return buffers_->has_inout(); }
  [[nodiscard]] std::vector<std::string> cases() const override;
  [[nodiscard]] CudaResult<> fill(std::uint64_t seed, std::size_t sets) override;
  [[nodiscard]] CudaResult<> fill_case(std::size_t index, std::size_t copy) override;
  [[nodiscard]] CudaResult<> restore() override;
  [[nodiscard]] CudaResult<> poison(std::size_t copy, std::uint32_t pattern) override;
  [[nodiscard]] CudaResult<> rewrite(std::size_t copy) override;
  [[nodiscard]] CudaResult<std::optional<double>> launch(std::size_t copy) override;
  [[nodiscard]] CudaResult<> launch_as_timed(std::int64_t turns) override;
  [[nodiscard]] CudaResult<> refer_to(std::size_t copy) override { return checker_->refer_to(copy); }
  [[nodiscard]] CudaResult<std::string> fault(std::size_t copy, std::uint32_t poison) override;
  [[nodiscard]] CudaResult<std::string> guard_fault(std::size_t copy) override;
  [[nodiscard]] CudaResult<std::vector<std::uint64_t>> sums(std::size_t first, std::size_t step) override;

 private:
  SeriesToVerify(OperandBuffers& buffers, Checker& checker, LaunchSeries& series, double launch_limit_s)
      : buffers_(&buffers),
        checker_(&checker),
        series_(&series),
        launch_limit_s_(launch_limit_s),
        stream_(series.stream()),
        data_(buffers.data()) {}
  [[nodiscard]] CudaResult<> fill_all();

  OperandBuffers* buffers_;
  Checker* checker_;
  LaunchSeries* series_;
  double launch_limit_s_;
  cudaStream_t stream_;
  OperandBuffers::Data data_;  ///< as it was
  Event start_, stop_;
  std::chrono::microseconds hold_{};  ///< of the stream, before a launch that is timed
  DeviceBuffer sums_;                 ///< as many as copies
  std::optional<PersistingL2> persisting_;
};

}  // namespace pgtune::gpu
