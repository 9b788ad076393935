// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/product_launchable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "tuner/gpu/baseline/cublaslt_config.hpp"

namespace pgtune::gpu {
namespace {

/// The number `text` begins with, which `end` follows; takes both away.
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

CudaResult<std::unique_ptr<SideStreams>> SideStreams::create(std::size_t streams) {
  std::unique_ptr<SideStreams> out(new SideStreams);
  auto fork = create_event();
  if (!fork) return tl::unexpected(fork.error());
  out->fork_ = std::move(*fork);
  for (std::size_t i = 1; i < streams; ++i) {
    auto stream = create_stream();
    if (!stream) return tl::unexpected(stream.error());
    auto join = create_event();
    if (!join) return tl::unexpected(join.error());
    out->streams_.push_back(std::move(*stream));
    out->joins_.push_back(std::move(*join));
  }
  return out;
}

CudaResult<> SideStreams::fork(std::size_t streams, cudaStream_t from) const {
  CudaResult<> ok;
  if (streams > 1) ok = check(cudaEventRecord(fork_.get(), from), "forking a stream");
  for (std::size_t i = 1; ok && i < streams; ++i)
    ok = check(cudaStreamWaitEvent(streams_[i - 1].get(), fork_.get(), 0), "forking a stream");
  return ok;
}

CudaResult<> SideStreams::join(std::size_t streams, cudaStream_t to) const {
  CudaResult<> ok;
  for (std::size_t i = 1; ok && i < streams; ++i) {
    ok = check(cudaEventRecord(joins_[i - 1].get(), streams_[i - 1].get()), "joining streams").and_then([&] {
      return check(cudaStreamWaitEvent(to, joins_[i - 1].get(), 0), "joining streams");
    });
  }
  return ok;
}

CudaResult<> SideStreams::spread(std::size_t count, std::size_t streams, cudaStream_t stream,
                                 const Enqueue& enqueue) const {
  const std::size_t used = std::min({streams, streams_.size() + 1, count});
  CudaResult<> ok = fork(used, stream);
  for (std::size_t i = 0; ok && i < count; ++i) {
    const std::size_t which = i % used;
    ok = enqueue(i, which, which == 0 ? stream : streams_[which - 1].get());
  }
  // Joined after a failure too: a capture could not be ended otherwise.
  const auto joined = join(used, stream);
  return ok ? joined : ok;
}

CudaResult<std::unique_ptr<ProductLaunchable>> ProductLaunchable::create(const Matmuls& matmuls,
                                                                         const ProductOperands& operands,
                                                                         const CublasLtContext& context,
                                                                         const SideStreams& streams,
                                                                         ProductChoice choice, cudaStream_t stream) {
  std::unique_ptr<ProductLaunchable> out(new ProductLaunchable(matmuls, operands, context, streams, std::move(choice)));
  const auto& copies = operands.copies();
  const bool single =
      std::all_of(copies.begin(), copies.end(), [](const auto& products) { return products.size() == 1; });
  if (single) return out;
  for (std::size_t copy = 0; copy < copies.size(); ++copy) {
    if (auto ok = out->enqueue(copy, stream); !ok) return tl::unexpected(ok.error());
    auto graph = out->capture(copy, stream);
    if (!graph) return tl::unexpected(graph.error());
    out->graphs_.push_back(std::move(*graph));
  }
  return out;
}

CudaResult<> ProductLaunchable::enqueue(std::size_t copy, cudaStream_t stream) const {
  const std::vector<GroupProduct>& products = operands_->copies()[copy];
  return streams_->spread(
      products.size(), choice_.streams, stream, [&](std::size_t index, std::size_t which, cudaStream_t on) {
        const GroupProduct& product = products[index];
        MatmulOperands operands = product.operands;
        operands.workspace = context_->workspace(which);
        return matmuls_->at(product.rows)->launch(choice_.algorithms.at(product.rows), operands, on);
      });
}

CudaResult<GraphExec> ProductLaunchable::capture(std::size_t copy, cudaStream_t stream) const {
  return capture_graph(stream, [&] { return enqueue(copy, stream); });
}

CudaResult<> ProductLaunchable::launch(std::size_t copy, cudaStream_t stream) {
  if (graphs_.empty()) return enqueue(copy, stream);
  // A graph cannot be launched into another one's capture: what it holds is captured then.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (auto ok = check(cudaStreamIsCapturing(stream, &status), "launching the products of groups"); !ok) return ok;
  if (status != cudaStreamCaptureStatusNone) return enqueue(copy, stream);
  return check(cudaGraphLaunch(graphs_[copy].get(), stream), "launching the products of groups");
}

}  // namespace pgtune::gpu
