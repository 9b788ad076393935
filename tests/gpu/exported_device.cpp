// SPDX-License-Identifier: MIT
// An exported header on a GPU: every entry bit for bit against the worker's own launch, over poisoned workspaces, in
// graphs, from sixteen threads and on two streams of unequal priority; with --time also what it costs. Prints a table;
// exit code 1 where anything differs, 77 where there is no GPU it was made for.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define PGTUNE_CUBLASLT_FALLBACK
#include "best_gemm.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/scratch_folder.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/template/former_parameters.hpp"

namespace pgtune::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kReplays = 1000, kThreads = 16, kCallsOfAThread = 50;
constexpr std::int64_t kMostCopies = 64;
constexpr std::size_t kFallbackBytes = std::size_t{32} << 20;

int failures = 0;

void expect(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  fmt::print("FAILED: {}\n", what);
}

void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  fmt::print("{}: {}\n", what, cudaGetErrorString(code));
  std::exit(1);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Problem problem_of(const best_gemm::Problem& p) {
  Problem out;
  out.m = p.m, out.n = p.n, out.k = p.k, out.batch = p.batch;
  out.lda = p.lda, out.ldb = p.ldb, out.ldc = p.ldc;
  out.dtype = static_cast<Dtype>(p.type);
  out.output = static_cast<ElementType>(static_cast<int>(p.out) - 1);
  out.trans_a = p.layout == best_gemm::Layout::tn || p.layout == best_gemm::Layout::tt;
  out.trans_b = p.layout == best_gemm::Layout::nt || p.layout == best_gemm::Layout::tt;
  out.epilogue = {p.epilogue.bias, static_cast<Activation>(p.epilogue.activation)};
  return out;
}

best_gemm::Operands operands_of(const OperandSet& set, const Problem& problem) {
  best_gemm::Operands o;
  o.a = device_pointer(set.a.address), o.b = device_pointer(set.b.address), o.c = device_pointer(set.c.address);
  o.d = device_pointer(set.d.address), o.bias = device_pointer(set.bias.address);
  o.alpha = static_cast<float>(problem.alpha), o.beta = static_cast<float>(problem.beta);
  return o;
}

std::vector<char> bytes_of(const DeviceSpan& span) {
  std::vector<char> bytes(static_cast<std::size_t>(span.bytes));
  must(cudaMemcpy(bytes.data(), device_pointer(span.address), bytes.size(), cudaMemcpyDeviceToHost), "reading D");
  return bytes;
}

struct Memory {
  explicit Memory(std::size_t bytes) { must(cudaMalloc(&data, bytes > 0 ? bytes : 256), "allocating"); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cudaFree(data); }
  void* data = nullptr;
};

class ExportedDevice {
 public:
  explicit ExportedDevice(int ordinal) : ordinal_(ordinal) {
    info_ = describe_gpu(ordinal).value();
    driver_ = Driver::load().value();
    stream_ = create_stream().value();
    kernels_ = HelperKernels::load(driver_, info_.architecture, info_.sm_count).value();
    if (cublasLtCreate(&cublas_) != CUBLAS_STATUS_SUCCESS) {
      fmt::print("cuBLASLt cannot be used\n");
      std::exit(1);
    }
  }

  bool prepare() {
    const auto begin = Clock::now();
    const best_gemm::Status status = best_gemm::Gemm::prepare(ordinal_);
    const double cold = seconds_since(begin);
    const auto again = Clock::now();
    best_gemm::Gemm::prepare(ordinal_);
    fmt::print("prepare: {}, {:.1f} ms for {} kernels, again {:.1f} us\n", best_gemm::text(status), 1e3 * cold,
               best_gemm::detail::kImageCount, 1e6 * seconds_since(again));
    return status == best_gemm::Status::ok;
  }

