// SPDX-License-Identifier: MIT
// What a call of an exported kernel has to keep: bit for bit the worker's own launch, over poisoned workspaces, between
// unmapped memory, in graphs, from many threads and on two streams; and its fallback.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/gpu/exported_times.hpp"

namespace pgtune::gpu {

class ExportedChecks {
 public:
  static constexpr std::size_t kFallbackBytes = std::size_t{32} << 20;

  explicit ExportedChecks(ExportedDevice& device) : device_(device) {}

  /// One entry: right everywhere, and with `times` what it takes.
  ExportedRow check(const best_gemm::Entry& entry, ExportedTimes* times = nullptr) {
    const Problem problem = problem_of(entry);
    const std::int64_t copies =
        times != nullptr ? std::min(kMostCopies, 3 * device_.info().l2_bytes / problem.operand_bytes() + 1) : 1;
    ExportedRow row;
    const auto own = device_.operation_kernels_of(problem);
    auto buffers = OperandBuffers::allocate(device_.kernels(), *own, {}, copies, device_.stream()).value();
    for (std::size_t i = 0; i < static_cast<std::size_t>(copies); ++i) require(buffers.fill(i, device_.stream()));
    const auto worker = device_.load(entry, problem, buffers);
    require(worker->reset(0, device_.stream()));
    require(buffers.poison(0, device_.stream()));
    require(worker->launch(0, device_.stream()));
    device_.sync();
    const std::vector<char> expected = bytes_of(buffers.copies()[0][Operand::kD]);

    best_gemm::Gemm gemm;
    const best_gemm::Operands o = operands_of(buffers.copies()[0], problem);
    const best_gemm::Status status = best_gemm::Gemm::select(entry.problem, o, device_.ordinal(), {}, gemm);
    expect(status == best_gemm::Status::ok && gemm.choice().match == best_gemm::Match::exact,
           fmt::format("{}: {}", problem.title(), gemm.choice().why));
    if (status != best_gemm::Status::ok) return row;
    const Memory workspace(gemm.workspace_bytes());
    const auto identical = [&](const char* how) {
      device_.sync();
      expect(bytes_of(buffers.copies()[0][Operand::kD]) == expected, fmt::format("{}: {}", problem.title(), how));
    };
    for (const int poison : {0xff, 0x01}) {
      must(cudaMemset(workspace.data, poison, gemm.workspace_bytes()), "poisoning");
      require(buffers.poison(0, device_.stream()));
      if (!device_.launch(gemm, o, workspace.data, device_.stream(), problem)) return row;
      identical("differs over a poisoned workspace");
    }
    between_guards(gemm, problem, buffers, expected);
    replay(gemm, o, workspace.data, problem, buffers, entry.time_s);
    identical("differs after graph replays");
    on_two_streams(gemm, o, problem, buffers, expected);
    fall_back(entry, o, problem, buffers, expected);
    row.workspace_bytes = gemm.workspace_bytes();
    if (times != nullptr) row = times->on_gpu(entry, gemm, workspace.data, problem, buffers, *worker);
    return row;
  }

