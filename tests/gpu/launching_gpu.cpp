// SPDX-License-Identifier: MIT
#include "tests/gpu/launching_gpu.hpp"

#include <future>
#include <utility>

#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
std::optional<std::string> LaunchingGpu::open() {
  const auto ordinal = find_gpu("0");
  if (!ordinal) return "needs a GPU: " + ordinal.error().text();
  builder_.emplace(shared_cubins(folder_), find_toolkit().value());
  const auto taken = check(cudaSetDevice(*ordinal), "taking the GPU").and_then([&] {
    return check(cudaDeviceGetAttribute(&max_window_bytes_, cudaDevAttrMaxAccessPolicyWindowSize, *ordinal),
                 "asking the GPU");
  });
  EXPECT_TRUE(taken);
  info_ = describe_gpu(*ordinal).value();
  driver_ = Driver::load().value();
  stream_ = create_stream().value();
  kernels_ = HelperKernels::load(driver_, info_.architecture, info_.sm_count).value();
  return std::nullopt;
}

Result<LaunchingGpu::Built> LaunchingGpu::build(const space::TemplateDefinition& definition, const Variant& variant,
                                                const Problem& problem) const {
  auto plan = space::make_launch_plan(definition, variant, problem, info_);
  if (!plan) return tl::unexpected(plan.error());
  auto defines = space::make_defines(definition, variant, problem, info_);
  if (!defines) return tl::unexpected(defines.error());
  auto done =
      builder_->build({1, variant, definition.source, std::move(*defines), info_.architecture, kernel_calls(*plan)});
  if (!done) return tl::unexpected(done.error());
  if (done->outcome.kind != OutcomeKind::kOk) return fail(ErrorKind::kInternal, done->outcome.reason);
  return Built{std::move(*plan), std::move(done->build)};
}

std::vector<Result<LaunchingGpu::Built>> LaunchingGpu::build(const space::TemplateDefinition& definition,
                                                             std::span<const Variant> variants,
                                                             const Problem& problem) const {
  std::vector<std::future<Result<Built>>> building;
  for (const Variant& variant : variants)
    building.push_back(std::async(std::launch::async, [&] { return build(definition, variant, problem); }));
  std::vector<Result<Built>> built;
  for (auto& done : building) built.push_back(done.get());
  return built;
}

CudaResult<std::unique_ptr<LoadedVariant>> LaunchingGpu::load(const Built& built, std::vector<OperandSet> places,
                                                              std::size_t guarded) const {
  return LoadedVariant::load(driver_, *kernels_, built.build, built.plan, std::move(places), max_window_bytes_,
                             stream_.get(), guarded);
}

}  // namespace pgtune::gpu
