// SPDX-License-Identifier: MIT
// The pipeline: streams, events and device memory of a plan, and the loop that keeps copies and kernels going.
#pragma once

#include <memory>
#include <optional>

#include "exported/pipeline/schedule.hpp"
#include "exported/pipeline/staging.hpp"

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
    return HostBuffer::allocate(plan_.memory, matrix, bytes, out);
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
    static_cast<void>(drain());
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
    return plan.submission != Submission::graph ||
           (plan.memory != Memory::pageable && plan.memory != Memory::staged && plan.use != StreamUse::default_stream);
  }

  void release() noexcept {
    if (schedule_ != nullptr) static_cast<void>(cudaDeviceSynchronize());
    forget_graph();
    for (auto& ring : rings_) ring.reset();
    for (auto& memory : memory_) memory.reset();
    events_.clear();
    ends_.clear();
    streams_.clear();
    schedule_.reset();
  }

  Status make() {
    schedule_ = std::make_unique<detail::Schedule>(plan_);
    const int count = plan_.use == StreamUse::lanes ? 3 : plan_.use == StreamUse::one_copy_lane ? 2 : plan_.streams;
    const unsigned flags = plan_.use == StreamUse::default_stream ? cudaStreamDefault : cudaStreamNonBlocking;
    streams_ = std::vector<detail::Stream>(static_cast<std::size_t>(count));
    ends_ = std::vector<detail::Event>(static_cast<std::size_t>(count));
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
    for (const Matrix matrix : detail::kMatrices) {
      if (!detail::streams(plan_, matrix) || plan_.memory == Memory::mapped) continue;
      const Status status = make_buffers(matrix);
      if (status != Status::ok) return status;
    }
    return Status::ok;
  }

  bool make_event(detail::Event& event) {
    last_error_ = cudaEventCreateWithFlags(event.out(), cudaEventDisableTiming);
    return last_error_ == cudaSuccess;
  }

  Status make_buffers(Matrix matrix) {
    const bool divided = detail::has_buffers(plan_, matrix);
    const detail::Region largest = detail::region(plan_, matrix, 0, std::min(plan_.chunk, detail::extent(plan_)));
    const auto bytes = static_cast<std::size_t>(largest.rows * largest.columns * detail::element_bytes(plan_, matrix));
    const std::size_t slots = divided ? static_cast<std::size_t>(plan_.buffers) : 1;
    constexpr std::size_t kAlignment = 256;
    slot_bytes_[index(matrix)] = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    last_error_ = cudaMalloc(memory_[index(matrix)].out(), slot_bytes_[index(matrix)] * slots);
    if (last_error_ != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return last_error_ == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::cuda_error;
    }
    if (plan_.memory != Memory::staged) return Status::ok;
    rings_[index(matrix)] = std::make_unique<detail::Ring>();
    return rings_[index(matrix)]->create(slots, bytes);
  }

  static std::size_t index(Matrix matrix) { return static_cast<std::size_t>(matrix); }
  static const char* operand(const Operands& operands, Matrix matrix) {
    return static_cast<const char*>(matrix == Matrix::a   ? operands.a
                                    : matrix == Matrix::b ? operands.b
                                                          : static_cast<const void*>(operands.d));
  }
  cudaStream_t stream(int number) const {
    return number == detail::kLegacyStream ? cudaStreamLegacy : streams_[static_cast<std::size_t>(number)].get();
  }
  char* slot(Matrix matrix, int number) const {
    return static_cast<char*>(memory_[index(matrix)].get()) +
           static_cast<std::size_t>(number) * slot_bytes_[index(matrix)];
  }

  /// A matrix' part of a chunk, where the kernel finds it, and the elements between its rows.
  char* part(const Operands& operands, Matrix matrix, int chunk, std::int64_t first, std::int64_t count,
             std::int64_t& pitch) const {
    const detail::Region region = detail::region(plan_, matrix, first, count);
    if (detail::has_buffers(plan_, matrix)) {
      pitch = region.columns;
      return slot(matrix, chunk % plan_.buffers);
    }
    pitch = detail::columns(plan_, matrix);
    const bool copied = detail::streams(plan_, matrix) && plan_.memory != Memory::mapped;
    char* const base = copied ? slot(matrix, 0) : const_cast<char*>(operand(operands, matrix));
    return base + (region.row * pitch + region.column) * detail::element_bytes(plan_, matrix);
  }

  Chunk chunk_of(const Operands& operands, int number) const {
    Chunk chunk;
    chunk.index = number;
    chunk.first = number * plan_.chunk;
    const std::int64_t count = std::min(plan_.chunk, detail::extent(plan_) - chunk.first);
    chunk.m = plan_.cut == Cut::m ? count : plan_.m;
    chunk.n = plan_.cut == Cut::n ? count : plan_.n;
    chunk.k = plan_.cut == Cut::k ? count : plan_.k;
    chunk.a = part(operands, Matrix::a, number, chunk.first, count, chunk.lda);
    chunk.b = part(operands, Matrix::b, number, chunk.first, count, chunk.ldb);
    chunk.d = part(operands, Matrix::d, number, chunk.first, count, chunk.ldd);
    chunk.accumulate = plan_.cut == Cut::k && number > 0;
    chunk.lane = number % lanes();
    return chunk;
  }

  cudaError_t enqueue_copy(const Operands& operands, const Step& step) {
    const Matrix matrix = step.matrix;
    const bool in = step.kind == Kind::copy_in;
    const auto element = static_cast<std::size_t>(detail::element_bytes(plan_, matrix));
    const std::size_t pitch = static_cast<std::size_t>(detail::columns(plan_, matrix)) * element;
    const std::size_t width = static_cast<std::size_t>(step.region.columns) * element;
    const auto rows = static_cast<std::size_t>(step.region.rows);
    char* const host = const_cast<char*>(operand(operands, matrix)) +
                       static_cast<std::size_t>(step.region.row) * pitch +
                       static_cast<std::size_t>(step.region.column) * element;
    char* const device = slot(matrix, step.slot);
    if (detail::Ring* const ring = rings_[index(matrix)].get(); ring != nullptr) {
      const auto number = static_cast<std::size_t>(step.slot);
      const detail::RowCopy copy{host, host, pitch, pitch, width, rows};
      return in ? ring->copy_in(number, copy, device, stream(step.stream))
                : ring->copy_out(number, copy, device, stream(step.stream));
    }
    char* const to = in ? device : host;
    const char* const from = in ? host : device;
    const cudaMemcpyKind kind = in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (width == pitch) return cudaMemcpyAsync(to, from, width * rows, kind, stream(step.stream));
    return cudaMemcpy2DAsync(to, in ? width : pitch, from, in ? pitch : width, width, rows, kind, stream(step.stream));
  }

  template <typename Kernel>
  cudaError_t issue(const Operands& operands, Kernel& kernel) {
    for (std::size_t i = 0; i < schedule_->steps.size(); ++i) {
      const Step& step = schedule_->steps[i];
      for (const int need : step.awaited) {
        const cudaError_t code =
            cudaStreamWaitEvent(stream(step.stream), events_[static_cast<std::size_t>(need)].get(), 0);
        if (code != cudaSuccess) return code;
      }
      cudaError_t code = cudaSuccess;
      if (step.kind == Kind::kernel) {
        code = kernel(static_cast<const Chunk&>(chunk_of(operands, step.chunk)), stream(step.stream));
        kernel_failed_ = code != cudaSuccess;
      } else {
        code = enqueue_copy(operands, step);
      }
      if (code == cudaSuccess && events_[i].get() != nullptr)
        code = cudaEventRecord(events_[i].get(), stream(step.stream));
      if (code == cudaSuccess && plan_.submission == Submission::blocking)
        code = cudaStreamSynchronize(stream(step.stream));
      if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
  }

  cudaError_t drain() noexcept {
    cudaError_t failed = cudaSuccess;
    for (auto& ring : rings_) {
      if (ring == nullptr) continue;
      const cudaError_t code = ring->drain();
      if (failed == cudaSuccess) failed = code;
    }
    return failed;
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
    return drain();
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
  detail::DeviceBytes memory_[3];
  std::size_t slot_bytes_[3] = {};
  std::unique_ptr<detail::Ring> rings_[3];
  Operands captured_;
  detail::GraphExec executable_;
  cudaError_t last_error_ = cudaSuccess;
  bool kernel_failed_ = false;
};

}  // namespace pgtune_pipeline