  /// Side by side in one process: each thread its own stream, workspace and D.
  void threads(const best_gemm::Entry& entry) {
    const Problem problem = problem_of(entry);
    const auto own = device_.operation_kernels_of(problem);
    auto buffers = OperandBuffers::allocate(device_.kernels(), *own, {}, kThreads, device_.stream()).value();
    for (std::size_t i = 0; i < kThreads; ++i) require(buffers.fill(i, device_.stream()));
    device_.sync();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        must(cudaSetDevice(device_.ordinal()), "choosing the device");
        cudaStream_t stream = nullptr;
        must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
        best_gemm::Operands o = operands_of(buffers.copies()[t], problem);
        o.a = device_pointer(buffers.copies()[0][Operand::kA].address);
        o.b = device_pointer(buffers.copies()[0][Operand::kB].address);
        o.bias = device_pointer(buffers.copies()[0][Operand::kBias].address);
        best_gemm::Gemm gemm;
        if (best_gemm::Gemm::prepare(device_.ordinal()) != best_gemm::Status::ok ||
            best_gemm::Gemm::select(entry.problem, o, device_.ordinal(), {}, gemm) != best_gemm::Status::ok) {
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
    const std::vector<char> first = bytes_of(buffers.copies()[0][Operand::kD]);
    for (std::size_t t = 1; t < kThreads; ++t)
      expect(bytes_of(buffers.copies()[t][Operand::kD]) == first, fmt::format("thread {} has another result", t));
    fmt::print("{} threads, {} calls each of {}\n", kThreads, kCallsOfAThread, problem.title());
  }

 private:
  static constexpr int kMostReplays = 1000, kLeastReplays = 50, kThreads = 16, kCallsOfAThread = 50;
  static constexpr double kReplays_s = 0.5;
  static constexpr std::int64_t kMostCopies = 64;

  /// In memory with nothing mapped around it, at its start and at its end; the workspace too.
  void between_guards(const best_gemm::Gemm& gemm, const Problem& problem, OperandBuffers& buffers,
                      const std::vector<char>& expected) {
    if (!buffers.add_guarded_places(device_.driver())) return;  // memory that does not suffice for one more set
    const auto bytes = static_cast<std::int64_t>(gemm.workspace_bytes());
    GuardedMemory workspace;
    if (bytes > 0) workspace = GuardedMemory::allocate(device_.driver(), bytes).value();
    for (std::size_t i = 0; i < buffers.guarded_places(); ++i) {
      const std::size_t place = buffers.copies().size() + i;
      require(buffers.fill(place, device_.stream()));
      void* const data = bytes > 0 ? device_pointer(workspace.at(kGuardedPlaces[i]).address) : nullptr;
      if (!device_.launch(gemm, operands_of(buffers.place(place), problem), data, device_.stream(), problem)) return;
      device_.sync();
      expect(bytes_of(buffers.place(place)[Operand::kD]) == expected,
             problem.title() + ": differs between unmapped memory");
    }
  }

  void replay(const best_gemm::Gemm& gemm, const best_gemm::Operands& o, void* workspace, const Problem& problem,
              const OperandBuffers& buffers, double about_s) {
    must(cudaStreamBeginCapture(device_.stream(), cudaStreamCaptureModeGlobal), "beginning a capture");
    device_.launch(gemm, o, workspace, device_.stream(), problem);
    cudaGraph_t graph = nullptr;
    must(cudaStreamEndCapture(device_.stream(), &graph), "ending the capture");
    cudaGraphExec_t exec = nullptr;
    must(cudaGraphInstantiate(&exec, graph, 0), "instantiating the graph");
    require(buffers.poison(0, device_.stream()));
    if (problem.beta != 0) require(buffers.fill(0, device_.stream()));
    const int replays = static_cast<int>(std::clamp<double>(kReplays_s / about_s, kLeastReplays, kMostReplays));
    for (int i = 0; i < replays; ++i) must(cudaGraphLaunch(exec, device_.stream()), "launching the graph");
    device_.sync();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }

  /// Two streams of unequal priority at once, with a workspace each: neither may hang or mix up flags.
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
      device_.launch(gemm, o, first.data, streams[0], problem);
      device_.launch(gemm, twin, second.data, streams[1], problem);
    }
    for (cudaStream_t stream : streams) {
      must(cudaStreamSynchronize(stream), "two streams");
      cudaStreamDestroy(stream);
    }
    expect(bytes_of(buffers.copies()[0][Operand::kD]) == expected, problem.title() + ": differs on two streams");
    expect(
        bytes_of({reinterpret_cast<std::uint64_t>(other.data), static_cast<std::int64_t>(expected.size())}) == expected,
        problem.title() + ": differs on the other of two streams");
  }

  /// cuBLASLt in the kernel's place: nearly the same, where it knows the type.
  void fall_back(const best_gemm::Entry& entry, const best_gemm::Operands& o, const Problem& problem,
                 const OperandBuffers& buffers, const std::vector<char>& expected) {
    const Memory workspace(kFallbackBytes);
    best_gemm::Policy policy;
    policy.fallback = best_gemm::cublaslt_fallback;
    policy.user = device_.cublas();
    policy.fallback_workspace_bytes = kFallbackBytes;
    best_gemm::Operands odd = o;
    odd.a = static_cast<const char*>(o.a) + 1;  // no kernel serves it
    best_gemm::Gemm gemm;
    expect(best_gemm::Gemm::select(entry.problem, odd, device_.ordinal(), policy, gemm) == best_gemm::Status::ok &&
               gemm.choice().match == best_gemm::Match::fallback,
           problem.title() + ": no fallback");
    require(buffers.poison(0, device_.stream()));
    const best_gemm::Status status = gemm.run(o, workspace.data, kFallbackBytes, device_.stream());
    if (status == best_gemm::Status::not_supported) return;
    device_.sync();
    const std::vector<char> got = bytes_of(buffers.copies()[0][Operand::kD]);
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

  ExportedDevice& device_;
};

}  // namespace pgtune::gpu
