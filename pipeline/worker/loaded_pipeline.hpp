// SPDX-License-Identifier: MIT
// One candidate on the GPU: its streams, events, kernels and its graph, if any. The exported code (pipeline/exported)
// makes its copies; this loop also measures.
#pragma once

#include <memory>
#include <vector>

#include "pipeline/exported/staging.hpp"
#include "pipeline/plan/records.hpp"
#include "pipeline/plan/schedule.hpp"
#include "pipeline/plan/timeline.hpp"
#include "pipeline/worker/chunk_kernels.hpp"
#include "pipeline/worker/host_operands.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/launch_series.hpp"

namespace pgtune::gpu {

/// Whether the driver has cudaMemcpyBatchAsync.
[[nodiscard]] CudaResult<bool> has_batched_copies();

class LoadedPipeline {
 public:
  /// `host` and the memory behind `resident` must outlive the result. Runs the pipeline once.
  [[nodiscard]] static CudaResult<std::unique_ptr<LoadedPipeline>> load(const pipeline::StreamedProblem& streamed,
                                                                        const pipeline::Candidate& candidate,
                                                                        const HostOperands& host,
                                                                        const ResidentOperands& resident,
                                                                        KernelSource& kernels);
  ~LoadedPipeline();

  [[nodiscard]] const pipeline::Candidate& candidate() const { return candidate_; }
  [[nodiscard]] const pipeline::Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const HostOperands& host() const { return *host_; }
  /// Of the first chunk.
  [[nodiscard]] const std::string& kernel_name() const { return kernels_.front().name; }

  /// One run, waited for; adds to the sample.
  [[nodiscard]] CudaResult<> run(pipeline::RunSample& sample) { return run(sample, is_graph()); }
  /// The same as a graph, where it is one, or as the loop that a graph was captured from.
  [[nodiscard]] CudaResult<> run(pipeline::RunSample& sample, bool as_graph);
  [[nodiscard]] bool is_graph() const { return executable_ != nullptr; }
  /// One run as a loop, with events around each operation.
  [[nodiscard]] CudaResult<pipeline::Timeline> trace();
  /// Operations of one step alone, without waiting for what they need; by the host's clock.
  [[nodiscard]] CudaResult<double> time_step(pipeline::Step step);
  /// Median of the first chunk's kernel alone, on data that was copied in.
  [[nodiscard]] CudaResult<double> time_kernel();
  /// Launches of the first chunk's kernel on the data that was copied in last.
  [[nodiscard]] LaunchSeries kernel_series() const {
    return {*kernels_.front().launchable, {}, streams_.front().get()};
  }
  /// Those of the schedule; the legacy default stream is none of them.
  [[nodiscard]] std::vector<cudaStream_t> streams() const;
  /// By chunk, the number of kernels, fills and copies of its product.
  [[nodiscard]] CudaResult<std::vector<int>> pieces_of_products();
  /// Its device buffers, for poison that reveals a missing copy.
  [[nodiscard]] std::vector<DeviceSpan> buffers() const;

 private:
  LoadedPipeline(const pipeline::StreamedProblem& streamed, const pipeline::Candidate& candidate,
                 const HostOperands& host, const ResidentOperands& resident);
  [[nodiscard]] CudaResult<> allocate_buffers();
  [[nodiscard]] CudaResult<> create_streams();
  [[nodiscard]] CudaResult<> create_events();
  [[nodiscard]] CudaResult<> make_kernels(KernelSource& kernels);
  [[nodiscard]] CudaResult<> capture();

  [[nodiscard]] cudaStream_t stream(int index) const;

  /// The measurements of one pass over the schedule.
  struct Pass {
    bool marks = false;                    ///< events around each operation
    const pipeline::Step* only = nullptr;  ///< operations of this step, and no waiting for others
  };
  [[nodiscard]] CudaResult<> issue(const Pass& pass);
  /// Operations from `first` to before `end`: one, or copies that are made in one call.
  [[nodiscard]] CudaResult<> issue_call(std::size_t first, std::size_t end, const Pass& pass);
  [[nodiscard]] CudaResult<> enqueue(std::size_t first, std::size_t end, cudaStream_t stream);
  [[nodiscard]] CudaResult<> fork();
  [[nodiscard]] CudaResult<> join();
  /// From an idle GPU until the host has all results; returns the host's time.
  [[nodiscard]] CudaResult<double> run_pass(const Pass& pass, bool as_graph);

  pipeline::StreamedProblem streamed_;
  pipeline::Candidate candidate_;
  pgtune_pipeline::Plan plan_;
  pgtune_pipeline::detail::Schedule steps_;
  pipeline::Schedule schedule_;  ///< the same, as it is explained
  const HostOperands* host_;
  pgtune_pipeline::Operands operands_;
  pgtune_pipeline::detail::Transfers transfers_;
  std::vector<OperandSet> sets_;  ///< by chunk
  std::vector<Stream> streams_;
  Event start_, stop_;
  std::vector<Event> ends_;                    ///< of streams, for join()
  std::vector<Event> done_;                    ///< by operation; null if no operation waits for it
  std::vector<Event> before_, after_;          ///< by operation; made for the first trace
  std::vector<KernelSource::Kernel> kernels_;  ///< by chunk problem and stream
  std::vector<std::size_t> kernel_of_chunk_;   ///< index into kernels_
  Graph graph_;
  GraphExec executable_;
};

}  // namespace pgtune::gpu
