// SPDX-License-Identifier: MIT
#include "pipeline/worker/kernel_sources.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/worker/chunk_kernels.hpp"
#include "tuner/gpu/baseline/baseline_operands.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"

namespace pgtune::gpu {
namespace {

/// The number of the heuristics' choices to time.
constexpr std::size_t kTimedAlgorithms = 8;

class CublasLtKernel final : public Launchable {
 public:
  CublasLtKernel(std::unique_ptr<CublasLtMatmul> matmul, const CublasLtCandidate& candidate,
                 std::vector<OperandSet> sets)
      : matmul_(std::move(matmul)), candidate_(candidate), sets_(std::move(sets)) {}

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    return matmul_->launch(candidate_.algorithm, sets_[copy], stream);
  }

 private:
  std::unique_ptr<CublasLtMatmul> matmul_;
  CublasLtCandidate candidate_;
  std::vector<OperandSet> sets_;
};

tl::unexpected<CudaFailure> no_algorithm(const Problem& problem, const std::string& library) {
  return tl::unexpected(CudaFailure{cudaErrorNotSupported, cudaGetErrorName(cudaErrorNotSupported),
                                    library + " has no algorithm for a chunk of " + problem.title() +
                                        "; search a kernel for it first, or give another layout",
                                    "choosing a kernel", false});
}

}  // namespace

CudaResult<CublasLtCandidate> LibraryKernels::fastest(const CublasLtMatmul& matmul, const OperandSet& operands,
                                                      cudaStream_t stream) const {
  TRY_ASSIGN(auto candidates, matmul.heuristics());
  const CublasLtCandidate* best = nullptr;
  double best_s = 0;
  candidates.resize(std::min(candidates.size(), kTimedAlgorithms));
  for (const CublasLtCandidate& candidate : candidates) {
    const auto took_s = least_launch_time([&] { return matmul.launch(candidate.algorithm, operands, stream); }, stream);
    if (!took_s && took_s.error().sticky) return tl::unexpected(took_s.error());
    if (took_s && (best == nullptr || *took_s < best_s)) {
      best = &candidate;
      best_s = *took_s;
    }
  }
  if (best == nullptr) return no_algorithm(matmul.problem(), library_);
  return *best;
}

CudaResult<LibraryKernels::Kernel> LibraryKernels::make(const Problem& problem, const std::vector<OperandSet>& sets,
                                                        std::size_t sample, cudaStream_t stream) {
  if (BaselineOperands::solvable(problem) != problem) return no_algorithm(problem, library_);
  // Kernels on several streams run at the same time, so each has its own workspace.
  auto matmul = CublasLtContext::create().and_then([&](std::shared_ptr<const CublasLtContext> context) {
    return CublasLtMatmul::create(problem, std::move(context));
  });
  if (!matmul) return tl::unexpected(matmul.error());
  const std::string key = problem.key();
  auto known = chosen_.find(key);
  if (known == chosen_.end()) {
    TRY_ASSIGN(const auto candidate, fastest(**matmul, sets[sample], stream));
    known = chosen_.emplace(key, candidate).first;
  }
  return Kernel{std::make_unique<CublasLtKernel>(std::move(*matmul), known->second, sets),
                library_ + ", " + describe(known->second.config)};
}

CudaResult<BuiltKernels::Kernel> BuiltKernels::make(const Problem& problem, const std::vector<OperandSet>& sets,
                                                    std::size_t /*sample*/, cudaStream_t stream) {
  const auto own = std::find_if(built_.begin(), built_.end(), [&](const auto& k) { return k.problem == problem; });
  if (own == built_.end())
    return tl::unexpected(CudaFailure{cudaErrorNotSupported, cudaGetErrorName(cudaErrorNotSupported),
                                      "no kernel was built for a chunk of " + problem.title(), "choosing a kernel",
                                      false});
  TRY_ASSIGN(auto variant, LoadedVariant::load(*driver_, *helpers_, own->built.build, own->built.plan, sets,
                                               max_window_bytes_, stream));
  return Kernel{std::move(variant), own->built.variant.id()};
}

}  // namespace pgtune::gpu