  /// One entry: right everywhere, and what it takes.
  void check(const best_gemm::Entry& entry, bool time) {
    Problem problem = problem_of(entry.problem);
    problem.beta = entry.adds_c ? 1 : 0;
    const std::int64_t copies = time ? std::min(kMostCopies, 3 * info_.l2_bytes / problem.operand_bytes() + 1) : 1;
    auto buffers = OperandBuffers::allocate(*kernels_, problem, {}, copies, stream_.get()).value();
    for (std::size_t i = 0; i < static_cast<std::size_t>(copies); ++i) require(buffers.fill(i, stream_.get()));
    const auto worker = load(entry, problem, buffers);
    require(worker->reset(0, stream_.get()));
    require(buffers.poison(0, stream_.get()));
    require(worker->launch(0, stream_.get()));
    sync();
    const std::vector<char> expected = bytes_of(buffers.copies()[0].d);

    best_gemm::Gemm gemm;
    const best_gemm::Operands o = operands_of(buffers.copies()[0], problem);
    const best_gemm::Status status = best_gemm::Gemm::select(entry.problem, o, ordinal_, {}, gemm);
    expect(status == best_gemm::Status::ok && gemm.choice().match == best_gemm::Match::exact,
           fmt::format("{}: {}", problem.title(), gemm.choice().why));
    if (status != best_gemm::Status::ok) return;
    const Memory workspace(gemm.workspace_bytes());
    const auto identical = [&](const char* how) {
      sync();
      expect(bytes_of(buffers.copies()[0].d) == expected, fmt::format("{}: {}", problem.title(), how));
    };
    for (const int poison : {0xff, 0x01}) {
      must(cudaMemset(workspace.data, poison, gemm.workspace_bytes()), "poisoning");
      require(buffers.poison(0, stream_.get()));
      if (!launch(gemm, o, workspace.data, stream_.get(), problem)) return;
      identical("differs over a poisoned workspace");
    }
    replay(gemm, o, workspace.data, problem, buffers);
    identical("differs after graph replays");
    on_two_streams(gemm, o, problem, buffers, expected);
    fall_back(entry, o, problem, buffers, expected);
    fmt::print("{:44} workspace {:>9}", problem.title(), gemm.workspace_bytes());
    if (time) show_times(entry, gemm, workspace.data, problem, buffers, *worker);
    fmt::print("\n");
    std::fflush(stdout);
  }

