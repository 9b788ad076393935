// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/grouped_launchable.hpp"

#include <map>
#include <utility>

#include "tuner/gpu/launch/cuda_types.hpp"
#include "tuner/gpu/measure/launch_series.hpp"

namespace pgtune::gpu {

GroupedArguments grouped_arguments(const std::vector<GroupProduct>& products,
                                   const std::function<Problem(std::int64_t rows)>& gemm_of) {
  std::map<std::int64_t, std::vector<const GroupProduct*>> by_rows;
  for (const GroupProduct& product : products) by_rows[product.rows].push_back(&product);
  GroupedArguments out;
  for (const auto& [rows, equal] : by_rows) {
    const Problem gemm = gemm_of(rows);
    out.left.push_back(gemm.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    out.right.push_back(gemm.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    out.m.push_back(gemm.n);
    out.n.push_back(gemm.m);
    out.k.push_back(gemm.k);
    out.lda.push_back(gemm.ldb);
    out.ldb.push_back(gemm.lda);
    out.ldc.push_back(gemm.ldc);
    out.sizes.push_back(static_cast<std::int64_t>(equal.size()));
    out.alpha.push_back(1);
    out.beta.push_back(0);
    for (const GroupProduct* product : equal) {
      out.a.push_back(product->operands.b);
      out.b.push_back(product->operands.a);
      out.c.push_back(product->operands.d);
    }
  }
  return out;
}

CudaResult<std::unique_ptr<CublasContext>> CublasContext::create() {
  std::unique_ptr<CublasContext> context(new CublasContext);
  cublasHandle_t handle = nullptr;
  if (auto ok = check_cublas(cublasCreate_v2(&handle), "starting cuBLAS"); !ok) return tl::unexpected(ok.error());
  context->handle_.reset(handle);
  auto memory = DeviceBuffer::allocate(kWorkspaceBytes);
  if (!memory) return tl::unexpected(memory.error());
  context->memory_ = std::move(*memory);
  return context;
}

CudaResult<cublasHandle_t> CublasContext::on(cudaStream_t stream) const {
  // A stream takes the workspace away, so it comes first.
  return check_cublas(cublasSetStream_v2(handle_.get(), stream), "giving cuBLAS a stream")
      .and_then([&] {
        return check_cublas(cublasSetWorkspace_v2(handle_.get(), device_pointer(memory_.address()),
                                                  static_cast<std::size_t>(kWorkspaceBytes)),
                            "giving cuBLAS a workspace");
      })
      .map([&] { return handle_.get(); });
}

CudaResult<std::unique_ptr<GroupedLaunchable>> GroupedLaunchable::create(const ProductOperands& operands,
                                                                         const CublasContext& context,
                                                                         cudaStream_t stream) {
  std::unique_ptr<GroupedLaunchable> out(new GroupedLaunchable(operands, context));
  for (std::size_t copy = 0; copy < operands.copies().size(); ++copy) {
    // The first call loads kernels, which a capture does not allow everywhere.
    if (auto ok = out->add_call(copy).and_then([&] { return out->enqueue(copy, stream); }); !ok)
      return tl::unexpected(ok.error());
    auto graph = capture_graph(stream, [&] { return out->enqueue(copy, stream); });
    if (!graph) return tl::unexpected(graph.error());
    out->calls_[copy]->graph = std::move(*graph);
  }
  return out;
}

CudaResult<> GroupedLaunchable::add_call(std::size_t copy) {
  auto call = std::make_unique<Call>();
  call->arguments =
      grouped_arguments(operands_->copies()[copy], [&](std::int64_t rows) { return operands_->gemm(rows); });
  const GroupedArguments& arguments = call->arguments;
  const std::size_t bytes = arguments.a.size() * sizeof(std::uint64_t);
  auto memory = DeviceBuffer::allocate(static_cast<std::int64_t>(3 * bytes));
  if (!memory) return tl::unexpected(memory.error());
  std::uint64_t to = memory->address();
  for (const auto* pointers : {&arguments.a, &arguments.b, &arguments.c}) {
    auto ok = check(cudaMemcpy(device_pointer(to), pointers->data(), bytes, cudaMemcpyHostToDevice),
                    "storing the pointers of groups");
    if (!ok) return ok;
    to += bytes;
  }
  call->pointers = std::move(*memory);
  calls_.push_back(std::move(call));
  return {};
}

CudaResult<> GroupedLaunchable::enqueue(std::size_t copy, cudaStream_t stream) const {
  const auto handle = context_->on(stream);
  if (!handle) return tl::unexpected(handle.error());
  const GroupedArguments& of = calls_[copy]->arguments;
  const std::uint64_t bytes = of.a.size() * sizeof(std::uint64_t), first = calls_[copy]->pointers.address();
  const auto pointers = [&](std::uint64_t number) {
    return static_cast<void**>(device_pointer(first + number * bytes));
  };
  const Problem gemm = operands_->gemm(of.n.front());
  const cudaDataType_t type = cuda_type(type_of_a(gemm.dtype));
  return check_cublas(
      cublasGemmGroupedBatchedEx_64(*handle, of.left.data(), of.right.data(), of.m.data(), of.n.data(), of.k.data(),
                                    of.alpha.data(), pointers(0), type, of.lda.data(), pointers(1), type, of.ldb.data(),
                                    of.beta.data(), pointers(2), type, of.ldc.data(),
                                    static_cast<std::int64_t>(of.sizes.size()), of.sizes.data(), CUBLAS_COMPUTE_32F),
      "multiplying groups by cuBLAS");
}

CudaResult<> GroupedLaunchable::launch(std::size_t copy, cudaStream_t stream) {
  // A graph cannot be launched into another one's capture: what it holds is captured then.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (auto ok = check(cudaStreamIsCapturing(stream, &status), "launching grouped products"); !ok) return ok;
  if (status != cudaStreamCaptureStatusNone) return enqueue(copy, stream);
  return check(cudaGraphLaunch(calls_[copy]->graph.get(), stream), "launching grouped products");
}

}  // namespace pgtune::gpu
