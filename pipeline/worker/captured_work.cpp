// SPDX-License-Identifier: MIT
#include "pipeline/worker/captured_work.hpp"

#include <algorithm>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"

namespace pgtune::gpu {
namespace {

CudaResult<bool> is_work(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  return check(cudaGraphNodeGetType(node, &type), "asking for a node's type").map([&] {
    return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy || type == cudaGraphNodeTypeMemset;
  });
}

}  // namespace

CudaResult<int> pieces_of_launch(const std::function<CudaResult<>()>& launch, cudaStream_t stream) {
  if (auto ok = check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture"); !ok)
    return tl::unexpected(ok.error());
  const auto launched = launch();
  cudaGraph_t captured = nullptr;
  const auto ended = check(cudaStreamEndCapture(stream, &captured), "ending a capture");
  const Graph graph(captured);
  if (!launched) return tl::unexpected(launched.error());
  if (!ended) return tl::unexpected(ended.error());
  std::size_t count = 0;
  auto ok = check(cudaGraphGetNodes(graph.get(), nullptr, &count), "counting nodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0)
    ok = ok.and_then([&] { return check(cudaGraphGetNodes(graph.get(), nodes.data(), &count), "listing nodes"); });
  if (!ok) return tl::unexpected(ok.error());
  int pieces = 0;
  for (const cudaGraphNode_t node : nodes) {
    const auto work = is_work(node);
    if (!work) return tl::unexpected(work.error());
    pieces += *work ? 1 : 0;
  }
  return pieces;
}

}  // namespace pgtune::gpu
