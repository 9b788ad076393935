// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/variant_baseline.hpp"

#include <utility>

namespace pgtune::gpu {
namespace {

/// What tells it from other variants of its template.
std::string description(const Variant& variant) {
  return variant.parameters.empty() ? "its only variant" : variant.key();
}

Result<std::unique_ptr<LoadedVariant>> loaded(const protocol::BaselineBuild& build, const VariantLoader& load) {
  if (!build.built) return fail(ErrorKind::kUsage, build.unavailable.empty() ? "it was not built" : build.unavailable);
  auto variant = load(build.built->build, build.built->plan);
  if (!variant) return tl::unexpected(to_error(variant.error()));
  return std::move(*variant);
}

}  // namespace

Result<std::unique_ptr<VariantBaseline>> VariantBaseline::create(const protocol::BaselineBuild& build,
                                                                 const VariantLoader& load, const Rotation& rotation,
                                                                 std::uint64_t data_seed, Checker& checker,
                                                                 SampleTimer& timer, cudaStream_t stream) {
  auto variant = loaded(build, load);
  if (!variant) return tl::unexpected<Error>(std::move(variant.error()));
  std::unique_ptr<VariantBaseline> baseline(new VariantBaseline(rotation, stream));
  const std::string text = description(build.built->variant);
  const auto why_not = baseline->add(std::move(*variant), {0, text, 0, 0, 0}, text, &checker, timer);
  if (!why_not) return tl::unexpected(to_error(why_not.error()));
  if (!why_not->empty()) return fail(ErrorKind::kInternal, *why_not);
  baseline->finish(build.title, data_seed);
  return baseline;
}

Result<std::unique_ptr<VariantBaseline>> VariantBaseline::take_over(const protocol::BaselineBuild& build,
                                                                    const VariantLoader& load, const Rotation& rotation,
                                                                    Checker& checker, SampleTimer& timer,
                                                                    const protocol::KnownBaseline& known,
                                                                    cudaStream_t stream) {
  if (known.report.algorithms.size() != 1 || known.report.best != 0)
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  auto variant = loaded(build, load);
  if (!variant) return tl::unexpected<Error>(std::move(variant.error()));
  std::unique_ptr<VariantBaseline> baseline(new VariantBaseline(rotation, stream));
  baseline->Baseline::take_over(known.report);
  baseline->Baseline::take_over(std::move(*variant), description(build.built->variant));
  if (auto ok = baseline->warm_up(&checker, timer); !ok) return tl::unexpected(to_error(ok.error()));
  return baseline;
}

}  // namespace pgtune::gpu
