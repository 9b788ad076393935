// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/product_baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "tuner/gpu/baseline/cublaslt_algorithms.hpp"
#include "tuner/gpu/baseline/cublaslt_baseline.hpp"

namespace pgtune::gpu {
namespace {

/// For a group's product: the number of the heuristics' algorithms to time, repetitions on each operand set, and the
/// number of sets.
constexpr std::size_t kTimedOfGroup = 8, kTimedTurns = 3, kTimedCopies = 4;
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

/// Removes a number and the following `end` from the front of `text`; returns the number.
std::optional<std::int64_t> take_number(std::string_view& text, char end) {
  std::int64_t value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || rest == text.data() + text.size() || *rest != end || value < 1) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + 1);
  return value;
}

}  // namespace

std::string ProductChoice::text() const {
  std::string out = std::to_string(streams);
  for (const auto& [rows, algorithm] : algorithms) out += fmt::format(" {}:{}", rows, algorithm_text(algorithm));
  return out;
}

std::optional<ProductChoice> ProductChoice::of_text(std::string_view text) {
  ProductChoice out;
  const auto streams = take_number(text, ' ');
  if (!streams) return std::nullopt;
  out.streams = static_cast<std::size_t>(*streams);
  while (!text.empty()) {
    const auto rows = take_number(text, ':');
    const std::string_view word = text.substr(0, text.find(' '));
    const auto algorithm = algorithm_of_text(word);
    if (!rows || !algorithm) return std::nullopt;
    out.algorithms.emplace(*rows, *algorithm);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return out;
}

/// The additional streams for launching several groups.
class ProductBaseline::SideStreams {
 public:
  /// For up to `streams` concurrent streams, the caller's included.
  [[nodiscard]] static CudaResult<std::unique_ptr<SideStreams>> create(std::size_t streams);

  /// Calls `enqueue(i, which, on)` for i from 0 to `count` - 1, with stream number `which`, `on`, taken in turn. They
  /// start when `stream` reaches this point, and `stream` continues when all are done. May be captured.
  using Enqueue = std::function<CudaResult<>(std::size_t i, std::size_t which, cudaStream_t on)>;
  [[nodiscard]] CudaResult<> spread(std::size_t count, std::size_t streams, cudaStream_t stream,
                                    const Enqueue& enqueue) const;

 private:
  SideStreams() = default;
  [[nodiscard]] CudaResult<> fork(std::size_t streams, cudaStream_t from) const;
  [[nodiscard]] CudaResult<> join(std::size_t streams, cudaStream_t to) const;

  std::vector<Stream> streams_;
  std::vector<Event> joins_;  ///< parallel to streams_
  Event fork_;
};

CudaResult<std::unique_ptr<ProductBaseline::SideStreams>> ProductBaseline::SideStreams::create(std::size_t streams) {
  std::unique_ptr<SideStreams> out(new SideStreams);
  TRY_ASSIGN(auto fork, create_event());
  out->fork_ = std::move(fork);
  for (std::size_t i = 1; i < streams; ++i) {
    TRY_ASSIGN(auto stream, create_stream());
    TRY_ASSIGN(auto join, create_event());
    out->streams_.push_back(std::move(stream));
    out->joins_.push_back(std::move(join));
  }
  return out;
}

CudaResult<> ProductBaseline::SideStreams::fork(std::size_t streams, cudaStream_t from) const {
  CudaResult<> ok;
  if (streams > 1) ok = check(cudaEventRecord(fork_.get(), from), "forking a stream");
  for (std::size_t i = 1; ok && i < streams; ++i)
    ok = check(cudaStreamWaitEvent(streams_[i - 1].get(), fork_.get(), 0), "forking a stream");
  return ok;
}

CudaResult<> ProductBaseline::SideStreams::join(std::size_t streams, cudaStream_t to) const {
  CudaResult<> ok;
  for (std::size_t i = 1; ok && i < streams; ++i) {
    ok = check(cudaEventRecord(joins_[i - 1].get(), streams_[i - 1].get()), "joining streams").and_then([&] {
      return check(cudaStreamWaitEvent(to, joins_[i - 1].get(), 0), "joining streams");
    });
  }
  return ok;
}

CudaResult<> ProductBaseline::SideStreams::spread(std::size_t count, std::size_t streams, cudaStream_t stream,
                                                  const Enqueue& enqueue) const {
  const std::size_t used = std::min({streams, streams_.size() + 1, count});
  CudaResult<> ok = fork(used, stream);
  for (std::size_t i = 0; ok && i < count; ++i) {
    const std::size_t which = i % used;
    ok = enqueue(i, which, which == 0 ? stream : streams_[which - 1].get());
  }
  // Join after a failure too; otherwise a capture could not end.
  const auto joined = join(used, stream);
  return ok ? joined : ok;
}

/// The products of all groups by chosen algorithms. A launch of several products is one CUDA graph, made before
/// anything is timed.
class ProductBaseline::Products final : public Launchable {
 public:
  /// `baseline` must outlive the result. Launches each of several products once, since graphs cannot load kernels.
  [[nodiscard]] static CudaResult<std::unique_ptr<Launchable>> create(const ProductBaseline& baseline,
                                                                      ProductChoice choice, cudaStream_t stream) {
    std::unique_ptr<Products> out(new Products(baseline, std::move(choice)));
    const auto& copies = baseline.operands_->copies();
    const bool single =
        std::all_of(copies.begin(), copies.end(), [](const auto& products) { return products.size() == 1; });
    if (single) return out;
    for (std::size_t copy = 0; copy < copies.size(); ++copy) {
      TRY(out->enqueue(copy, stream));
      auto graph = capture_graph(stream, [&] { return out->enqueue(copy, stream); });
      if (!graph) return tl::unexpected(graph.error());
      out->graphs_.push_back(std::move(*graph));
    }
    return out;
  }

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    if (graphs_.empty()) return enqueue(copy, stream);
    return launch_graph(graphs_[copy], stream, "launching the products of groups",
                        [&] { return enqueue(copy, stream); });
  }
  [[nodiscard]] CudaResult<> deliver(std::size_t copy, cudaStream_t stream) override {
    return baseline_->operands_->deliver(copy, stream);
  }
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override {
    return baseline_->operands_->poison(copy, stream);
  }

 private:
  Products(const ProductBaseline& baseline, ProductChoice choice) : baseline_(&baseline), choice_(std::move(choice)) {}
  [[nodiscard]] CudaResult<> enqueue(std::size_t copy, cudaStream_t stream) const {
    const std::vector<GroupProduct>& products = baseline_->operands_->copies()[copy];
    return baseline_->streams_->spread(
        products.size(), choice_.streams, stream, [&](std::size_t index, std::size_t which, cudaStream_t on) {
          const GroupProduct& product = products[index];
          MatmulOperands operands = product.operands;
          operands.workspace = baseline_->context_->workspace(which);
          return baseline_->matmuls_.at(product.rows)->launch(choice_.algorithms.at(product.rows), operands, on);
        });
  }

  const ProductBaseline* baseline_;
  ProductChoice choice_;
  std::vector<GraphExec> graphs_;  ///< one per operand set; none if a set has one product
};

