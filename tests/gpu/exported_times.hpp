// SPDX-License-Identifier: MIT
// What exported kernels cost in a program: on the GPU beside the worker's own launches, and the host's time of a call.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/gpu/exported_worker.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/measure/round.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::gpu {

/// Of an entry.
struct ExportedRow {
  std::size_t workspace_bytes = 0;
  double run_s = 0, worker_s = 0, ratio = 0, stored_s = 0;
};

class ExportedTimes {
 public:
  explicit ExportedTimes(ExportedDevice& device) : device_(device) {}

  ExportedRow on_gpu(const best_gemm::Entry& entry, const best_gemm::Gemm& gemm, void* workspace,
                     const Problem& problem, const OperandBuffers& buffers, LoadedVariant& worker) {
    const std::size_t copies = buffers.copies().size();
    for (std::size_t i = 0; i < copies; ++i) require(worker.reset(i, device_.stream()));
    std::vector<best_gemm::Operands> operands;
    for (const OperandSet& set : buffers.copies()) operands.push_back(operands_of(set, problem));
    ExportedLaunchable exported(gemm, std::move(operands), workspace);
    LaunchSeries run(exported, {copies}, device_.stream()), bare(worker, {copies}, device_.stream());
    const auto times = time_side_by_side(device_.timer(), run, bare, entry.time_s);
    require(times);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < times->first_s.size(); ++i) ratios.push_back(times->first_s[i] / times->second_s[i]);
    return {gemm.workspace_bytes(), stats::median(times->first_s), stats::median(times->second_s),
            stats::median(ratios), entry.time_s};
  }

  /// What calls cost the host, in a stream that is never full.
  void on_host(const best_gemm::Entry& entry) {
    const Problem problem = problem_of(entry);
    const auto own = device_.operation_kernels_of(problem);
    auto buffers = OperandBuffers::allocate(device_.kernels(), *own, {}, 1, device_.stream()).value();
    require(buffers.fill(0, device_.stream()));
    const auto worker = device_.load(entry, problem, buffers);
    require(worker->reset(0, device_.stream()));
    best_gemm::Gemm gemm;
    const best_gemm::Operands o = operands_of(buffers.copies()[0], problem);
    const auto select = [&] { best_gemm::Gemm::select(entry.problem, o, device_.ordinal(), {}, gemm); };
    select();
    const Memory workspace(gemm.workspace_bytes());
    fmt::print("host time of a call, {}: select {:.2f} us, run {:.2f} us, the worker's bare launch {:.2f} us",
               problem.title(), 1e6 * host_time(select),
               1e6 * host_time([&] { device_.launch(gemm, o, workspace.data, device_.stream(), problem); }),
               1e6 * host_time([&] { require(worker->launch(0, device_.stream())); }));
    const auto matmul = CublasLtMatmul::create(problem, CublasLtContext::create().value());
    const auto algorithms = matmul ? (*matmul)->heuristics() : CudaResult<std::vector<CublasLtCandidate>>();
    if (matmul && algorithms && !algorithms->empty())
      fmt::print(", cublasLtMatmul {:.2f} us",
                 1e6 * host_time([&] {
                   require((*matmul)->launch(algorithms->front().algorithm, buffers.copies()[0], device_.stream()));
                 }));
    fmt::print("\n");
  }

 private:
  template <typename Call>
  double host_time(const Call& call) {
    std::vector<double> times;
    for (int chunk = 0; chunk < 20; ++chunk) {
      device_.sync();
      const auto begin = Clock::now();
      for (int i = 0; i < 100; ++i) call();
      times.push_back(seconds_since(begin) / 100);
    }
    device_.sync();
    return stats::median(times);
  }

  ExportedDevice& device_;
};

inline void show(const char* what, std::vector<double> values) {
  if (values.empty()) return;
  const auto within =
      std::count_if(values.begin(), values.end(), [](double value) { return std::abs(value - 1) <= 0.005; });
  fmt::print("  {:58} median {:.4f}, {:.4f} to {:.4f}, {} of {} within 0.5 %\n", what, stats::median(values),
             *std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end()), within,
             values.size());
}

inline void show_times(const std::vector<ExportedRow>& rows) {
  std::vector<double> bare, flags, stored, cost_us;
  for (const ExportedRow& row : rows) {
    (row.workspace_bytes == 0 ? bare : flags).push_back(row.ratio);
    if (row.workspace_bytes > 0) cost_us.push_back(1e6 * (row.run_s - row.worker_s));
    stored.push_back(row.run_s / row.stored_s);
  }
  show("time in the program over the worker's launch", bare);
  show("the same with a workspace, whose flags run() zeroes", flags);
  if (!cost_us.empty()) fmt::print("  zeroing costs {:.2f} us in the median\n", stats::median(cost_us));
  show("time in the program over the stored time", stored);
}

}  // namespace pgtune::gpu