  /// Side by side in one process: each thread its own stream, workspace and D.
  void threads(const best_gemm::Entry& entry) {
    Problem problem = problem_of(entry.problem);
    problem.beta = entry.adds_c ? 1 : 0;
    auto buffers = OperandBuffers::allocate(*kernels_, problem, {}, kThreads, stream_.get()).value();
    for (std::size_t i = 0; i < kThreads; ++i) require(buffers.fill(i, stream_.get()));
    sync();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        must(cudaSetDevice(ordinal_), "choosing the device");
        cudaStream_t stream = nullptr;
        must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
        best_gemm::Operands o = operands_of(buffers.copies()[t], problem);
        o.a = device_pointer(buffers.copies()[0].a.address);
        o.b = device_pointer(buffers.copies()[0].b.address);
        o.bias = device_pointer(buffers.copies()[0].bias.address);
        best_gemm::Gemm gemm;
        if (best_gemm::Gemm::prepare(ordinal_) != best_gemm::Status::ok ||
            best_gemm::Gemm::select(entry.problem, o, ordinal_, {}, gemm) != best_gemm::Status::ok) {
          ++wrong;
          return;
        }
        const Memory workspace(gemm.workspace_bytes());
        for (int i = 0; i < kCallsOfAThread; ++i) {
          if (gemm.run(o, workspace.data, gemm.workspace_bytes(), stream) != best_gemm::Status::ok) ++wrong;
        }
        must(cudaStreamSynchronize(stream), "a thread's launches");
      });
    }
    for (std::thread& thread : threads) thread.join();
    expect(wrong == 0, "a thread's call failed");
    if (problem.beta != 0) return;  // each D has another C in it
    const std::vector<char> first = bytes_of(buffers.copies()[0].d);
    for (std::size_t t = 1; t < kThreads; ++t)
      expect(bytes_of(buffers.copies()[t].d) == first, fmt::format("thread {} has another result", t));
    fmt::print("{} threads, {} calls each of {}\n", kThreads, kCallsOfAThread, problem.title());
  }

  /// What calls cost the host, in a stream that is never full.
  void host_times(const best_gemm::Entry& entry) {
    Problem problem = problem_of(entry.problem);
    problem.beta = entry.adds_c ? 1 : 0;
    auto buffers = OperandBuffers::allocate(*kernels_, problem, {}, 1, stream_.get()).value();
    require(buffers.fill(0, stream_.get()));
    const auto worker = load(entry, problem, buffers);
    require(worker->reset(0, stream_.get()));
    best_gemm::Gemm gemm;
    const best_gemm::Operands o = operands_of(buffers.copies()[0], problem);
    const auto select = [&] { best_gemm::Gemm::select(entry.problem, o, ordinal_, {}, gemm); };
    select();
    const Memory workspace(gemm.workspace_bytes());
    fmt::print("host time of a call, {}: select {:.2f} us, run {:.2f} us, the worker's bare launch {:.2f} us",
               problem.title(), 1e6 * host_time(select),
               1e6 * host_time([&] { launch(gemm, o, workspace.data, stream_.get(), problem); }),
               1e6 * host_time([&] { require(worker->launch(0, stream_.get())); }));
    const auto matmul = CublasLtMatmul::create(problem);
    const auto algorithms = matmul ? (*matmul)->heuristics() : CudaResult<std::vector<CublasLtCandidate>>();
    if (matmul && algorithms && !algorithms->empty())
      fmt::print(", cublasLtMatmul {:.2f} us",
                 1e6 * host_time([&] {
                   require((*matmul)->launch(algorithms->front().algorithm, buffers.copies()[0], stream_.get()));
                 }));
    fmt::print("\n");
  }

 private:
  void require(const CudaResult<>& result) {
    if (result) return;
    fmt::print("{}\n", result.error().text);
    std::exit(1);
  }
  void sync() { must(cudaStreamSynchronize(stream_.get()), "running"); }

  bool launch(const best_gemm::Gemm& gemm, const best_gemm::Operands& o, void* workspace, cudaStream_t stream,
              const Problem& problem) {
    const best_gemm::Status status = gemm.run(o, workspace, gemm.workspace_bytes(), stream);
    const int code = status == best_gemm::Status::cuda_error ? best_gemm::last_cuda_error() : 0;
    expect(status == best_gemm::Status::ok, fmt::format("{}: {} ({})", problem.title(), best_gemm::text(status), code));
    return status == best_gemm::Status::ok;
  }

  std::unique_ptr<LoadedVariant> load(const best_gemm::Entry& entry, const Problem& problem,
                                      const OperandBuffers& buffers) {
    int count = 0;
    const best_gemm::Variant& named = best_gemm::variants(&count)[entry.variant];
    const space::TemplateDefinition definition = tool::Catalogue().load(named.template_name);
    const Variant variant = space::recorded_variant(definition, named.parameters).value();
    const auto plan = space::make_launch_plan(definition, variant, problem, info_).value();
    const auto defines = space::make_defines(definition, variant, problem, info_).value();
    const auto done = builder_.build({1, variant, definition.source, defines, info_.architecture}).value();
    return LoadedVariant::load(driver_, *kernels_, done.build, plan, buffers.copies(), 0, stream_.get()).value();
  }

  void replay(const best_gemm::Gemm& gemm, const best_gemm::Operands& o, void* workspace, const Problem& problem,
              const OperandBuffers& buffers) {
    must(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeGlobal), "beginning a capture");
    launch(gemm, o, workspace, stream_.get(), problem);
    cudaGraph_t graph = nullptr;
    must(cudaStreamEndCapture(stream_.get(), &graph), "ending the capture");
    cudaGraphExec_t exec = nullptr;
    must(cudaGraphInstantiate(&exec, graph, 0), "instantiating the graph");
    require(buffers.poison(0, stream_.get()));
    if (problem.beta != 0) require(buffers.fill(0, stream_.get()));
    for (int i = 0; i < kReplays; ++i) must(cudaGraphLaunch(exec, stream_.get()), "launching the graph");
    sync();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }

  /// Two streams of unequal priority at once, a workspace each: nobody may hang or mix up flags.
  void on_two_streams(const best_gemm::Gemm& gemm, const best_gemm::Operands& o, const Problem& problem,
                      const OperandBuffers& buffers, const std::vector<char>& expected) {
    if (problem.beta != 0) return;
    int least = 0, greatest = 0;
    must(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for priorities");
    cudaStream_t streams[2] = {};
    must(cudaStreamCreateWithPriority(&streams[0], cudaStreamNonBlocking, least), "creating a stream");
    must(cudaStreamCreateWithPriority(&streams[1], cudaStreamNonBlocking, greatest), "creating a stream");
    const Memory first(gemm.workspace_bytes()), second(gemm.workspace_bytes());
    const Memory other(expected.size());
    must(cudaMemcpy(other.data, o.d, expected.size(), cudaMemcpyDeviceToDevice), "copying D");
    best_gemm::Operands twin = o;
    twin.d = other.data;
    twin.c = other.data;
    for (int i = 0; i < 20; ++i) {
      launch(gemm, o, first.data, streams[0], problem);
      launch(gemm, twin, second.data, streams[1], problem);
    }
    for (cudaStream_t stream : streams) {
      must(cudaStreamSynchronize(stream), "two streams");
      cudaStreamDestroy(stream);
    }
    expect(bytes_of(buffers.copies()[0].d) == expected, problem.title() + ": differs on two streams");
    expect(
        bytes_of({reinterpret_cast<std::uint64_t>(other.data), static_cast<std::int64_t>(expected.size())}) == expected,
        problem.title() + ": differs on the other of two streams");
  }

  /// cuBLASLt in the kernel's place: nearly the same, where it knows the type.
  void fall_back(const best_gemm::Entry& entry, const best_gemm::Operands& o, const Problem& problem,
                 const OperandBuffers& buffers, const std::vector<char>& expected) {
    const Memory workspace(kFallbackBytes);
    best_gemm::Policy policy;
    policy.pinned = 1 << 30;  // nobody
    policy.fallback = best_gemm::cublaslt_fallback;
    policy.user = cublas_;
    policy.fallback_workspace_bytes = kFallbackBytes;
    best_gemm::Gemm gemm;
    expect(best_gemm::Gemm::select(entry.problem, o, ordinal_, policy, gemm) == best_gemm::Status::ok &&
               gemm.choice().match == best_gemm::Match::fallback,
           problem.title() + ": no fallback");
    require(buffers.poison(0, stream_.get()));
    const best_gemm::Status status = gemm.run(o, workspace.data, kFallbackBytes, stream_.get());
    if (status == best_gemm::Status::not_supported) return;
    sync();
    const std::vector<char> got = bytes_of(buffers.copies()[0].d);
    const auto bytes = static_cast<std::size_t>(element_bytes(problem.type_of_c()));
    double difference = 0, largest = 0;
    for (std::int64_t row = 0; row < problem.m; row += 1 + problem.m / 64) {
      for (std::int64_t column = 0; column < problem.n; ++column) {
        std::uint32_t wanted = 0, seen = 0;
        const std::size_t at = static_cast<std::size_t>(row * problem.ldc + column) * bytes;
        std::memcpy(&wanted, expected.data() + at, bytes);
        std::memcpy(&seen, got.data() + at, bytes);
        const double value = element_value(problem.type_of_c(), wanted);
        largest = std::max(largest, std::abs(value));
        difference = std::max(difference, std::abs(value - element_value(problem.type_of_c(), seen)));
      }
    }
    expect(status == best_gemm::Status::ok && difference <= 0.02 * largest,
           fmt::format("{}: the fallback: {} ({}), off by {} of {}", problem.title(), best_gemm::text(status),
                       best_gemm::last_cuda_error(), difference, largest));
  }

  /// Seconds a launch, over 0.4 s after as long a lead-in.
  template <typename Launch>
  double device_time(const Launch& launch, double about_s) {
    const int count = std::max(10, static_cast<int>(0.4 / about_s));
    cudaEvent_t begin = nullptr, end = nullptr;
    must(cudaEventCreate(&begin), "creating an event");
    must(cudaEventCreate(&end), "creating an event");
    for (int i = 0; i < count; ++i) launch(i);
    must(cudaEventRecord(begin, stream_.get()), "recording");
    for (int i = 0; i < count; ++i) launch(i);
    must(cudaEventRecord(end, stream_.get()), "recording");
    must(cudaEventSynchronize(end), "timing");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin, end), "timing");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 1e-3 * static_cast<double>(ms) / count;
  }

  void show_times(const best_gemm::Entry& entry, const best_gemm::Gemm& gemm, void* workspace, const Problem& problem,
                  const OperandBuffers& buffers, LoadedVariant& worker) {
    const std::size_t copies = buffers.copies().size();
    for (std::size_t i = 0; i < copies; ++i) require(worker.reset(i, stream_.get()));
    std::vector<best_gemm::Operands> operands;
    for (const OperandSet& set : buffers.copies()) operands.push_back(operands_of(set, problem));
    const auto exported = [&](int i) {
      launch(gemm, operands[static_cast<std::size_t>(i) % copies], workspace, stream_.get(), problem);
    };
    const auto bare = [&](int i) { require(worker.launch(static_cast<std::size_t>(i) % copies, stream_.get())); };
    std::vector<double> ratios, times, workers;
    for (int round = 0; round < 3; ++round) {
      times.push_back(device_time(exported, entry.time_s));
      workers.push_back(device_time(bare, entry.time_s));
      ratios.push_back(times.back() / workers.back());
    }
    fmt::print("  stored {:8.2f} us, worker's launch {:8.2f} us, run {:8.2f} us, run/worker {:.4f}, run/stored {:.4f}",
               1e6 * entry.time_s, 1e6 * stats::median(workers), 1e6 * stats::median(times), stats::median(ratios),
               stats::median(times) / entry.time_s);
  }

  template <typename Call>
  double host_time(const Call& call) {
    std::vector<double> times;
    for (int chunk = 0; chunk < 20; ++chunk) {
      sync();
      const auto begin = Clock::now();
      for (int i = 0; i < 100; ++i) call();
      times.push_back(seconds_since(begin) / 100);
    }
    sync();
    return stats::median(times);
  }

  int ordinal_;
  cublasLtHandle_t cublas_ = nullptr;
  const tool::ScratchFolder folder_;
  const Builder builder_{CubinCache::open(folder_.path()).value(), find_toolkit().value()};
  DeviceInfo info_;
  Driver driver_;
  Stream stream_;
  std::unique_ptr<HelperKernels> kernels_;
};

