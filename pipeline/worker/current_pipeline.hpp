// SPDX-License-Identifier: MIT
// The state of the current streamed problem.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/worker/chunk_kernels.hpp"
#include "pipeline/worker/host_operands.hpp"
#include "pipeline/worker/kernel_sources.hpp"
#include "pipeline/worker/loaded_pipeline.hpp"
#include "pipeline/worker/result_check.hpp"

namespace pgtune::gpu {

class CurrentPipeline {
 public:
  /// The objects that outlive every problem.
  struct Tools {
    const Driver& driver;
    const HelperKernels& helpers;
    cudaStream_t stream;
    std::string library;
    std::int64_t max_window_bytes = 0;
    std::string architecture = {};  ///< as MeasureContext::architecture
  };

  /// Errors (usage): operands that do not fit the host's memory or the GPU's. `tools` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<CurrentPipeline>> create(const Tools& tools,
                                                                       const protocol::PipelinePrepare& request);

  [[nodiscard]] pipeline::Prepared prepared() const;
  /// The candidate's pipeline, loaded if necessary. Others are dropped if it needs their memory. Valid until the next
  /// call, or as long as it is kept.
  [[nodiscard]] CudaResult<LoadedPipeline*> load(const pipeline::Candidate& candidate);
  /// Drops loaded pipelines except those in `keep`.
  void keep(const std::vector<pipeline::Candidate>& keep);
  /// Runs it over poisoned buffers and D, and compares.
  [[nodiscard]] CudaResult<CheckedResult> check(LoadedPipeline& loaded);
  /// Reports a wrong result: if its chunks' kernels are guesses, pipelines loaded later use the library's.
  void refuse_guesses(const pipeline::Candidate& candidate);
  [[nodiscard]] const pipeline::StreamedProblem& streamed() const { return streamed_; }
  [[nodiscard]] const pipeline::Limits& limits() const { return limits_; }

 private:
  CurrentPipeline(const Tools& tools, const protocol::PipelinePrepare& request);
  /// Pinned by rings that are loaded.
  [[nodiscard]] std::int64_t ring_bytes() const;
  [[nodiscard]] CudaResult<> make_operands(const Conditions& conditions);
  [[nodiscard]] CudaResult<> fill(pipeline::Matrix matrix, const Conditions& conditions);

  const Tools* tools_;
  pipeline::StreamedProblem streamed_;
  pipeline::Limits limits_;
  HostOperandSets host_;
  std::array<DeviceBuffer, 3> resident_;
  ResidentOperands resident_addresses_{};
  LibraryKernels library_kernels_;
  BuiltKernels built_kernels_;
  ChunkKernels kernels_;
  std::unique_ptr<OperationKernels> block_;  ///< the product of a block of rows that are checked
  std::unique_ptr<ResultCheck> check_;
  std::vector<std::unique_ptr<LoadedPipeline>> loaded_;  ///< after what it uses: released first
};

}  // namespace pgtune::gpu
