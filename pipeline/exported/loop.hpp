// SPDX-License-Identifier: MIT
// The pipeline: streams, events and device memory of a plan, and the loop that keeps copies and kernels going.
#pragma once

#include <memory>
#include <optional>

#include "pipeline/exported/staging.hpp"

namespace pgtune_pipeline {

/// Of one plan on the device that is current. Not for several threads at once. Gives everything back when it ends.
class Pipeline {
 public:
  Pipeline() = default;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { release(); }

  /// Makes all that the plan needs but the operands.
  Status create(const Plan& plan) noexcept {
    release();
    if (!is_sound(plan)) return Status::invalid_argument;
    plan_ = plan;
    Status status = Status::out_of_memory;
    try {
      status = make();
    } catch (...) {  // threads and containers
    }
    if (status != Status::ok) release();
    return status;
  }

  /// Host memory for an operand that streams, of the kind that the plan was tuned with.
  Status allocate(Matrix matrix, HostBuffer& out) const noexcept {
    const auto bytes = static_cast<std::size_t>(detail::rows(plan_, matrix) * detail::columns(plan_, matrix) *
                                                detail::element_bytes(plan_, matrix));
    return HostBuffer::allocate(plan_.memory, matrix, bytes, out, plan_.host_node);
  }

  /// Lanes that chunks are dealt to: see Chunk::lane.
  int lanes() const noexcept { return plan_.use == StreamUse::per_chunk ? plan_.streams : 1; }

  /// Passes all chunks through the GPU and returns when D is complete. `kernel` is called once a chunk as
  /// cudaError_t(const Chunk&, cudaStream_t): it enqueues the product and returns. A plan with a graph calls it only
  /// when operands differ from those of the run before; forget_graph() makes it be called again.
  template <typename Kernel>
  Status run(const Operands& operands, Kernel&& kernel) noexcept {
    if (schedule_ == nullptr || operands.a == nullptr || operands.b == nullptr || operands.d == nullptr)
      return Status::invalid_argument;
    kernel_failed_ = false;
    try {
      const cudaError_t code =
          plan_.submission == Submission::graph ? run_graph(operands, kernel) : run_loop(operands, kernel);
      if (code == cudaSuccess) return Status::ok;
      last_error_ = code;
    } catch (...) {
      kernel_failed_ = true;
    }
    // What was enqueued must not outlive what it works on.
    static_cast<void>(cudaDeviceSynchronize());
    static_cast<void>(transfers_->drain());
    forget_graph();
    return kernel_failed_ ? Status::kernel_failed : Status::cuda_error;
  }

  void forget_graph() noexcept {
    executable_.reset();
    captured_ = {};
  }
  /// Of the last call that returned Status::cuda_error, or what the kernel returned.
  cudaError_t last_cuda_error() const noexcept { return last_error_; }

 private:
  using Step = detail::Step;
  using Kind = detail::Kind;

  static bool is_sound(const Plan& plan) noexcept {
    const bool shared = plan.use == StreamUse::per_chunk || plan.use == StreamUse::default_stream;
    if (plan.m < 1 || plan.n < 1 || plan.k < 1 || plan.chunk < 1) return false;
    if (plan.bytes_a < 1 || plan.bytes_b < 1 || plan.bytes_d < 1) return false;
    if (plan.streams < 1 || plan.buffers < plan.streams || (!shared && plan.streams != 1)) return false;
    if (plan.breadth_first && detail::group_of(plan) < 1) return false;
    const bool by_itself = plan.memory != Memory::pageable && plan.memory != Memory::staged;
    if (plan.submission == Submission::batched) return by_itself;
    return plan.submission != Submission::graph || (by_itself && plan.use != StreamUse::default_stream);
  }

  void release() noexcept {
    if (schedule_ != nullptr) static_cast<void>(cudaDeviceSynchronize());
    forget_graph();
    transfers_.reset();
    events_.clear();
    ends_.clear();
    streams_.clear();
    schedule_.reset();
  }

  Status make() {
    schedule_ = std::make_unique<detail::Schedule>(plan_);
    transfers_ = std::make_unique<detail::Transfers>(plan_);
    const auto count = static_cast<std::size_t>(detail::streams_of(plan_));
    const unsigned flags = plan_.use == StreamUse::default_stream ? cudaStreamDefault : cudaStreamNonBlocking;
    streams_ = std::vector<detail::Stream>(count);
    ends_ = std::vector<detail::Event>(count);
    events_ = std::vector<detail::Event>(schedule_->steps.size());
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if ((last_error_ = cudaStreamCreateWithFlags(streams_[i].out(), flags)) != cudaSuccess) return Status::cuda_error;
      if (!make_event(ends_[i])) return Status::cuda_error;
    }
    for (const Step& step : schedule_->steps) {
      for (const int need : step.awaited) {
        detail::Event& event = events_[static_cast<std::size_t>(need)];
        if (event.get() == nullptr && !make_event(event)) return Status::cuda_error;
      }
    }
    return transfers_->allocate(last_error_);
  }

