// SPDX-License-Identifier: MIT
// The products of all groups by chosen algorithms as a launchable.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/baseline/product_operands.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/launchable.hpp"

namespace pgtune::gpu {

/// The products by the number of their solved rows.
using Matmuls = std::map<std::int64_t, std::unique_ptr<CublasLtMatmul>>;

/// Which algorithm computes products of so many rows, and on how many streams those of the groups run, each the next
/// stream's.
struct ProductChoice {
  std::map<std::int64_t, cublasLtMatmulAlgo_t> algorithms;
  std::size_t streams = 1;

  /// "4 64:<hex> 68:<hex>", and back; nothing for what is no such text.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<ProductChoice> of_text(std::string_view text);
};

/// What several groups are launched on besides the stream they are asked for on.
class SideStreams {
 public:
  /// For up to `streams` at a time, the asker's among them.
  [[nodiscard]] static CudaResult<std::unique_ptr<SideStreams>> create(std::size_t streams);

  /// Calls `enqueue(i, which, on)` for i from 0 to `count` - 1, with streams `on` in turn, of which it is number
  /// `which`: they begin when `stream` has come here, and `stream` goes on when all are done. May be captured.
  using Enqueue = std::function<CudaResult<>(std::size_t i, std::size_t which, cudaStream_t on)>;
  [[nodiscard]] CudaResult<> spread(std::size_t count, std::size_t streams, cudaStream_t stream,
                                    const Enqueue& enqueue) const;

 private:
  SideStreams() = default;
  [[nodiscard]] CudaResult<> fork(std::size_t streams, cudaStream_t from) const;
  [[nodiscard]] CudaResult<> join(std::size_t streams, cudaStream_t to) const;

  std::vector<Stream> streams_;
  std::vector<Event> joins_;  ///< beside streams_
  Event fork_;
};

/// Every launch of several products is one CUDA graph, made before anything is timed.
class ProductLaunchable : public Launchable {
 public:
  /// What is given must outlive the result. Launches each product once, since graphs cannot load kernels.
  [[nodiscard]] static CudaResult<std::unique_ptr<ProductLaunchable>> create(const Matmuls& matmuls,
                                                                             const ProductOperands& operands,
                                                                             const CublasLtContext& context,
                                                                             const SideStreams& streams,
                                                                             ProductChoice choice, cudaStream_t stream);

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] CudaResult<> deliver(std::size_t copy, cudaStream_t stream) override {
    return operands_->deliver(copy, stream);
  }
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override {
    return operands_->poison(copy, stream);
  }

 private:
  ProductLaunchable(const Matmuls& matmuls, const ProductOperands& operands, const CublasLtContext& context,
                    const SideStreams& streams, ProductChoice choice)
      : matmuls_(&matmuls), operands_(&operands), context_(&context), streams_(&streams), choice_(std::move(choice)) {}
  [[nodiscard]] CudaResult<> enqueue(std::size_t copy, cudaStream_t stream) const;
  [[nodiscard]] CudaResult<GraphExec> capture(std::size_t copy, cudaStream_t stream) const;

  const Matmuls* matmuls_;
  const ProductOperands* operands_;
  const CublasLtContext* context_;
  const SideStreams* streams_;
  ProductChoice choice_;
  std::vector<GraphExec> graphs_;  ///< one an operand set; none where that has one product
};

}  // namespace pgtune::gpu