int run(bool time) {
  const auto ordinal = find_gpu("0");
  if (!ordinal) {
    fmt::print("needs a GPU: {}\n", ordinal.error().text());
    return 77;
  }
  must(cudaSetDevice(*ordinal), "choosing the device");
  ExportedDevice device(*ordinal);
  int count = 0;
  const best_gemm::Entry* entries = best_gemm::entries(&count);
  best_gemm::Gemm gemm;
  expect(best_gemm::Gemm::select(entries[0].problem, {}, *ordinal, {}, gemm) == best_gemm::Status::not_prepared,
         "a device that is not prepared was taken");
  if (!device.prepare()) return 77;
  if (best_gemm::Gemm::select(entries[0].problem, {}, *ordinal, {}, gemm) != best_gemm::Status::ok) {
    fmt::print("not the GPU it was tuned on: {}\n", gemm.choice().why);
    return 77;
  }
  for (int i = 0; i < count; ++i) device.check(entries[i], time);
  device.threads(entries[0]);
  device.threads(entries[count / 2]);
  if (time) {
    device.host_times(entries[0]);
    device.host_times(entries[count / 2]);
  }
  fmt::print("{} entries, {} failures\n", count, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pgtune::gpu

int main(int count, char** arguments) {
  return pgtune::gpu::run(count > 1 && std::strcmp(arguments[1], "--time") == 0);
}
