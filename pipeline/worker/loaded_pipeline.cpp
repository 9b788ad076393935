// SPDX-License-Identifier: MIT
#include "pipeline/worker/loaded_pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/plan/candidate.hpp"
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

namespace exported = pgtune_pipeline;

constexpr int kKernelTimes = 5;
/// CUDA 12.8's.
constexpr int kLeastDriverWithBatches = 12080;

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

/// The operands of the chunk's kernel.
OperandSet operands_of(const exported::Plan& plan, const exported::Chunk& chunk) {
  const std::int64_t count = plan.cut == exported::Cut::m ? chunk.m : plan.cut == exported::Cut::n ? chunk.n : chunk.k;
  const auto span = [&](exported::Matrix matrix, const void* at, std::int64_t pitch) -> DeviceSpan {
    const exported::detail::Region region = exported::detail::region(plan, matrix, chunk.first, count);
    return {reinterpret_cast<std::uint64_t>(at),
            ((region.rows - 1) * pitch + region.columns) * exported::detail::element_bytes(plan, matrix)};
  };
  return product_operands(span(exported::Matrix::a, chunk.a, chunk.lda), span(exported::Matrix::b, chunk.b, chunk.ldb),
                          span(exported::Matrix::d, chunk.d, chunk.ldd));
}

CudaResult<bool> is_work(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  return check(cudaGraphNodeGetType(node, &type), "asking for a node's type").map([&] {
    return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy || type == cudaGraphNodeTypeMemset;
  });
}

