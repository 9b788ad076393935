// SPDX-License-Identifier: MIT
#include "pipeline/worker/loaded_pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/plan/legality.hpp"
#include "pipeline/worker/captured_work.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::Candidate;
using pipeline::HostMemory;
using pipeline::Matrix;
using pipeline::Operation;
using pipeline::Step;
using pipeline::StreamUse;
using pipeline::Submission;

constexpr int kKernelTimes = 5;

CudaResult<Event> create_order_event() {
  cudaEvent_t event = nullptr;
  return check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event").map([&] {
    return Event(event);
  });
}

/// A stream that takes part in the default stream's barriers.
CudaResult<Stream> create_blocking_stream() {
  cudaStream_t stream = nullptr;
  return check(cudaStreamCreate(&stream), "creating a stream").map([&] { return Stream(stream); });
}

CudaResult<> record(const Event& event, cudaStream_t stream) {
  return check(cudaEventRecord(event.get(), stream), "recording an event");
}

CudaResult<> await(cudaStream_t stream, const Event& event) {
  return check(cudaStreamWaitEvent(stream, event.get(), 0), "making a stream wait");
}

double host_seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

LoadedPipeline::LoadedPipeline(const pipeline::StreamedProblem& streamed, const Candidate& candidate,
                               const HostOperands& host)
    : streamed_(streamed), candidate_(candidate), schedule_(make_schedule(streamed, candidate)), host_(&host) {}

LoadedPipeline::~LoadedPipeline() = default;

CudaResult<std::unique_ptr<LoadedPipeline>> LoadedPipeline::load(const pipeline::StreamedProblem& streamed,
                                                                 const Candidate& candidate, const HostOperands& host,
                                                                 const ResidentOperands& resident,
                                                                 KernelSource& kernels) {
  std::unique_ptr<LoadedPipeline> loaded(new LoadedPipeline(streamed, candidate, host));
  LoadedPipeline& self = *loaded;
  auto ok = ChunkBuffers::allocate(streamed, candidate, self.schedule_.chunks, host, resident)
                .map([&](ChunkBuffers buffers) { self.buffers_ = std::move(buffers); })
                .and_then([&] { return self.create_streams(); })
                .and_then([&] { return self.create_events(); })
                .and_then([&]() -> CudaResult<> {
                  if (candidate.memory != HostMemory::kStaged) return {};
                  return Staging::create(self.schedule_).map([&](auto staging) { self.staging_ = std::move(staging); });
                })
                // Kernels are compared on real data: zeros draw less power.
                .and_then([&] { return self.time_step(Step::kCopyIn); })
                .and_then([&](double) { return self.make_kernels(kernels); })
                .and_then([&] { return self.run_pass({}, false); })
                .and_then([&](double) -> CudaResult<> {
                  return candidate.submission == Submission::kGraph ? self.capture() : CudaResult<>();
                });
  if (!ok) return tl::unexpected(ok.error());
  return loaded;
}

CudaResult<> LoadedPipeline::create_streams() {
  for (int i = 0; i < schedule_.streams; ++i) {
    auto created = candidate_.use == StreamUse::kDefaultStream ? create_blocking_stream() : create_stream();
    if (!created) return tl::unexpected(created.error());
    streams_.push_back(std::move(*created));
    auto end = create_order_event();
    if (!end) return tl::unexpected(end.error());
    ends_.push_back(std::move(*end));
  }
  return {};
}

CudaResult<> LoadedPipeline::create_events() {
  auto start = create_event(), stop = create_event();
  if (!start) return tl::unexpected(start.error());
  if (!stop) return tl::unexpected(stop.error());
  start_ = std::move(*start);
  stop_ = std::move(*stop);
  done_.resize(schedule_.operations.size());
  awaited_.resize(schedule_.operations.size());
  for (std::size_t i = 0; i < schedule_.operations.size(); ++i) {
    awaited_[i] = awaited(schedule_, static_cast<int>(i));
    for (const int need : awaited_[i]) {
      Event& event = done_[static_cast<std::size_t>(need)];
      if (event) continue;
      auto created = create_order_event();
      if (!created) return tl::unexpected(created.error());
      event = std::move(*created);
    }
  }
  return {};
}

cudaStream_t LoadedPipeline::stream(int index) const {
  return index == pipeline::kLegacyStream ? cudaStreamLegacy : streams_[static_cast<std::size_t>(index)].get();
}