  bool make_event(detail::Event& event) {
    last_error_ = cudaEventCreateWithFlags(event.out(), cudaEventDisableTiming);
    return last_error_ == cudaSuccess;
  }

  cudaStream_t stream(int number) const {
    return number == detail::kLegacyStream ? cudaStreamLegacy : streams_[static_cast<std::size_t>(number)].get();
  }

  /// A kernel, a copy, or copies that are made in one call.
  template <typename Kernel>
  cudaError_t issue_call(const Operands& operands, Kernel& kernel, std::size_t first, std::size_t end) {
    const Step& step = schedule_->steps[first];
    const cudaStream_t into = stream(step.stream);
    cudaError_t code = cudaSuccess;
    for (const int need : step.awaited) {
      code = cudaStreamWaitEvent(into, events_[static_cast<std::size_t>(need)].get(), 0);
      if (code != cudaSuccess) return code;
    }
    if (step.kind == Kind::kernel) {
      code = kernel(static_cast<const Chunk&>(transfers_->chunk_of(operands, step.chunk, lanes())), into);
      kernel_failed_ = code != cudaSuccess;
    } else {
      code = transfers_->enqueue(operands, *schedule_, first, end, into);
    }
    if (code == cudaSuccess && events_[end - 1].get() != nullptr) code = cudaEventRecord(events_[end - 1].get(), into);
    if (code == cudaSuccess && plan_.submission == Submission::blocking) code = cudaStreamSynchronize(into);
    return code;
  }

  template <typename Kernel>
  cudaError_t issue(const Operands& operands, Kernel& kernel) {
    cudaError_t code = cudaSuccess;
    for (std::size_t first = 0, end = 0; first < schedule_->steps.size() && code == cudaSuccess; first = end) {
      end = schedule_->end_of_call(first);
      code = issue_call(operands, kernel, first, end);
    }
    return code;
  }

  template <typename Kernel>
  cudaError_t run_loop(const Operands& operands, Kernel& kernel) {
    if (const cudaError_t code = issue(operands, kernel); code != cudaSuccess) return code;
    for (const detail::Stream& each : streams_) {
      if (const cudaError_t code = cudaStreamSynchronize(each.get()); code != cudaSuccess) return code;
    }
    // Kernels of a D that stays are in no stream of this object's.
    if (plan_.use == StreamUse::default_stream) {
      if (const cudaError_t code = cudaStreamSynchronize(cudaStreamLegacy); code != cudaSuccess) return code;
    }
    return transfers_->drain();
  }

  template <typename Kernel>
  cudaError_t run_graph(const Operands& operands, Kernel& kernel) {
    const bool same = captured_.a == operands.a && captured_.b == operands.b && captured_.d == operands.d;
    if (executable_.get() == nullptr || !same) {
      forget_graph();
      if (const cudaError_t code = capture(operands, kernel); code != cudaSuccess) return code;
      captured_ = operands;
    }
    const cudaError_t code = cudaGraphLaunch(executable_.get(), streams_.front().get());
    return code != cudaSuccess ? code : cudaStreamSynchronize(streams_.front().get());
  }

  template <typename Kernel>
  cudaError_t capture(const Operands& operands, Kernel& kernel) {
    const cudaStream_t first = streams_.front().get();
    cudaError_t code = cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
    if (code != cudaSuccess) return code;
    detail::Graph graph;
    std::optional<Ending> ending(std::in_place, first, graph);
    code = cudaEventRecord(ends_.front().get(), first);
    for (std::size_t i = 1; i < streams_.size() && code == cudaSuccess; ++i)
      code = cudaStreamWaitEvent(streams_[i].get(), ends_.front().get(), 0);
    if (code == cudaSuccess) code = issue(operands, kernel);
    for (std::size_t i = 1; i < streams_.size() && code == cudaSuccess; ++i) {
      code = cudaEventRecord(ends_[i].get(), streams_[i].get());
      if (code == cudaSuccess) code = cudaStreamWaitEvent(first, ends_[i].get(), 0);
    }
    const cudaError_t ended = ending->end();
    if (code == cudaSuccess) code = ended;
    return code != cudaSuccess ? code : cudaGraphInstantiate(executable_.out(), graph.get(), 0);
  }

  /// Ends a capture, also where the kernel throws.
  class Ending {
   public:
    Ending(cudaStream_t stream, detail::Graph& graph) : stream_(stream), graph_(graph) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending() { static_cast<void>(end()); }
    cudaError_t end() {
      if (std::exchange(ended_, true)) return cudaSuccess;
      return cudaStreamEndCapture(stream_, graph_.out());
    }

   private:
    cudaStream_t stream_;
    detail::Graph& graph_;
    bool ended_ = false;
  };

  Plan plan_;
  std::unique_ptr<detail::Schedule> schedule_;
  std::vector<detail::Stream> streams_;
  std::vector<detail::Event> ends_, events_;  ///< of streams, of steps that others wait for
  std::unique_ptr<detail::Transfers> transfers_;
  Operands captured_;
  detail::GraphExec executable_;
  cudaError_t last_error_ = cudaSuccess;
  bool kernel_failed_ = false;
};

}  // namespace pgtune_pipeline