/// The number of kernels, fills and copies of a launch, which is captured and not run. Precondition: `stream` can be
/// captured and is idle.
CudaResult<int> pieces_of_launch(const std::function<CudaResult<>()>& launch, cudaStream_t stream) {
  TRY(check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture"));
  const auto launched = launch();
  cudaGraph_t captured = nullptr;
  const auto ended = check(cudaStreamEndCapture(stream, &captured), "ending a capture");
  const Graph graph(captured);
  if (!launched) return tl::unexpected(launched.error());
  if (!ended) return tl::unexpected(ended.error());
  std::size_t count = 0;
  auto ok = check(cudaGraphGetNodes(graph.get(), nullptr, &count), "counting nodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0)
    ok = ok.and_then([&] { return check(cudaGraphGetNodes(graph.get(), nodes.data(), &count), "listing nodes"); });
  if (!ok) return tl::unexpected(ok.error());
  int pieces = 0;
  for (const cudaGraphNode_t node : nodes) {
    TRY_ASSIGN(const auto work, is_work(node));
    pieces += work ? 1 : 0;
  }
  return pieces;
}

double host_seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

CudaResult<bool> has_batched_copies() {
  int version = 0;
  return check(cudaDriverGetVersion(&version), "asking for the driver's version").map([&] {
    return version >= kLeastDriverWithBatches;
  });
}

LoadedPipeline::LoadedPipeline(const pipeline::StreamedProblem& streamed, const Candidate& candidate,
                               const HostOperands& host, const ResidentOperands& resident)
    : streamed_(streamed),
      candidate_(candidate),
      plan_(plan_of(streamed, candidate)),
      steps_(plan_),
      schedule_(make_schedule(streamed, candidate)),
      host_(&host),
      transfers_(plan_) {
  const auto place = [&](Matrix matrix) -> void* {
    return streamed.streams(matrix) ? host[matrix].data() : device_pointer(resident[index_of(matrix)]);
  };
  operands_ = {place(Matrix::kA), place(Matrix::kB), place(Matrix::kD)};
}

LoadedPipeline::~LoadedPipeline() = default;

CudaResult<std::unique_ptr<LoadedPipeline>> LoadedPipeline::load(const pipeline::StreamedProblem& streamed,
                                                                 const Candidate& candidate, const HostOperands& host,
                                                                 const ResidentOperands& resident,
                                                                 KernelSource& kernels) {
  std::unique_ptr<LoadedPipeline> loaded(new LoadedPipeline(streamed, candidate, host, resident));
  LoadedPipeline& self = *loaded;
  auto ok = self.allocate_buffers()
                .and_then([&] { return self.create_streams(); })
                .and_then([&] { return self.create_events(); })
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

CudaResult<> LoadedPipeline::allocate_buffers() {
  cudaError_t code = cudaSuccess;
  const exported::Status status = transfers_.allocate(code);
  if (status == exported::Status::out_of_memory) code = cudaErrorMemoryAllocation;
  if (auto ok = check(code, "allocating buffers"); !ok) return ok;
  for (int chunk = 0; chunk < steps_.chunks(); ++chunk)
    sets_.push_back(operands_of(plan_, transfers_.chunk_of(operands_, chunk, 1)));
  return {};
}

CudaResult<> LoadedPipeline::create_streams() {
  for (int i = 0; i < schedule_.streams; ++i) {
    TRY_ASSIGN(auto created, candidate_.use == StreamUse::kDefaultStream ? create_blocking_stream() : create_stream());
    streams_.push_back(std::move(created));
    TRY_ASSIGN(auto end, create_order_event());
    ends_.push_back(std::move(end));
  }
  return {};
}

CudaResult<> LoadedPipeline::create_events() {
  TRY_ASSIGN(auto start, create_event());
  TRY_ASSIGN(auto stop, create_event());
  start_ = std::move(start);
  stop_ = std::move(stop);
  done_.resize(schedule_.operations.size());
  for (const exported::detail::Step& step : steps_.steps) {
    for (const int need : step.awaited) {
      Event& event = done_[static_cast<std::size_t>(need)];
      if (event) continue;
      TRY_ASSIGN(auto created, create_order_event());
      event = std::move(created);
    }
  }
  return {};
}

cudaStream_t LoadedPipeline::stream(int index) const {
  return index == pipeline::kLegacyStream ? cudaStreamLegacy : streams_[static_cast<std::size_t>(index)].get();
}

CudaResult<> LoadedPipeline::make_kernels(KernelSource& kernels) {
  struct Made {
    Problem problem;
    int stream;
  };
  std::vector<Made> made;
  for (std::size_t chunk = 0; chunk < sets_.size(); ++chunk) {
    const Problem problem = chunk_problem(streamed_, candidate_, schedule_.chunks[chunk]);
    // Launches of one stream follow each other, and may share a workspace.
    const int stream = static_cast<int>(chunk) % compute_streams(candidate_);
    const auto known = std::find_if(made.begin(), made.end(), [&](const Made& other) {
      return other.stream == stream && other.problem == problem;
    });
    kernel_of_chunk_.push_back(static_cast<std::size_t>(known - made.begin()));
    if (known != made.end()) continue;
    TRY_ASSIGN(auto kernel, kernels.make(problem, sets_, chunk, streams_.front().get()));
    made.push_back({problem, stream});
    kernels_.push_back({std::move(kernel.launchable), std::move(kernel.name)});
  }
  return check(cudaStreamSynchronize(streams_.front().get()), "preparing kernels");
}

CudaResult<> LoadedPipeline::enqueue(std::size_t first, std::size_t end, cudaStream_t stream) {
  const Operation& operation = schedule_.operations[first];
  if (operation.step == Step::kCompute) {
    const auto chunk = static_cast<std::size_t>(operation.chunk);
    return kernels_[kernel_of_chunk_[chunk]].launchable->launch(chunk, stream);
  }
  return check(transfers_.enqueue(operands_, steps_, first, end, stream),
               operation.step == Step::kCopyIn ? "copying to the GPU" : "copying from the GPU");
}

CudaResult<> LoadedPipeline::issue_call(std::size_t first, std::size_t end, const Pass& pass) {
  const cudaStream_t into = stream(schedule_.operations[first].stream);
  CudaResult<> ok;
  if (pass.only == nullptr) {
    for (const int need : steps_.steps[first].awaited)
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
  // An event in the legacy default stream follows all earlier work of any blocking stream.
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
           .and_then([&] { return check(transfers_.drain(), "copying through staging buffers"); });
  if (!ok) {
    // Enqueued work must not outlive its buffers.
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

std::vector<DeviceSpan> LoadedPipeline::buffers() const {
  std::vector<DeviceSpan> spans;
  for (const Matrix matrix : pipeline::kMatrices) {
    if (!streamed_.streams(matrix) || candidate_.memory == HostMemory::kMapped) continue;
    const auto of_plan = static_cast<exported::Matrix>(matrix);
    const std::size_t bytes = exported::detail::slot_bytes(plan_, of_plan) * exported::detail::slots_of(plan_, of_plan);
    // The first chunk's begins where the memory does.
    const OperandSet& first = sets_.front();
    const DeviceSpan& begin = first[matrix == Matrix::kA   ? Operand::kA
                                    : matrix == Matrix::kB ? Operand::kB
                                                           : Operand::kD];
    spans.push_back({begin.address, static_cast<std::int64_t>(bytes)});
  }
  return spans;
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
  TRY(time_step(Step::kCopyIn));
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