CudaResult<> LoadedPipeline::make_kernels(KernelSource& kernels) {
  const std::vector<OperandSet>& sets = buffers_.operands();
  struct Made {
    Problem problem;
    int stream;
  };
  std::vector<Made> made;
  for (std::size_t chunk = 0; chunk < sets.size(); ++chunk) {
    const Problem problem = chunk_problem(streamed_, candidate_, schedule_.chunks[chunk]);
    // Launches of one stream follow each other, and may share a workspace.
    const int stream = static_cast<int>(chunk) % compute_streams(candidate_);
    const auto known = std::find_if(made.begin(), made.end(), [&](const Made& other) {
      return other.stream == stream && other.problem == problem;
    });
    kernel_of_chunk_.push_back(static_cast<std::size_t>(known - made.begin()));
    if (known != made.end()) continue;
    auto kernel = kernels.make(problem, sets, chunk, streams_.front().get());
    if (!kernel) return tl::unexpected(kernel.error());
    made.push_back({problem, stream});
    kernels_.push_back({std::move(kernel->launchable), std::move(kernel->name)});
  }
  return check(cudaStreamSynchronize(streams_.front().get()), "preparing kernels");
}

DeviceCopy LoadedPipeline::copy_of(const Operation& operation) const {
  const Matrix matrix = operation.matrix;
  const bool in = operation.step == Step::kCopyIn;
  const std::int64_t element = streamed_.element_bytes(matrix), pitch = streamed_.columns(matrix) * element;
  const pipeline::Region& region = operation.region;
  std::byte* const host = (*host_)[matrix].data() + region.row * pitch + region.column * element;
  void* const device = buffers_.slot(matrix, operation.slot);
  const auto row_bytes = static_cast<std::size_t>(region.columns * element);
  const auto host_pitch = static_cast<std::size_t>(pitch), rows = static_cast<std::size_t>(region.rows);
  if (in) return {device, host, row_bytes, host_pitch, row_bytes, rows, cudaMemcpyHostToDevice};
  return {host, device, host_pitch, row_bytes, row_bytes, rows, cudaMemcpyDeviceToHost};
}

CudaResult<> LoadedPipeline::enqueue(std::size_t first, std::size_t end, cudaStream_t stream) {
  const Operation& operation = schedule_.operations[first];
  if (operation.step == Step::kCompute) {
    const auto chunk = static_cast<std::size_t>(operation.chunk);
    return kernels_[kernel_of_chunk_[chunk]].launchable->launch(chunk, stream);
  }
  if (end - first == 1) {
    const DeviceCopy copy = copy_of(operation);
    if (!staging_) return enqueue_copy(copy, stream);
    return operation.step == Step::kCopyIn ? staging_->copy_in(operation, copy, stream)
                                           : staging_->copy_out(operation, copy, stream);
  }
  std::vector<DeviceCopy> copies;
  for (std::size_t i = first; i < end; ++i) copies.push_back(copy_of(schedule_.operations[i]));
  return enqueue_batch(copies, stream);
}

CudaResult<> LoadedPipeline::issue_call(std::size_t first, std::size_t end, const Pass& pass) {
  const cudaStream_t into = stream(schedule_.operations[first].stream);
  CudaResult<> ok;
  if (pass.only == nullptr) {
    for (const int need : awaited_[first])
      ok = ok.and_then([&] { return await(into, done_[static_cast<std::size_t>(need)]); });
  }
  const auto mark = [&](const std::vector<Event>& events) {
    for (std::size_t i = first; i < end && pass.marks; ++i) ok = ok.and_then([&] { return record(events[i], into); });
  };
  mark(before_);
  ok = ok.and_then([&] { return enqueue(first, end, into); });
  mark(after_);
  if (const Event& done = done_[end - 1]; done && pass.only == nullptr)
    ok = ok.and_then([&] { return record(done, into); });
  if (!ok || candidate_.submission != Submission::kBlocking) return ok;
  return check(cudaStreamSynchronize(into), "waiting for an operation");
}

CudaResult<> LoadedPipeline::issue(const Pass& pass) {
  for (std::size_t first = 0, end = 0; first < schedule_.operations.size(); first = end) {
    end = end_of_call(schedule_, first);
    if (pass.only != nullptr && schedule_.operations[first].step != *pass.only) continue;
    if (auto ok = issue_call(first, end, pass); !ok) return ok;
  }
  return {};
}

CudaResult<> LoadedPipeline::fork() {
  if (auto ok = record(start_, streams_.front().get()); !ok) return ok;
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    if (auto ok = await(streams_[i].get(), start_); !ok) return ok;
  }
  return {};
}

CudaResult<> LoadedPipeline::join() {
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    auto ok = record(ends_[i], streams_[i].get()).and_then([&] { return await(streams_.front().get(), ends_[i]); });
    if (!ok) return ok;
  }
  // An event in the legacy default stream comes after all that any blocking stream was given.
  if (candidate_.use == StreamUse::kDefaultStream) {
    auto ok =
        record(ends_.front(), cudaStreamLegacy).and_then([&] { return await(streams_.front().get(), ends_.front()); });
    if (!ok) return ok;
  }
  return {};
}

