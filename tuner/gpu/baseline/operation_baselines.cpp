// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/operation_baselines.hpp"

#include <utility>
#include <vector>

#include "tuner/gpu/baseline/copy_baseline.hpp"
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

}  // namespace

Result<std::unique_ptr<Baseline>> operation_baseline(const Problem& problem, const BaselineParts& parts) {
  auto copy = CopyBaseline::create(problem.traffic_bytes(), parts.buffers.rotation(), parts.buffers.data().seed,
                                   parts.kernels, parts.timer, parts.stream);
  if (!copy) return as_baseline(std::move(copy));
  const std::vector<LibraryProduct>& products = problem.operation->baselines;
  std::unique_ptr<Baseline> chosen;
  std::size_t place = products.size();
  std::vector<OtherBaseline> others;
  for (std::size_t i = 0; i < products.size(); ++i) {
    auto made =
        ProductBaseline::create(products[i], parts.buffers, parts.checker, parts.timer, parts.library, parts.stream);
    // One that has failed must not be to blame for what comes after it.
    if (auto ok = check(cudaStreamSynchronize(parts.stream), "comparing with " + parts.library); !ok)
      return tl::unexpected(to_error(ok.error()));
    if (!made) {
      others.push_back({parts.library, {}, 0, made.error().text()});
    } else if (chosen == nullptr) {
      chosen = std::move(*made);
      place = i;
    } else {
      others.push_back(beside((*made)->report()));
    }
  }
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
  const std::vector<LibraryProduct>& products = problem.operation->baselines;
  const auto place = static_cast<std::size_t>(known.report.place);
  if (place < products.size())
    return as_baseline(
        ProductBaseline::take_over(products[place], parts.buffers, parts.checker, parts.timer, known, parts.stream));
  return as_baseline(
      CopyBaseline::take_over(problem.traffic_bytes(), parts.buffers.rotation(), parts.kernels, known, parts.stream));
}

BaselineMemory operation_baseline_memory(const Problem& problem) {
  BaselineMemory memory{CopyBaseline::memory_bytes(problem.traffic_bytes(), 1), 0};
  for (const LibraryProduct& product : problem.operation->baselines) {
    memory.copy += ProductBaseline::copy_bytes(product, *problem.operation);
    memory.once += ProductBaseline::kFixedBytes;
  }
  return memory;
}

}  // namespace pgtune::gpu
