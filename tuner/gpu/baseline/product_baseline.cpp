// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/product_baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "tuner/gpu/baseline/cublaslt_baseline.hpp"

namespace pgtune::gpu {
namespace {

/// Of a group's product so many of the heuristics' algorithms are timed, this often on each operand set, of which so
/// many are enough.
constexpr std::size_t kTimedAlgorithms = 8, kTimedTurns = 3, kTimedCopies = 4;
constexpr std::string_view kTiming = "timing a baseline's algorithms";

std::vector<GroupProduct> all_products(const ProductOperands& operands) {
  std::vector<GroupProduct> out;
  for (const auto& products : operands.copies()) out.insert(out.end(), products.begin(), products.end());
  return out;
}

MatmulTraits traits_of(const LibraryProduct& product, const std::vector<GroupProduct>& products) {
  MatmulTraits traits;
  if (product.is_scaled()) traits.scaling = Scaling::kBlocks;
  const auto align = [](std::uint32_t& alignment, std::uint64_t address) {
    alignment = static_cast<std::uint32_t>(std::gcd(std::uint64_t{alignment}, address));
  };
  for (const GroupProduct& group : products) {
    align(traits.alignment_a, group.operands.a);
    align(traits.alignment_b, group.operands.b);
    align(traits.alignment_d, group.operands.d);
  }
  return traits;
}

}  // namespace

Result<std::unique_ptr<ProductBaseline>> ProductBaseline::begin(const LibraryProduct& product,
                                                                const OperandBuffers& buffers, cudaStream_t stream) {
  std::unique_ptr<ProductBaseline> baseline(new ProductBaseline(buffers.rotation(), stream));
  const auto failed = [](const CudaFailure& failure) { return tl::unexpected(to_error(failure)); };
  auto context = CublasLtContext::create(kStreams);
  if (!context) return failed(context.error());
  baseline->context_ = std::move(*context);
  auto streams = SideStreams::create(kStreams);
  if (!streams) return failed(streams.error());
  baseline->streams_ = std::move(*streams);
  auto operands = ProductOperands::create(product, buffers.operation().operation(), buffers, stream);
  if (!operands) return tl::unexpected<Error>(std::move(operands.error()));
  baseline->operands_ = std::make_unique<ProductOperands>(std::move(*operands));
  const std::vector<GroupProduct> products = all_products(*baseline->operands_);
  if (products.empty()) return fail(ErrorKind::kUsage, "no group has rows");
  const MatmulTraits traits = traits_of(product, products);
  for (const GroupProduct& group : products) {
    if (baseline->matmuls_.count(group.rows) > 0) continue;
    auto matmul = CublasLtMatmul::create(baseline->operands_->gemm(group.rows), baseline->context_, traits);
    if (!matmul) return failed(matmul.error());
    baseline->matmuls_.emplace(group.rows, std::move(*matmul));
  }
  return baseline;
}

Result<std::unique_ptr<ProductBaseline>> ProductBaseline::create(const LibraryProduct& product,
                                                                 const OperandBuffers& buffers, Checker& checker,
                                                                 SampleTimer& timer, const std::string& library,
                                                                 cudaStream_t stream) {
  auto begun = begin(product, buffers, stream);
  if (!begun) return begun;
  std::unique_ptr<ProductBaseline> baseline = std::move(*begun);
  const bool groups = product.offsets || product.rows;
  const auto candidates =
      groups ? baseline->add_groups(checker, timer, stream) : baseline->add_single(checker, timer, stream);
  if (!candidates) return tl::unexpected(to_error(candidates.error()));
  const Problem& solved = baseline->matmuls_.begin()->second->problem();
  if (*candidates == 0)
    return fail(ErrorKind::kUsage, fmt::format("it has no algorithm for {}{} on this GPU",
                                               groups ? "a group's product, " + solved.title() : solved.title(),
                                               product.is_scaled() ? " with block scales" : ""));
  BaselineReport& report = baseline->report_;
  if (report.algorithms.empty())
    return fail(ErrorKind::kInternal,
                fmt::format("none of its {} algorithms gives the right result: {}", *candidates, baseline->fault_));
  baseline->finish(library, buffers.data().seed);
  if (baseline->operands_->has_added_rows())
    report.enlarged_shape = groups ? "groups of a multiple of four rows" : solved.shape();
  return baseline;
}

Result<std::unique_ptr<ProductBaseline>> ProductBaseline::take_over(const LibraryProduct& product,
                                                                    const OperandBuffers& buffers, Checker& checker,
                                                                    SampleTimer& timer,
                                                                    const protocol::KnownBaseline& known,
                                                                    cudaStream_t stream) {
  auto begun = begin(product, buffers, stream);
  if (!begun) return begun;
  std::unique_ptr<ProductBaseline> baseline = std::move(*begun);
  baseline->Baseline::take_over(known.report);
  const std::size_t count = known.report.algorithms.size();
  if (known.opaque.size() != count || static_cast<std::size_t>(known.report.best) >= count)
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  for (const std::string& text : known.opaque) {
    auto choice = ProductChoice::of_text(text);
    const auto complete = [&] {
      return std::all_of(baseline->matmuls_.begin(), baseline->matmuls_.end(),
                         [&](const auto& matmul) { return choice->algorithms.count(matmul.first) > 0; });
    };
    if (!choice || !complete()) return fail(ErrorKind::kInternal, "the baseline to be taken over cannot be read");
    auto launchable = ProductLaunchable::create(baseline->matmuls_, *baseline->operands_, *baseline->context_,
                                                *baseline->streams_, std::move(*choice), stream);
    if (!launchable) return tl::unexpected(to_error(launchable.error()));
    baseline->Baseline::take_over(std::move(*launchable), text);
  }
  if (auto ok = baseline->warm_up(&checker, timer); !ok) return tl::unexpected(to_error(ok.error()));
  return baseline;
}

CudaResult<> ProductBaseline::attempt(ProductChoice choice, AlgorithmReport described, Checker& checker,
                                      SampleTimer& timer, cudaStream_t stream) {
  const std::string text = choice.text();
  auto launchable = ProductLaunchable::create(matmuls_, *operands_, *context_, *streams_, std::move(choice), stream);
  if (!launchable) {
    if (launchable.error().sticky) return tl::unexpected(launchable.error());
    if (fault_.empty()) fault_ = launchable.error().message();
    return {};
  }
  return add(std::move(*launchable), std::move(described), text, &checker, timer).map([&](const std::string& why_not) {
    if (fault_.empty()) fault_ = why_not;
  });
}

CudaResult<std::size_t> ProductBaseline::add_single(Checker& checker, SampleTimer& timer, cudaStream_t stream) {
  const auto& [rows, matmul] = *matmuls_.begin();
  return try_candidates(*matmul, report_, [&, rows = rows](const CublasLtCandidate& candidate) {
    return attempt({{{rows, candidate.algorithm}}, 1}, described(candidate), checker, timer, stream);
  });
}

CudaResult<std::size_t> ProductBaseline::add_groups(Checker& checker, SampleTimer& timer, cudaStream_t stream) {
  Candidates candidates;
  std::int64_t workspace_bytes = 0;
  for (const auto& [rows, matmul] : matmuls_) {
    auto offered = matmul->heuristics();
    if (!offered) return tl::unexpected(offered.error());
    if (offered->empty()) return 0;
    offered->resize(std::min(offered->size(), kTimedAlgorithms));
    for (const CublasLtCandidate& candidate : *offered)
      workspace_bytes = std::max(workspace_bytes, candidate.workspace_bytes);
    candidates.emplace(rows, std::move(*offered));
  }
  const auto places = fastest(candidates, stream);
  if (!places) return tl::unexpected(places.error());
  int rank = 0;
  for (const bool best : {false, true}) {
    for (const std::size_t streams : {std::size_t{1}, kStreams}) {
      ProductChoice choice{{}, streams};
      for (const auto& [rows, offered] : candidates)
        choice.algorithms.emplace(rows, offered.at(best ? places->at(rows) : 0).algorithm);
      const std::string how = streams > 1 ? fmt::format("on {} streams", streams) : "one after the other";
      auto ok = attempt(std::move(choice),
                        {rank++, fmt::format("each group's {} algorithm, {}", best ? "fastest" : "first", how),
                         workspace_bytes, 0, 0},
                        checker, timer, stream);
      if (!ok) return tl::unexpected(ok.error());
    }
  }
  return static_cast<std::size_t>(rank);
}

CudaResult<std::map<std::int64_t, std::size_t>> ProductBaseline::fastest(const Candidates& candidates,
                                                                         cudaStream_t stream) const {
  std::map<std::int64_t, std::vector<double>> times_s;  // of each candidate, all products with so many rows together
  for (const auto& [rows, offered] : candidates) times_s[rows].resize(offered.size());
  const std::size_t copies = std::min(operands_->copies().size(), kTimedCopies);
  for (std::size_t place = 0; place < kTimedAlgorithms; ++place) {
    for (std::size_t turn = 0; turn < (1 + kTimedTurns) * copies; ++turn) {
      const std::vector<GroupProduct>& products = operands_->copies()[turn % copies];
      // Whoever has fewer candidates repeats the last, so that all products are there between which others run.
      const auto candidate = [&](std::int64_t rows) { return std::min(place, candidates.at(rows).size() - 1); };
      const auto timed = time_products(
          products, [&](std::int64_t rows) { return candidates.at(rows)[candidate(rows)].algorithm; }, stream);
      if (!timed) return tl::unexpected(timed.error());
      if (turn < copies) continue;  // loads kernels
      for (std::size_t i = 0; i < products.size(); ++i) {
        if (candidate(products[i].rows) == place) times_s.at(products[i].rows)[place] += timed->at(i);
      }
    }
  }
  std::map<std::int64_t, std::size_t> places;
  for (const auto& [rows, of_rows] : times_s)
    places[rows] = static_cast<std::size_t>(std::min_element(of_rows.begin(), of_rows.end()) - of_rows.begin());
  return places;
}

CudaResult<std::vector<double>> ProductBaseline::time_products(
    const std::vector<GroupProduct>& products,
    const std::function<cublasLtMatmulAlgo_t(std::int64_t rows)>& algorithm_of, cudaStream_t stream) const {
  std::vector<Event> events;
  std::vector<double> times_s(products.size());
  CudaResult<> ok;
  for (std::size_t i = 0; ok && i <= products.size(); ++i) {
    auto event = create_event();
    if (!event) return tl::unexpected(event.error());
    ok = check(cudaEventRecord(event->get(), stream), kTiming);
    events.push_back(std::move(*event));
    if (!ok || i == products.size()) continue;
    MatmulOperands operands = products[i].operands;
    operands.workspace = context_->workspace(0);
    ok = matmuls_.at(products[i].rows)->launch(algorithm_of(products[i].rows), operands, stream);
    if (ok || ok.error().sticky) continue;
    times_s[i] = HUGE_VAL;  // cannot be launched after all
    ok = {};
  }
  if (ok) ok = check(cudaStreamSynchronize(stream), kTiming);
  for (std::size_t i = 0; ok && i < products.size(); ++i) {
    const auto time_s = seconds_between(events[i].get(), events[i + 1].get());
    if (!time_s) return tl::unexpected(time_s.error());
    times_s[i] += *time_s;
  }
  if (!ok) return tl::unexpected(ok.error());
  return times_s;
}

}  // namespace pgtune::gpu