CudaResult<double> LoadedPipeline::run_pass(const Pass& pass, bool as_graph) {
  const auto begin = std::chrono::steady_clock::now();
  const cudaStream_t first = streams_.front().get();
  auto ok = as_graph ? record(start_, first).and_then([&] {
    return check(cudaGraphLaunch(executable_.get(), first), "launching the graph");
  })
                     : fork().and_then([&] { return issue(pass); }).and_then([&] { return join(); });
  ok = ok.and_then([&] { return record(stop_, first); })
           .and_then([&] { return check(cudaEventSynchronize(stop_.get()), "running the pipeline"); })
           .and_then([&] { return staging_ ? staging_->drain() : CudaResult<>(); });
  if (!ok) {
    // What was enqueued must not outlive its buffers.
    static_cast<void>(cudaDeviceSynchronize());
    return tl::unexpected(ok.error());
  }
  return host_seconds_since(begin);
}

CudaResult<> LoadedPipeline::capture() {
  const cudaStream_t first = streams_.front().get();
  // The fork's event must not be one that is timed outside of the graph.
  auto ok = check(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  if (!ok) return ok;
  ok = record(ends_.front(), first);
  for (std::size_t i = 1; i < streams_.size() && ok; ++i) ok = await(streams_[i].get(), ends_.front());
  ok = ok.and_then([&] { return issue({}); }).and_then([&] { return join(); });
  cudaGraph_t graph = nullptr;
  const auto ended = check(cudaStreamEndCapture(first, &graph), "ending a capture");
  graph_.reset(graph);
  if (!ok) return ok;
  if (!ended) return ended;
  cudaGraphExec_t executable = nullptr;
  return check(cudaGraphInstantiate(&executable, graph_.get(), 0), "instantiating the graph").map([&] {
    executable_.reset(executable);
  });
}

CudaResult<> LoadedPipeline::run(pipeline::RunSample& sample, bool as_graph) {
  return run_pass({}, as_graph).and_then([&](double host_s) {
    return seconds_between(start_.get(), stop_.get()).map([&](double device_s) {
      ++sample.runs;
      sample.host_s += host_s;
      sample.device_s += device_s;
    });
  });
}

CudaResult<pipeline::Timeline> LoadedPipeline::trace() {
  for (std::size_t i = before_.size(); i < schedule_.operations.size(); ++i) {
    auto before = create_event(), after = create_event();
    if (!before) return tl::unexpected(before.error());
    if (!after) return tl::unexpected(after.error());
    before_.push_back(std::move(*before));
    after_.push_back(std::move(*after));
  }
  const auto total_s = run_pass({.marks = true}, false);
  if (!total_s) return tl::unexpected(total_s.error());
  std::vector<pipeline::Marks> marks(schedule_.operations.size());
  for (std::size_t i = 0; i < marks.size(); ++i) {
    auto ok = seconds_between(start_.get(), before_[i].get())
                  .and_then([&](double s) {
                    marks[i].before_s = s;
                    return seconds_between(start_.get(), after_[i].get());
                  })
                  .map([&](double s) { marks[i].after_s = s; });
    if (!ok) return tl::unexpected(ok.error());
  }
  return timeline_of_marks(schedule_, marks, *total_s);
}

std::vector<cudaStream_t> LoadedPipeline::streams() const {
  std::vector<cudaStream_t> handles;
  for (const Stream& stream : streams_) handles.push_back(stream.get());
  return handles;
}

CudaResult<std::vector<int>> LoadedPipeline::pieces_of_products() {
  std::vector<int> of_kernel(kernels_.size(), 0), of_chunk;
  for (std::size_t chunk = 0; chunk < kernel_of_chunk_.size(); ++chunk) {
    int& pieces = of_kernel[kernel_of_chunk_[chunk]];
    if (pieces == 0) {
      Launchable& kernel = *kernels_[kernel_of_chunk_[chunk]].launchable;
      const cudaStream_t first = streams_.front().get();
      const auto counted = pieces_of_launch([&] { return kernel.launch(chunk, first); }, first);
      if (!counted) return tl::unexpected(counted.error());
      pieces = *counted;
    }
    of_chunk.push_back(pieces);
  }
  return of_chunk;
}

CudaResult<double> LoadedPipeline::time_step(Step step) { return run_pass({.only = &step}, false); }

CudaResult<double> LoadedPipeline::time_kernel() {
  if (auto ok = time_step(Step::kCopyIn); !ok) return tl::unexpected(ok.error());
  const cudaStream_t first = streams_.front().get();
  std::vector<double> times;
  for (int time = 0; time <= kKernelTimes; ++time) {
    auto took = record(start_, first)
                    .and_then([&] { return kernels_.front().launchable->launch(0, first); })
                    .and_then([&] { return record(stop_, first); })
                    .and_then([&] { return check(cudaEventSynchronize(stop_.get()), "running a kernel"); })
                    .and_then([&] { return seconds_between(start_.get(), stop_.get()); });
    if (!took) return tl::unexpected(took.error());
    if (time > 0) times.push_back(*took);
  }
  return middle_of(std::move(times));
}

}  // namespace pgtune::gpu
