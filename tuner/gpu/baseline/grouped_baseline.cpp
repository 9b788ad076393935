// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/grouped_baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/gpu/baseline/cublas_library.hpp"

namespace pgtune::gpu {
namespace {

/// There is one way to call it, so nothing has to be said of it to another process but that it was there.
constexpr const char* kOneCall = "one call";

bool has_grouped_products(const Problem& gemm) {
  return (gemm.dtype == Dtype::kBf16 || gemm.dtype == Dtype::kF16 || gemm.dtype == Dtype::kF32) &&
         gemm.has_usual_output();
}

}  // namespace

std::int64_t GroupedBaseline::copy_bytes(const LibraryProduct& product, const OperationProblem& problem) {
  return ProductOperands::copy_bytes(product, problem) + 3 * kPointerBytes * product_geometry(product, problem).groups;
}

Result<GroupedBaseline::Begun> GroupedBaseline::begin(const LibraryProduct& product, const OperandBuffers& buffers,
                                                      cudaStream_t stream) {
  if (const auto& library = load_cublas(); !library) return tl::unexpected<Error>(library.error());
  const auto failed = [](const CudaFailure& failure) { return tl::unexpected(to_error(failure)); };
  std::unique_ptr<GroupedBaseline> baseline(new GroupedBaseline(buffers.rotation(), stream));
  auto operands = ProductOperands::create(product, buffers.operation().operation(), buffers, stream);
  if (!operands) return tl::unexpected<Error>(std::move(operands.error()));
  baseline->operands_ = std::make_unique<ProductOperands>(std::move(*operands));
  const auto& copies = baseline->operands_->copies();
  if (std::any_of(copies.begin(), copies.end(), [](const auto& products) { return products.empty(); }))
    return fail(ErrorKind::kUsage, "no group has rows");
  const Problem gemm = baseline->operands_->gemm(copies.front().front().rows);
  if (!has_grouped_products(gemm))
    return fail(ErrorKind::kUsage,
                fmt::format("its grouped products are of bf16, f16 and f32 and written as these, and "
                            "not of {} that is written as {}",
                            to_string(gemm.dtype), to_string(gemm.type_of_c())));
  auto context = CublasContext::create();
  if (!context) return failed(context.error());
  baseline->context_ = std::move(*context);
  auto launchable = GroupedLaunchable::create(*baseline->operands_, *baseline->context_, stream);
  if (!launchable) return failed(launchable.error());
  return Begun{std::move(baseline), std::move(*launchable)};
}

Result<std::unique_ptr<GroupedBaseline>> GroupedBaseline::create(const LibraryProduct& product,
                                                                 const OperandBuffers& buffers, Checker& checker,
                                                                 SampleTimer& timer, cudaStream_t stream) {
  auto begun = begin(product, buffers, stream);
  if (!begun) return tl::unexpected<Error>(std::move(begun.error()));
  auto& [baseline, launchable] = *begun;
  const auto why_not =
      baseline->add(std::move(launchable), {0, "all groups in one call", kFixedBytes, 0, 0}, kOneCall, &checker, timer);
  if (!why_not) return tl::unexpected(to_error(why_not.error()));
  if (!why_not->empty()) return fail(ErrorKind::kInternal, *why_not);
  baseline->finish(cublas_title(), buffers.data().seed);
  return std::move(baseline);
}

Result<std::unique_ptr<GroupedBaseline>> GroupedBaseline::take_over(const LibraryProduct& product,
                                                                    const OperandBuffers& buffers, Checker& checker,
                                                                    SampleTimer& timer,
                                                                    const protocol::KnownBaseline& known,
                                                                    cudaStream_t stream) {
  if (known.report.algorithms.size() != 1 || known.report.best != 0)
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  auto begun = begin(product, buffers, stream);
  if (!begun) return tl::unexpected<Error>(std::move(begun.error()));
  auto& [baseline, launchable] = *begun;
  baseline->Baseline::take_over(known.report);
  baseline->Baseline::take_over(std::move(launchable), kOneCall);
  if (auto ok = baseline->warm_up(&checker, timer); !ok) return tl::unexpected(to_error(ok.error()));
  return std::move(baseline);
}

}  // namespace pgtune::gpu
