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

/// For the problem itself if cuBLASLt has an algorithm for it, else for the larger one. The same library chooses the
/// same algorithms, so a baseline from another process has the same size.
CudaResult<std::unique_ptr<CublasLtMatmul>> matmul_for(const Problem& problem) {
  TRY_ASSIGN(const auto context, CublasLtContext::create());
  auto matmul = CublasLtMatmul::create(BaselineOperands::solvable(problem), context);
  const auto larger = BaselineOperands::enlarged(problem);
  if (!matmul || !larger) return matmul;
  const auto offered = (*matmul)->heuristics();
  if (!offered) return tl::unexpected(offered.error());
  if (!offered->empty()) return matmul;
  return CublasLtMatmul::create(*larger, context);
}

/// One algorithm as a launchable, with the copies that it needs of the operands.
class BaselineLaunchable : public Launchable {
 public:
  /// Both must outlive the object.
  BaselineLaunchable(const CublasLtMatmul& matmul, const BaselineOperands& operands,
                     const cublasLtMatmulAlgo_t& algorithm)
      : matmul_(&matmul), operands_(&operands), algorithm_(algorithm) {}

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    return operands_->lay_out(copy, stream).and_then([&] { return multiply(copy, stream); }).and_then([&] {
      return operands_->return_result(copy, stream);
    });
  }
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override {
    return operands_->poison(copy, stream);
  }

 protected:
  /// The product of the baseline's operands.
  [[nodiscard]] CudaResult<> multiply(std::size_t copy, cudaStream_t stream) {
    return matmul_->launch(algorithm_, operands_->copies()[copy], stream);
  }

 private:
  const CublasLtMatmul* matmul_;
  const BaselineOperands* operands_;
  cublasLtMatmulAlgo_t algorithm_;
};

/// The product alone, of operands that were copied before. It is timed and not checked, as its D may be the baseline's
/// own.
class ProductAlone final : public BaselineLaunchable {
 public:
  using BaselineLaunchable::BaselineLaunchable;
  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override { return multiply(copy, stream); }
};

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
    TRY(attempt(candidate));
  }
  std::vector<CublasLtCandidate> further;
  if (report.algorithms.size() < kMinAlgorithms) further = matmul.further(*offered);
  for (const CublasLtCandidate& candidate : further) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (enough_algorithms(report.algorithms.size(), spent.count())) break;
    TRY(attempt(candidate));
  }
  return offered->size() + further.size();
}

Result<std::unique_ptr<Baseline>> CublasLtBaseline::begin(const Problem& problem, const BaselineParts& parts) {
  std::unique_ptr<CublasLtBaseline> baseline(new CublasLtBaseline(problem, parts));
  const MeasuringGpu& device = parts.device;
  auto matmul = matmul_for(problem);
  if (!matmul) return tl::unexpected(to_error(matmul.error()));
  baseline->matmul_ = std::move(*matmul);
  const Problem& solved = baseline->matmul_->problem();
  if (!BaselineOperands::copied(problem, solved).empty()) {
    TRY_ASSIGN(auto kernels, OperandCopyKernels::load(device.gpu.driver, device.info.architecture));
    baseline->copy_kernels_ = std::move(kernels);
  }
  auto operands = BaselineOperands::create(problem, solved, parts.buffers, baseline->copy_kernels_.get(),
                                           BaselineOperands::Memory::kOfAllSets, device.gpu.stream.get());
  if (!operands) return tl::unexpected(to_error(operands.error()));
  baseline->operands_ = std::make_unique<BaselineOperands>(std::move(*operands));
  return baseline;
}

MemoryNeed CublasLtBaseline::memory(const Problem& problem) {
  // One for each set while the product alone is timed, and one for all launches that copy.
  const std::int64_t copied = BaselineOperands::copy_bytes(problem);
  return {copied, copied + CublasLtContext::kWorkspaceBytes};
}

Result<void> CublasLtBaseline::find(const BaselineParts& parts) {
  const auto candidates = try_candidates(*matmul_, report_, [&](const CublasLtCandidate& candidate) {
    return add(std::make_unique<BaselineLaunchable>(*matmul_, *operands_, candidate.algorithm), described(candidate),
               algorithm_text(candidate.algorithm), &parts.checker, *parts.device.timer)
        .map([](const std::string&) {});
  });
  if (!candidates) return tl::unexpected(to_error(candidates.error()));
  const std::string library = parts.device.library();
  if (*candidates == 0) {
    return fail(ErrorKind::kUsage,
                fmt::format("{} has no algorithm for {}, and without a baseline nothing can be compared; {}", library,
                            problem_.title(),
                            problem_.epilogue.any() ? "choose another epilogue or output type"
                                                    : "choose other sizes or leading dimensions"));
  }
  if (report_.algorithms.empty()) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("{} has {} algorithms for {} and none gives the right result; name the folder of another "
                            "cuBLAS in PGTUNE_CUDA_HOME",
                            library, *candidates, problem_.title()));
  }
  finish(library, parts.buffers.data().seed);
  const Problem& solved = matmul_->problem();
  if (solved.shape() != BaselineOperands::solvable(problem_).shape()) report_.enlarged_shape = solved.shape();
  report_.copied = BaselineOperands::copied(problem_, solved);
  if (report_.copied.empty()) return {};
  auto alone = time_product_alone(parts);
  if (!alone) return tl::unexpected(to_error(alone.error()));
  report_.others = {std::move(*alone)};
  return {};
}

CudaResult<OtherBaseline> CublasLtBaseline::time_product_alone(const BaselineParts& parts) const {
  const auto best = static_cast<std::size_t>(report().best);
  const cudaStream_t stream = parts.device.gpu.stream.get();
  OtherBaseline alone{report().library + std::string(kLaidOutBefore), {}, 0, {}};
  const auto screened_s = [&]() -> CudaResult<double> {
    // Operands that were copied before are in rotating memory like all others.
    TRY_ASSIGN(const auto operands,
               BaselineOperands::create(problem_, matmul_->problem(), parts.buffers, copy_kernels_.get(),
                                        BaselineOperands::Memory::kOfEachSet, stream));
    for (std::size_t copy = 0; copy < operands.copies().size(); ++copy) {
      TRY(operands.lay_out(copy, stream));
    }
    ProductAlone product(*matmul_, operands, algorithm_of_text(opaque()[best]).value());
    LaunchSeries series(product, parts.buffers.rotation(), stream);
    return screen(series, *parts.device.timer, 0, 0).map([](const Screening& screening) {
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

Result<std::unique_ptr<Launchable>> CublasLtBaseline::launchable(const BaselineParts& /*parts*/,
                                                                 const std::string& opaque) {
  const auto algorithm = algorithm_of_text(opaque);
  if (!algorithm) return unreadable();
  return std::make_unique<BaselineLaunchable>(*matmul_, *operands_, *algorithm);
}

}  // namespace pgtune::gpu
