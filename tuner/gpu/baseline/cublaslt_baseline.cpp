// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_baseline.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "tuner/gpu/measure/screening.hpp"

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

Result<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::begin(const Problem& problem,
                                                                  const GemmBaselineParts& parts) {
  std::unique_ptr<CublasLtBaseline> baseline(new CublasLtBaseline(parts.buffers.rotation(), parts.stream));
  auto matmul = matmul_for(problem);
  if (!matmul) return tl::unexpected(to_error(matmul.error()));
  baseline->matmul_ = std::move(*matmul);
  const Problem& solved = baseline->matmul_->problem();
  if (!BaselineOperands::copied(problem, solved).empty()) {
    auto kernels = OperandCopyKernels::load(parts.driver, parts.architecture);
    if (!kernels) return tl::unexpected(kernels.error());
    baseline->copy_kernels_ = std::move(*kernels);
  }
  auto operands = BaselineOperands::create(problem, solved, parts.buffers, baseline->copy_kernels_.get(),
                                           BaselineOperands::Memory::kOfAllSets, parts.stream);
  if (!operands) return tl::unexpected(to_error(operands.error()));
  baseline->operands_ = std::make_unique<BaselineOperands>(std::move(*operands));
  return baseline;
}

Result<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::create(const Problem& problem,
                                                                   const GemmBaselineParts& parts) {
  auto begun = begin(problem, parts);
  if (!begun) return begun;
  std::unique_ptr<CublasLtBaseline> baseline = std::move(*begun);
  BaselineReport& report = baseline->report_;
  const auto candidates = try_candidates(*baseline->matmul_, report, [&](const CublasLtCandidate& candidate) {
    return baseline
        ->add(std::make_unique<BaselineLaunchable>(*baseline->matmul_, *baseline->operands_, candidate.algorithm),
              described(candidate), algorithm_text(candidate.algorithm), &parts.checker, parts.timer)
        .map([](const std::string&) {});
  });
  if (!candidates) return tl::unexpected(to_error(candidates.error()));
  if (*candidates == 0) {
    return fail(ErrorKind::kUsage,
                fmt::format("{} has no algorithm for {}, and without a baseline nothing can be compared; {}",
                            parts.library, problem.title(),
                            problem.epilogue.any() ? "choose another epilogue or output type"
                                                   : "choose other sizes or leading dimensions"));
  }
  if (report.algorithms.empty()) {
    return fail(ErrorKind::kInternal,
                fmt::format("{} has {} algorithms for {} and none gives the right result; name the folder of another "
                            "cuBLAS in PGTUNE_CUDA_HOME",
                            parts.library, *candidates, problem.title()));
  }
  baseline->finish(parts.library, parts.buffers.data().seed);
  const Problem& solved = baseline->matmul_->problem();
  if (solved.shape() != BaselineOperands::solvable(problem).shape()) report.enlarged_shape = solved.shape();
  report.copied = BaselineOperands::copied(problem, solved);
  if (!report.copied.empty()) {
    auto alone = baseline->time_product_alone(problem, parts);
    if (!alone) return tl::unexpected(to_error(alone.error()));
    report.others = {std::move(*alone)};
  }
  return baseline;
}

CudaResult<OtherBaseline> CublasLtBaseline::time_product_alone(const Problem& problem,
                                                               const GemmBaselineParts& parts) const {
  const auto best = static_cast<std::size_t>(report().best);
  OtherBaseline alone{parts.library + std::string(kLaidOutBefore), {}, 0, {}};
  const auto screened_s = [&]() -> CudaResult<double> {
    // Operands that were laid out before lie in rotating memory like all others.
    const auto operands = BaselineOperands::create(problem, matmul_->problem(), parts.buffers, copy_kernels_.get(),
                                                   BaselineOperands::Memory::kOfEachSet, parts.stream);
    if (!operands) return tl::unexpected(operands.error());
    for (std::size_t copy = 0; copy < operands->copies().size(); ++copy) {
      if (auto ok = operands->lay_out(copy, parts.stream); !ok) return tl::unexpected(ok.error());
    }
    ProductAlone product(*matmul_, *operands, algorithm_of_text(opaque()[best]).value());
    LaunchSeries series(product, parts.buffers.rotation(), parts.stream);
    return screen(series, parts.timer, 0, 0).map([](const Screening& screening) {
      return screening.median_per_launch_s();
    });
  }();
  if (screened_s) {
    alone.algorithm = report().algorithms[best].description;
    alone.time_s = *screened_s;
  } else if (screened_s.error().sticky) {
    return tl::unexpected(screened_s.error());
  } else {
    alone.unavailable = screened_s.error().message();
  }
  return alone;
}

Result<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::take_over(const Problem& problem,
                                                                      const GemmBaselineParts& parts,
                                                                      const protocol::KnownBaseline& known) {
  auto begun = begin(problem, parts);
  if (!begun) return begun;
  std::unique_ptr<CublasLtBaseline> baseline = std::move(*begun);
  baseline->Baseline::take_over(known.report);
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
  if (auto ok = baseline->warm_up(&parts.checker, parts.timer); !ok) return tl::unexpected(to_error(ok.error()));
  return baseline;
}

}  // namespace pgtune::gpu
