// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kWarmUp_s = 50e-3;  // lets the clocks rise before the first algorithm is timed
constexpr double kNoticed_s = 1.5;

/// Failures that are not sticky concern one algorithm; the others may still work.
CudaResult<> unless_sticky(const CudaFailure& failure) {
  if (failure.sticky) return tl::unexpected(failure);
  return {};
}

/// For the problem as it is where cuBLASLt has an algorithm for that, else for the larger one. The same library gives
/// the same answer, so a baseline that is taken over is of the same size.
CudaResult<std::unique_ptr<CublasLtMatmul>> matmul_for(const Problem& problem) {
  auto matmul = CublasLtMatmul::create(BaselineOperands::solvable(problem));
  const auto larger = BaselineOperands::enlarged(problem);
  if (!matmul || !larger) return matmul;
  const auto offered = (*matmul)->heuristics();
  if (!offered) return tl::unexpected(offered.error());
  if (!offered->empty()) return matmul;
  matmul->reset();  // two workspaces at a time were not reckoned with
  return CublasLtMatmul::create(*larger);
}

}  // namespace

bool enough_algorithms(std::size_t right, double spent_s) {
  return right >= kMaxAlgorithms || (right >= kMinAlgorithms && spent_s > kNoticed_s);
}

CudaResult<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::begin(const Problem& problem,
                                                                      const OperandBuffers& buffers,
                                                                      cudaStream_t stream) {
  std::unique_ptr<CublasLtBaseline> baseline(new CublasLtBaseline);
  auto matmul = matmul_for(problem);
  if (!matmul) return tl::unexpected(matmul.error());
  baseline->matmul_ = std::move(*matmul);
  auto operands = BaselineOperands::create(problem, baseline->matmul_->problem(), buffers, stream);
  if (!operands) return tl::unexpected(operands.error());
  baseline->operands_ = std::make_unique<BaselineOperands>(std::move(*operands));
  return baseline;
}

Result<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::create(const Problem& problem,
                                                                   const OperandBuffers& buffers, Checker& checker,
                                                                   SampleTimer& timer, const std::string& library,
                                                                   cudaStream_t stream) {
  auto begun = begin(problem, buffers, stream);
  if (!begun) return tl::unexpected(to_error(begun.error()));
  std::unique_ptr<CublasLtBaseline> baseline = std::move(*begun);
  const auto offered = baseline->matmul_->heuristics();
  if (!offered) return tl::unexpected(to_error(offered.error()));
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (const CublasLtCandidate& candidate : *offered) {
    if (auto ok = baseline->add(candidate, checker, timer, stream); !ok) {
      return tl::unexpected(to_error(ok.error()));
    }
  }
  BaselineReport& report = baseline->report_;
  std::vector<CublasLtCandidate> further;
  if (report.algorithms.size() < kMinAlgorithms) further = baseline->matmul_->further(*offered);
  for (const CublasLtCandidate& candidate : further) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (enough_algorithms(report.algorithms.size(), spent.count())) break;
    if (auto ok = baseline->add(candidate, checker, timer, stream); !ok) {
      return tl::unexpected(to_error(ok.error()));
    }
  }
  if (offered->empty() && further.empty()) {
    return fail(ErrorKind::kUsage,
                fmt::format("{} has no algorithm for {}, and without a baseline nothing can be compared; {}", library,
                            problem.title(),
                            problem.epilogue.any() ? "choose another epilogue or output type"
                                                   : "choose other sizes or leading dimensions"));
  }
  if (report.algorithms.empty()) {
    return fail(ErrorKind::kInternal,
                fmt::format("{} has {} algorithms for {} and none gives the right result; name the folder of another "
                            "cuBLAS in PGTUNE_CUDA_HOME",
                            library, offered->size() + further.size(), problem.title()));
  }
  report.library = library;
  const std::string solved_shape = baseline->matmul_->problem().shape();
  if (solved_shape != BaselineOperands::solvable(problem).shape()) report.enlarged_shape = solved_shape;
  report.buffer_copies = static_cast<std::int64_t>(buffers.copies().size());
  report.data_seed = buffers.data().seed;
  report.first = 0;
  const auto best = std::min_element(report.algorithms.begin(), report.algorithms.end(),
                                     [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  report.best = static_cast<int>(best - report.algorithms.begin());
  return baseline;
}

CudaResult<> CublasLtBaseline::add(const CublasLtCandidate& candidate, Checker& checker, SampleTimer& timer,
                                   cudaStream_t stream) {
  const std::size_t copies = operands_->copies().size();
  Algorithm algorithm;
  algorithm.launchable = std::make_unique<BaselineLaunchable>(*matmul_, *operands_, candidate.algorithm);
  // cuBLASLt loads a kernel's code at its first launch: the checked launch would seem to take milliseconds longer.
  const auto loaded = algorithm.launchable->launch(0, stream);
  if (!loaded) return unless_sticky(loaded.error());
  const auto verdict = checker.check(*algorithm.launchable);
  if (!verdict) return unless_sticky(verdict.error());
  if (!verdict->fault.empty()) return {};

  algorithm.series = std::make_unique<LaunchSeries>(*algorithm.launchable, copies, stream);
  double incumbent_s = 0;
  for (const AlgorithmReport& earlier : report_.algorithms) {
    incumbent_s = incumbent_s == 0 ? earlier.time_s : std::min(incumbent_s, earlier.time_s);
  }
  if (report_.algorithms.empty()) {
    const auto probe = calibrate(*algorithm.series, timer);
    if (!probe) return unless_sticky(probe.error());
    const auto warm = timer.time(*algorithm.series, launches_for(kWarmUp_s, probe->per_launch_s(), 1, 1));
    if (!warm) return unless_sticky(warm.error());
    // The screening below calibrates again: start it from a fresh series.
    algorithm.series = std::make_unique<LaunchSeries>(*algorithm.launchable, copies, stream);
  }
  const auto screening = screen(*algorithm.series, timer, incumbent_s, verdict->launch_s);
  if (!screening) return unless_sticky(screening.error());
  report_.algorithms.push_back({candidate.rank, describe(candidate.config), candidate.workspace_bytes,
                                screening->median_per_launch_s(), verdict->report.max_error});
  algorithm.calibrated = true;
  algorithms_.push_back(std::move(algorithm));
  return {};
}

}  // namespace pgtune::gpu
