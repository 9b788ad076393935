// SPDX-License-Identifier: MIT
// An exported header on a GPU: every entry bit for bit against the worker's own launch, over poisoned workspaces, in
// graphs, between unmapped memory, from sixteen threads and on two streams of unequal priority; with --time also what
// it costs. Prints a table last; exit code 1 where anything differs, 77 where there is no GPU it was made for.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define PGTUNE_CUBLASLT_FALLBACK
#include "best_gemm.hpp"
#include "tests/gpu/exported_gpu.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/scratch_folder.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/side_by_side.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/template/former_parameters.hpp"

namespace pgtune::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostReplays = 1000, kLeastReplays = 50, kThreads = 16, kCallsOfAThread = 50;
constexpr double kReplays_s = 0.5;
constexpr std::int64_t kMostCopies = 64;
constexpr std::size_t kFallbackBytes = std::size_t{32} << 20;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Of an entry.
struct Row {
  std::size_t workspace_bytes = 0;
  double run_s = 0, worker_s = 0, ratio = 0, stored_s = 0;
};

class ExportedDevice {
 public:
  explicit ExportedDevice(int ordinal) : ordinal_(ordinal) {
    info_ = describe_gpu(ordinal).value();
    driver_ = Driver::load().value();
    stream_ = create_stream().value();
    kernels_ = HelperKernels::load(driver_, info_.architecture, info_.sm_count).value();
    timer_ = SampleTimer::create(*kernels_, info_.sm_count, {}).value();
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

  /// The worker's builds of the first entries, side by side.
  void build(const best_gemm::Entry* entries, int count) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        for (int i = next++; i < count; i = next++) static_cast<void>(builder_.build(request_of(entries[i])));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  /// One entry: right everywhere, and what it takes.
  Row check(const best_gemm::Entry& entry, bool time) {
    const Problem problem = problem_of(entry);
    const std::int64_t copies = time ? std::min(kMostCopies, 3 * info_.l2_bytes / problem.operand_bytes() + 1) : 1;
    Row row;
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
    if (status != best_gemm::Status::ok) return row;
    const Memory workspace(gemm.workspace_bytes());
    const auto identical = [&](const char* how) {
      sync();
      expect(bytes_of(buffers.copies()[0].d) == expected, fmt::format("{}: {}", problem.title(), how));
    };
    for (const int poison : {0xff, 0x01}) {
      must(cudaMemset(workspace.data, poison, gemm.workspace_bytes()), "poisoning");
      require(buffers.poison(0, stream_.get()));
      if (!launch(gemm, o, workspace.data, stream_.get(), problem)) return row;
      identical("differs over a poisoned workspace");
    }
    between_guards(gemm, problem, buffers, expected);
    replay(gemm, o, workspace.data, problem, buffers, entry.time_s);
    identical("differs after graph replays");
    on_two_streams(gemm, o, problem, buffers, expected);
    fall_back(entry, o, problem, buffers, expected);
    row.workspace_bytes = gemm.workspace_bytes();
    if (time) row = times(entry, gemm, workspace.data, problem, buffers, *worker);
    return row;
  }

  /// Side by side in one process: each thread its own stream, workspace and D.
  void threads(const best_gemm::Entry& entry) {
    const Problem problem = problem_of(entry);
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
    const Problem problem = problem_of(entry);
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
  void sync() { must(cudaStreamSynchronize(stream_.get()), "running"); }

  bool launch(const best_gemm::Gemm& gemm, const best_gemm::Operands& o, void* workspace, cudaStream_t stream,
              const Problem& problem) {
    const best_gemm::Status status = gemm.run(o, workspace, gemm.workspace_bytes(), stream);
    const int code = status == best_gemm::Status::cuda_error ? best_gemm::last_cuda_error() : 0;
    expect(status == best_gemm::Status::ok, fmt::format("{}: {} ({})", problem.title(), best_gemm::text(status), code));
    return status == best_gemm::Status::ok;
  }

  struct Tuned {
    space::TemplateDefinition definition;
    Variant variant;
  };
  static Tuned tuned(const best_gemm::Entry& entry) {
    int count = 0;
    const best_gemm::Variant& named = best_gemm::variants(&count)[entry.variant];
    space::TemplateDefinition definition = tool::Catalogue().load(named.template_name);
    Variant variant = space::recorded_variant(definition, named.parameters).value();
    return {std::move(definition), std::move(variant)};
  }

  [[nodiscard]] protocol::BuildRequest request_of(const best_gemm::Entry& entry) const {
    const Tuned own = tuned(entry);
    return {1, own.variant, own.definition.source,
            space::make_defines(own.definition, own.variant, problem_of(entry), info_).value(), info_.architecture};
  }

  std::unique_ptr<LoadedVariant> load(const best_gemm::Entry& entry, const Problem& problem,
                                      const OperandBuffers& buffers) {
    const Tuned own = tuned(entry);
    const auto plan = space::make_launch_plan(own.definition, own.variant, problem, info_).value();
    const auto done = builder_.build(request_of(entry)).value();
    return LoadedVariant::load(driver_, *kernels_, done.build, plan, buffers.copies(), 0, stream_.get()).value();
  }

  /// In memory with nothing mapped around it, at its start and at its end; the workspace too.
  void between_guards(const best_gemm::Gemm& gemm, const Problem& problem, OperandBuffers& buffers,
                      const std::vector<char>& expected) {
    if (!buffers.add_guarded_places(driver_)) return;  // memory that does not suffice for one more set
    const auto bytes = static_cast<std::int64_t>(gemm.workspace_bytes());
    GuardedMemory workspace;
    if (bytes > 0) workspace = GuardedMemory::allocate(driver_, bytes).value();
    for (std::size_t i = 0; i < buffers.guarded_places(); ++i) {
      const std::size_t place = buffers.copies().size() + i;
      require(buffers.fill(place, stream_.get()));
      void* const data = bytes > 0 ? device_pointer(workspace.at(kGuardedPlaces[i]).address) : nullptr;
      if (!launch(gemm, operands_of(buffers.place(place), problem), data, stream_.get(), problem)) return;
      sync();
      expect(bytes_of(buffers.place(place).d) == expected, problem.title() + ": differs between unmapped memory");
    }
  }

  void replay(const best_gemm::Gemm& gemm, const best_gemm::Operands& o, void* workspace, const Problem& problem,
              const OperandBuffers& buffers, double about_s) {
    must(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeGlobal), "beginning a capture");
    launch(gemm, o, workspace, stream_.get(), problem);
    cudaGraph_t graph = nullptr;
    must(cudaStreamEndCapture(stream_.get(), &graph), "ending the capture");
    cudaGraphExec_t exec = nullptr;
    must(cudaGraphInstantiate(&exec, graph, 0), "instantiating the graph");
    require(buffers.poison(0, stream_.get()));
    if (problem.beta != 0) require(buffers.fill(0, stream_.get()));
    const int replays = static_cast<int>(std::clamp<double>(kReplays_s / about_s, kLeastReplays, kMostReplays));
    for (int i = 0; i < replays; ++i) must(cudaGraphLaunch(exec, stream_.get()), "launching the graph");
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

  Row times(const best_gemm::Entry& entry, const best_gemm::Gemm& gemm, void* workspace, const Problem& problem,
            const OperandBuffers& buffers, LoadedVariant& worker) {
    const std::size_t copies = buffers.copies().size();
    for (std::size_t i = 0; i < copies; ++i) require(worker.reset(i, stream_.get()));
    std::vector<best_gemm::Operands> operands;
    for (const OperandSet& set : buffers.copies()) operands.push_back(operands_of(set, problem));
    ExportedLaunchable exported(gemm, std::move(operands), workspace);
    LaunchSeries run(exported, copies, stream_.get()), bare(worker, copies, stream_.get());
    const auto times = time_side_by_side(*timer_, run, bare, entry.time_s);
    require(times);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < times->first_s.size(); ++i) ratios.push_back(times->first_s[i] / times->second_s[i]);
    return {gemm.workspace_bytes(), stats::median(times->first_s), stats::median(times->second_s),
            stats::median(ratios), entry.time_s};
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
  std::unique_ptr<SampleTimer> timer_;
};

void show(const char* what, std::vector<double> values) {
  if (values.empty()) return;
  const auto within =
      std::count_if(values.begin(), values.end(), [](double value) { return std::abs(value - 1) <= 0.005; });
  fmt::print("  {:58} median {:.4f}, {:.4f} to {:.4f}, {} of {} within 0.5 %\n", what, stats::median(values),
             *std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end()), within,
             values.size());
}

void show_times(const std::vector<Row>& rows) {
  std::vector<double> bare, flags, stored, cost_us;
  for (const Row& row : rows) {
    (row.workspace_bytes == 0 ? bare : flags).push_back(row.ratio);
    if (row.workspace_bytes > 0) cost_us.push_back(1e6 * (row.run_s - row.worker_s));
    stored.push_back(row.run_s / row.stored_s);
  }
  show("time in the program over the worker's launch", bare);
  show("the same with a workspace, whose flags run() zeroes", flags);
  if (!cost_us.empty()) fmt::print("  zeroing costs {:.2f} us in the median\n", stats::median(cost_us));
  show("time in the program over the stored time", stored);
}

struct Options {
  bool time = false, lines = false;
  double seconds = 1e9;  ///< no entry is begun after that
  const char* gpu = "0";
};

/// Of the process; every other GPU of the machine has some entries too, at the end.
int run(const Options& options) {
  const auto begin = Clock::now();
  const auto ordinal = find_gpu(options.gpu);
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
  device.build(entries, count);
  fmt::print("the worker's builds: done after {:.0f} s\n", seconds_since(begin));
  std::vector<Row> rows;
  for (int i = 0; i < count && seconds_since(begin) < options.seconds; ++i) {
    rows.push_back(device.check(entries[i], options.time));
    const Row& row = rows.back();
    if (options.lines)
      fmt::print("{:44} workspace {:>9}, stored {:8.2f} us, worker's {:8.2f} us, run {:8.2f} us, run/worker {:.4f}\n",
                 problem_of(entries[i]).title(), row.workspace_bytes, 1e6 * row.stored_s, 1e6 * row.worker_s,
                 1e6 * row.run_s, row.ratio);
    std::fflush(stdout);
  }
  device.threads(entries[0]);
  device.threads(entries[count / 2]);
  int gpus = 0;
  must(cudaGetDeviceCount(&gpus), "counting GPUs");
  constexpr int kEntriesElsewhere = 5;
  for (int other = 0; other < gpus; ++other) {
    if (other == *ordinal) continue;
    must(cudaSetDevice(other), "choosing the device");
    ExportedDevice second(other);
    if (!second.prepare()) continue;
    for (int i = 0; i < std::min(count, kEntriesElsewhere); ++i) second.check(entries[i], false);
    fmt::print("GPU {}: {} entries beside GPU {}\n", other, std::min(count, kEntriesElsewhere), *ordinal);
  }
  must(cudaSetDevice(*ordinal), "choosing the device");
  fmt::print("{} of {} entries in {:.0f} s, {} failures\n", rows.size(), count, seconds_since(begin), failures);
  if (options.time) {
    show_times(rows);
    device.host_times(entries[0]);
    device.host_times(entries[count / 2]);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pgtune::gpu

/// [--time] [--lines] [--seconds S] [--gpu N]
int main(int count, char** arguments) {
  pgtune::gpu::Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool more = i + 1 < count;
    if (word == "--time") {
      options.time = true;
    } else if (word == "--lines") {
      options.lines = true;
    } else if (word == "--seconds" && more) {
      options.seconds = std::atof(arguments[++i]);
    } else if (word == "--gpu" && more) {
      options.gpu = arguments[++i];
    } else {
      fmt::print("[--time] [--lines] [--seconds S] [--gpu N]\n");
      return 2;
    }
  }
  return pgtune::gpu::run(options);
}
