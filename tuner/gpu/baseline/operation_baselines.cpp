// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/operation_baselines.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/gpu/baseline/copy_baseline.hpp"
#include "tuner/gpu/baseline/cublas_library.hpp"
#include "tuner/gpu/baseline/cublaslt_library.hpp"
#include "tuner/gpu/baseline/grouped_baseline.hpp"
#include "tuner/gpu/baseline/grouped_layouts.hpp"
#include "tuner/gpu/baseline/product_baseline.hpp"

namespace pgtune::gpu {
namespace {

OtherBaseline beside(const BaselineReport& report) {
  const AlgorithmReport& best = report.algorithms.at(static_cast<std::size_t>(report.best));
  return {report.library, best.description, best.time_s};
}

template <typename Made>
Result<std::unique_ptr<Baseline>> as_baseline(Result<std::unique_ptr<Made>> made) {
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  return std::unique_ptr<Baseline>(std::move(*made));
}

/// The build of the operation's baseline in that place, which is a template.
protocol::BaselineBuild build_of(const std::vector<OperationBaseline>& baselines, std::size_t place,
                                 const BaselineParts& parts) {
  const auto before =
      std::count_if(baselines.begin(), baselines.begin() + static_cast<std::ptrdiff_t>(place),
                    [](const OperationBaseline& one) { return std::holds_alternative<TemplateBaseline>(one); });
  const auto index = static_cast<std::size_t>(before);
  if (index < parts.builds.size()) return parts.builds[index];
  return {std::get<TemplateBaseline>(baselines[place]).selector, {}, {}};
}

/// A baseline that may be there, and what to call it where it is not.
struct Attempt {
  std::string title;
  Result<std::unique_ptr<Baseline>> made;
};

Attempt attempt(const std::vector<OperationBaseline>& baselines, std::size_t place, const BaselineParts& parts) {
  if (const auto* const product = std::get_if<LibraryProduct>(&baselines[place])) {
    if (product->library == BaselineLibrary::kCublas)
      return {cublas_title(),
              as_baseline(GroupedBaseline::create(*product, parts.buffers, parts.checker, parts.timer, parts.stream))};
    return {parts.library, as_baseline(ProductBaseline::create(*product, parts.buffers, parts.checker, parts.timer,
                                                               parts.library, parts.stream))};
  }
  const protocol::BaselineBuild build = build_of(baselines, place, parts);
  return {build.title,
          as_baseline(VariantBaseline::create(build, parts.load, parts.buffers.rotation(), parts.buffers.data().seed,
                                              parts.checker, parts.timer, parts.stream))};
}

}  // namespace

Result<std::unique_ptr<Baseline>> operation_baseline(const Problem& problem, const BaselineParts& parts) {
  auto copy = CopyBaseline::create(problem.traffic_bytes(), parts.buffers.rotation(), parts.buffers.data().seed,
                                   parts.kernels, parts.timer, parts.stream);
  if (!copy) return as_baseline(std::move(copy));
  const std::vector<OperationBaseline>& baselines = problem.operation->baselines;
  std::unique_ptr<Baseline> chosen;
  std::size_t place = baselines.size();
  std::vector<OtherBaseline> others;
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    auto [title, made] = attempt(baselines, i, parts);
    // One that has failed must not be to blame for what comes after it.
    if (auto ok = check(cudaStreamSynchronize(parts.stream), "comparing with " + title); !ok)
      return tl::unexpected(to_error(ok.error()));
    if (!made) {
      others.push_back({title, {}, 0, made.error().text()});
    } else if (chosen == nullptr) {
      chosen = std::move(*made);
      place = i;
    } else {
      others.push_back(beside((*made)->report()));
    }
  }
  if (const auto& library = load_cublaslt(); library && has_groups_of_cublaslt(baselines))
    others.push_back(unused_grouped_layouts(*library, parts.library));
  if (chosen == nullptr) {
    chosen = std::move(*copy);
  } else {
    others.push_back(beside((*copy)->report()));
  }
  chosen->stand_beside(static_cast<int>(place), std::move(others));
  return chosen;
}

Result<std::unique_ptr<Baseline>> take_over_operation_baseline(const Problem& problem, const BaselineParts& parts,
                                                               const protocol::KnownBaseline& known) {
  const std::vector<OperationBaseline>& baselines = problem.operation->baselines;
  const auto place = static_cast<std::size_t>(known.report.place);
  if (place < baselines.size()) {
    if (const auto* const product = std::get_if<LibraryProduct>(&baselines[place]);
        product != nullptr && product->library == BaselineLibrary::kCublas)
      return as_baseline(
          GroupedBaseline::take_over(*product, parts.buffers, parts.checker, parts.timer, known, parts.stream));
    if (const auto* const product = std::get_if<LibraryProduct>(&baselines[place]))
      return as_baseline(
          ProductBaseline::take_over(*product, parts.buffers, parts.checker, parts.timer, known, parts.stream));
    return as_baseline(VariantBaseline::take_over(build_of(baselines, place, parts), parts.load,
                                                  parts.buffers.rotation(), parts.checker, parts.timer, known,
                                                  parts.stream));
  }
  return as_baseline(
      CopyBaseline::take_over(problem.traffic_bytes(), parts.buffers.rotation(), parts.kernels, known, parts.stream));
}

BaselineMemory operation_baseline_memory(const Problem& problem) {
  BaselineMemory memory{CopyBaseline::memory_bytes(problem.traffic_bytes(), 1), 0};
  for (const OperationBaseline& baseline : problem.operation->baselines) {
    const auto* const product = std::get_if<LibraryProduct>(&baseline);
    if (product == nullptr) continue;
    const bool grouped = product->library == BaselineLibrary::kCublas;
    memory.copy += (grouped ? GroupedBaseline::copy_bytes : ProductBaseline::copy_bytes)(*product, *problem.operation);
    memory.once += grouped ? GroupedBaseline::kFixedBytes : ProductBaseline::kFixedBytes;
  }
  return memory;
}

}  // namespace pgtune::gpu