Result<std::unique_ptr<Baseline>> ProductBaseline::begin(const LibraryProduct& product, const BaselineParts& parts) {
  std::unique_ptr<ProductBaseline> baseline(new ProductBaseline(product, parts));
  const auto failed = [](const CudaFailure& failure) { return tl::unexpected(to_error(failure)); };
  auto context = CublasLtContext::create(kStreams);
  if (!context) return failed(context.error());
  baseline->context_ = std::move(*context);
  auto streams = SideStreams::create(kStreams);
  if (!streams) return failed(streams.error());
  baseline->streams_ = std::move(*streams);
  TRY_ASSIGN(auto operands, ProductOperands::create(product, parts.buffers.operation().operation(), parts.buffers,
                                                    parts.device.gpu.stream.get()));
  baseline->operands_ = std::make_unique<ProductOperands>(std::move(operands));
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

ProductBaseline::ProductBaseline(const LibraryProduct& product, const BaselineParts& parts)
    : Baseline(parts.buffers.rotation(), parts.device.gpu.stream.get()), product_(product) {}

ProductBaseline::~ProductBaseline() = default;

Result<void> ProductBaseline::find(const BaselineParts& parts) {
  const bool groups = product_.offsets || product_.rows;
  const auto candidates = groups ? add_groups(parts) : add_single(parts);
  if (!candidates) return tl::unexpected(to_error(candidates.error()));
  const Problem& solved = matmuls_.begin()->second->problem();
  if (*candidates == 0)
    return fail(ErrorKind::kUsage, fmt::format("it has no algorithm for {}{} on this GPU",
                                               groups ? "a group's product, " + solved.title() : solved.title(),
                                               product_.is_scaled() ? " with block scales" : ""));
  if (report_.algorithms.empty())
    return fail(ErrorKind::kInternal,
                fmt::format("none of its {} algorithms gives the right result: {}", *candidates, fault_));
  finish(parts.device.library(), parts.buffers.data().seed);
  if (operands_->has_added_rows())
    report_.enlarged_shape = groups ? "groups of a multiple of four rows" : solved.shape();
  return {};
}

Result<std::unique_ptr<Launchable>> ProductBaseline::launchable(const BaselineParts& parts, const std::string& opaque) {
  auto choice = ProductChoice::of_text(opaque);
  const auto has_algorithm = [&](const auto& matmul) { return choice->algorithms.count(matmul.first) > 0; };
  if (!choice || !std::all_of(matmuls_.begin(), matmuls_.end(), has_algorithm)) return unreadable();
  auto made = Products::create(*this, std::move(*choice), parts.device.gpu.stream.get());
  if (!made) return tl::unexpected(to_error(made.error()));
  return std::move(*made);
}

CudaResult<> ProductBaseline::attempt(ProductChoice choice, AlgorithmReport described, const BaselineParts& parts) {
  const std::string text = choice.text();
  auto launchable = Products::create(*this, std::move(choice), parts.device.gpu.stream.get());
  if (!launchable) {
    if (launchable.error().sticky) return tl::unexpected(launchable.error());
    if (fault_.empty()) fault_ = launchable.error().message();
    return {};
  }
  return add(std::move(*launchable), std::move(described), text, &parts.checker, *parts.device.timer)
      .map([&](const std::string& why_not) {
        if (fault_.empty()) fault_ = why_not;
      });
}

CudaResult<std::size_t> ProductBaseline::add_single(const BaselineParts& parts) {
  const auto& [rows, matmul] = *matmuls_.begin();
  return try_candidates(*matmul, report_, [&, rows = rows](const CublasLtCandidate& candidate) {
    return attempt({{{rows, candidate.algorithm}}, 1}, described(candidate), parts);
  });
}

CudaResult<std::size_t> ProductBaseline::add_groups(const BaselineParts& parts) {
  Candidates candidates;
  std::int64_t workspace_bytes = 0;
  for (const auto& [rows, matmul] : matmuls_) {
    TRY_ASSIGN(auto offered, matmul->heuristics());
    if (offered.empty()) return 0;
    offered.resize(std::min(offered.size(), kTimedOfGroup));
    for (const CublasLtCandidate& candidate : offered)
      workspace_bytes = std::max(workspace_bytes, candidate.workspace_bytes);
    candidates.emplace(rows, std::move(offered));
  }
  TRY_ASSIGN(const auto places, fastest(candidates, parts.device.gpu.stream.get()));
  int rank = 0;
  for (const bool best : {false, true}) {
    for (const std::size_t streams : {std::size_t{1}, kStreams}) {
      ProductChoice choice{{}, streams};
      for (const auto& [rows, offered] : candidates)
        choice.algorithms.emplace(rows, offered.at(best ? places.at(rows) : 0).algorithm);
      const std::string how = streams > 1 ? fmt::format("on {} streams", streams) : "one after the other";
      TRY(attempt(std::move(choice),
                  {rank++, fmt::format("each group's {} algorithm, {}", best ? "fastest" : "first", how),
                   workspace_bytes, 0, 0},
                  parts));
    }
  }
  return static_cast<std::size_t>(rank);
}

CudaResult<std::map<std::int64_t, std::size_t>> ProductBaseline::fastest(const Candidates& candidates,
                                                                         cudaStream_t stream) const {
  std::map<std::int64_t, std::vector<double>> times_s;  // for each candidate, the time of all products with this number
                                                        // of rows
  for (const auto& [rows, offered] : candidates) times_s[rows].resize(offered.size());
  const std::size_t copies = std::min(operands_->copies().size(), kTimedCopies);
  for (std::size_t place = 0; place < kTimedOfGroup; ++place) {
    for (std::size_t turn = 0; turn < (1 + kTimedTurns) * copies; ++turn) {
      const std::vector<GroupProduct>& products = operands_->copies()[turn % copies];
      // Products with fewer candidates repeat their last one, so that each runs between the same others.
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
    TRY_ASSIGN(auto event, create_event());
    ok = check(cudaEventRecord(event.get(), stream), kTiming);
    events.push_back(std::move(event));
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
    TRY_ASSIGN(const auto time_s, seconds_between(events[i].get(), events[i + 1].get()));
    times_s[i] += time_s;
  }
  if (!ok) return tl::unexpected(ok.error());
  return times_s;
}

}  // namespace pgtune::gpu
