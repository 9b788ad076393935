// SPDX-License-Identifier: MIT
// The consumer role: calls exported kernels as a program does, in a library that the host's compiler made of them, and
// compares them with the worker's own launches.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tool/worker/service.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/l2_sweep.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::worker {

class ExportedLibrary;

class ConsumerService final : public Service {
 public:
  /// Opens `library` and has it load its kernels into the GPU. Errors (environment): the GPU cannot be used, or the
  /// library says so.
  [[nodiscard]] static Result<std::unique_ptr<ConsumerService>> open(const std::string& gpu,
                                                                     const std::string& library);
  ~ConsumerService() override;

  [[nodiscard]] protocol::Hello hello() const override;
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return context_lost_; }

 private:
  ConsumerService() = default;

  [[nodiscard]] gpu::CudaResult<protocol::ConsumerReport> check(const protocol::ConsumerRequest& request);
  /// What is wrong with calls on copy 0 and between unmapped memory, over a poisoned workspace; empty where all results
  /// have these bytes.
  [[nodiscard]] gpu::CudaResult<std::string> compare(const gpu::OperandBuffers& buffers, std::int64_t workspace_bytes,
                                                     const std::vector<char>& expected);
  [[nodiscard]] gpu::CudaResult<std::string> compare_at(const gpu::OperandBuffers& buffers, std::size_t place,
                                                        const gpu::DeviceSpan& workspace, int poison,
                                                        const std::vector<char>& expected);
  [[nodiscard]] gpu::CudaResult<> time(const gpu::OperandBuffers& buffers, gpu::LoadedVariant& own,
                                       const protocol::ConsumerRequest& request, protocol::ConsumerReport& report);
  /// The bytes of all outputs, once the stream is done.
  [[nodiscard]] gpu::CudaResult<std::vector<char>> read_results(const gpu::OperandSet& operands) const;

  DeviceInfo info_;
  int ordinal_ = 0;
  bool context_lost_ = false;
  std::unique_ptr<ExportedLibrary> library_;
  gpu::Driver driver_;
  gpu::Stream stream_;
  std::unique_ptr<gpu::HelperKernels> kernels_;
  std::unique_ptr<gpu::SampleTimer> timer_;
  std::optional<gpu::L2Sweep> sweep_;
  std::unique_ptr<gpu::OperationKernels> operation_;  ///< of the request at hand
};

}  // namespace pgtune::worker
