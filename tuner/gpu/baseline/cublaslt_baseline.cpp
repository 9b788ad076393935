// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_baseline.hpp"

#include <fmt/format.h>

#include <chrono>

namespace pgtune::gpu {
namespace {

constexpr double kNoticed_s = 1.5;

/// For the problem as it is where cuBLASLt has an algorithm for that, else for the larger one. The same library gives
/// the same answer, so a baseline that is taken over is of the same size.
CudaResult<std::unique_ptr<CublasLtMatmul>> matmul_for(const Problem& problem) {
  const auto context = CublasLtContext::create();
  if (!context) return tl::unexpected(context.error());
  auto matmul = CublasLtMatmul::create(BaselineOperands::solvable(problem), *context);
  const auto larger = BaselineOperands::enlarged(problem);
  if (!matmul || !larger) return matmul;
  const auto offered = (*matmul)->heuristics();
  if (!offered) return tl::unexpected(offered.error());
  if (!offered->empty()) return matmul;
  return CublasLtMatmul::create(*larger, *context);
}

}  // namespace

bool enough_algorithms(std::size_t right, double spent_s) {
  return right >= kMaxAlgorithms || (right >= kMinAlgorithms && spent_s > kNoticed_s);
}

AlgorithmReport described(const CublasLtCandidate& candidate) {
  return {candidate.rank, describe(candidate.config), candidate.workspace_bytes, 0, 0};
}

CudaResult<std::size_t> try_candidates(const CublasLtMatmul& matmul, const BaselineReport& report,
                                       const std::function<CudaResult<>(const CublasLtCandidate&)>& attempt) {
  const auto offered = matmul.heuristics();
  if (!offered) return tl::unexpected(offered.error());
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (const CublasLtCandidate& candidate : *offered) {
    if (auto ok = attempt(candidate); !ok) return tl::unexpected(ok.error());
  }
  std::vector<CublasLtCandidate> further;
  if (report.algorithms.size() < kMinAlgorithms) further = matmul.further(*offered);
  for (const CublasLtCandidate& candidate : further) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (enough_algorithms(report.algorithms.size(), spent.count())) break;
    if (auto ok = attempt(candidate); !ok) return tl::unexpected(ok.error());
  }
  return offered->size() + further.size();
}

CudaResult<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::begin(const Problem& problem,
                                                                      const OperandBuffers& buffers,
                                                                      cudaStream_t stream) {
  std::unique_ptr<CublasLtBaseline> baseline(new CublasLtBaseline(buffers.rotation(), stream));
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
  BaselineReport& report = baseline->report_;
  const auto candidates = try_candidates(*baseline->matmul_, report, [&](const CublasLtCandidate& candidate) {
    return baseline
        ->add(std::make_unique<BaselineLaunchable>(*baseline->matmul_, *baseline->operands_, candidate.algorithm),
              described(candidate), algorithm_text(candidate.algorithm), &checker, timer)
        .map([](const std::string&) {});
  });
  if (!candidates) return tl::unexpected(to_error(candidates.error()));
  if (*candidates == 0) {
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
                            library, *candidates, problem.title()));
  }
  baseline->finish(library, buffers.data().seed);
  const std::string solved_shape = baseline->matmul_->problem().shape();
  if (solved_shape != BaselineOperands::solvable(problem).shape()) report.enlarged_shape = solved_shape;
  return baseline;
}

Result<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::take_over(const Problem& problem,
                                                                      const OperandBuffers& buffers, Checker& checker,
                                                                      SampleTimer& timer,
                                                                      const protocol::KnownBaseline& known,
                                                                      cudaStream_t stream) {
  auto begun = begin(problem, buffers, stream);
  if (!begun) return tl::unexpected(to_error(begun.error()));
  std::unique_ptr<CublasLtBaseline> baseline = std::move(*begun);
  baseline->report_ = known.report;
  const std::size_t count = known.report.algorithms.size();
  const auto best = static_cast<std::size_t>(known.report.best);
  if (known.opaque.size() != count || best >= count)
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  for (const std::string& text : known.opaque) {
    const auto algorithm = algorithm_of_text(text);
    if (!algorithm) return fail(ErrorKind::kInternal, "the baseline to be taken over cannot be read");
    baseline->Baseline::take_over(
        std::make_unique<BaselineLaunchable>(*baseline->matmul_, *baseline->operands_, *algorithm), text);
  }
  if (auto ok = baseline->warm_up(&checker, timer); !ok) return tl::unexpected(to_error(ok.error()));
  return baseline;
}

}  // namespace pgtune::gpu
