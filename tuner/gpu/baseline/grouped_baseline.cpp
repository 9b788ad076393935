// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/grouped_baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/gpu/measure/launch_series.hpp"

namespace pgtune::gpu {
namespace {

constexpr const char* kGroupedProducts = "cublasGemmGroupedBatchedEx_64";

std::string lacks_grouped_products(void* handle) {
  if (function_of<cublasGemmGroupedBatchedEx_64>(handle, kGroupedProducts) != nullptr) return "";
  return "has no grouped products, which came with cuBLAS 12.5";
}

using Cublas = LibraryCalls<load_cublas, CUBLAS_STATUS_NOT_INITIALIZED>;

/// There is one way to call it, so another process only needs to know that it was available.
constexpr const char* kOneCall = "one call";

bool has_grouped_products(const Problem& gemm) {
  return (gemm.dtype == Dtype::kBf16 || gemm.dtype == Dtype::kF16 || gemm.dtype == Dtype::kF32) &&
         gemm.has_usual_output();
}

/// Every launch is a CUDA graph of the call, made before anything is timed, so the check and the timing run the same
/// graph.
class GroupedLaunchable : public Launchable {
 public:
  /// The arguments must outlive the result. Errors: the library does not support these products, or cannot be captured.
  [[nodiscard]] static CudaResult<std::unique_ptr<GroupedLaunchable>> create(const ProductOperands& operands,
                                                                             const CublasContext& context,
                                                                             cudaStream_t stream);

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] CudaResult<> deliver(std::size_t copy, cudaStream_t stream) override {
    return operands_->deliver(copy, stream);
  }
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override {
    return operands_->poison(copy, stream);
  }

 private:
  /// The arguments for one operand set. The call reads them on the host, perhaps when a graph is launched, so they are
  /// kept.
  struct Call {
    GroupedArguments arguments;
    DeviceBuffer pointers;  ///< of A, then of B, then of C
    GraphExec graph;
  };

  GroupedLaunchable(const ProductOperands& operands, const CublasContext& context)
      : operands_(&operands), context_(&context) {}
  [[nodiscard]] CudaResult<> add_call(std::size_t copy, cudaStream_t stream);
  [[nodiscard]] CudaResult<> enqueue(std::size_t copy, cudaStream_t stream) const;

  const ProductOperands* operands_;
  const CublasContext* context_;
  std::vector<std::unique_ptr<Call>> calls_;  ///< parallel to operands_->copies()
};

CudaResult<std::unique_ptr<GroupedLaunchable>> GroupedLaunchable::create(const ProductOperands& operands,
                                                                         const CublasContext& context,
                                                                         cudaStream_t stream) {
  std::unique_ptr<GroupedLaunchable> out(new GroupedLaunchable(operands, context));
  for (std::size_t copy = 0; copy < operands.copies().size(); ++copy) {
    // The first call loads kernels, which a capture does not allow everywhere.
    if (auto ok = out->add_call(copy, stream).and_then([&] { return out->enqueue(copy, stream); }); !ok)
      return tl::unexpected(ok.error());
    auto graph = capture_graph(stream, [&] { return out->enqueue(copy, stream); });
    if (!graph) return tl::unexpected(graph.error());
    out->calls_[copy]->graph = std::move(*graph);
  }
  return out;
}

CudaResult<> GroupedLaunchable::add_call(std::size_t copy, cudaStream_t stream) {
  auto call = std::make_unique<Call>();
  call->arguments =
      grouped_arguments(operands_->copies()[copy], [&](std::int64_t rows) { return operands_->gemm(rows); });
  const GroupedArguments& arguments = call->arguments;
  const std::size_t bytes = arguments.a.size() * sizeof(std::uint64_t);
  TRY_ASSIGN(auto memory, DeviceBuffer::allocate(static_cast<std::int64_t>(3 * bytes)));
  std::uint64_t to = memory.address();
  for (const auto* pointers : {&arguments.a, &arguments.b, &arguments.c}) {
    // On the stream, which waits for no other one.
    TRY(check(cudaMemcpyAsync(device_pointer(to), pointers->data(), bytes, cudaMemcpyHostToDevice, stream),
              "storing the pointers of groups"));
    to += bytes;
  }
  call->pointers = std::move(memory);
  calls_.push_back(std::move(call));
  return {};
}

CudaResult<> GroupedLaunchable::enqueue(std::size_t copy, cudaStream_t stream) const {
  TRY_ASSIGN(const auto handle, context_->on(stream));
  const GroupedArguments& of = calls_[copy]->arguments;
  const std::uint64_t bytes = of.a.size() * sizeof(std::uint64_t), first = calls_[copy]->pointers.address();
  const auto pointers = [&](std::uint64_t number) {
    return static_cast<void**>(device_pointer(first + number * bytes));
  };
  const Problem gemm = operands_->gemm(of.n.front());
  const cudaDataType_t type = cuda_type(type_of_a(gemm.dtype));
  return check_cublas(
      cublasGemmGroupedBatchedEx_64(handle, of.left.data(), of.right.data(), of.m.data(), of.n.data(), of.k.data(),
                                    of.alpha.data(), pointers(0), type, of.lda.data(), pointers(1), type, of.ldb.data(),
                                    of.beta.data(), pointers(2), type, of.ldc.data(),
                                    static_cast<std::int64_t>(of.sizes.size()), of.sizes.data(), CUBLAS_COMPUTE_32F),
      "multiplying groups by cuBLAS");
}

CudaResult<> GroupedLaunchable::launch(std::size_t copy, cudaStream_t stream) {
  return launch_graph(calls_[copy]->graph, stream, "launching grouped products", [&] { return enqueue(copy, stream); });
}

}  // namespace

const Result<OpenedLibrary>& load_cublas() {
  static const Result<OpenedLibrary> loaded = open_cuda_library(
      {"cuBLAS, whose grouped products kernels are compared with", "libcublas", "", lacks_grouped_products},
      library_places());
  return loaded;
}

std::string cublas_title() {
  std::array<int, 3> version{};
  constexpr std::array kParts{MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (cublasGetProperty(kParts.at(i), &version.at(i)) != CUBLAS_STATUS_SUCCESS) return "cuBLAS";
  }
  return fmt::format("cuBLAS {}.{}.{}", version[0], version[1], version[2]);
}

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
  TRY(check_cublas(cublasCreate_v2(&handle), "starting cuBLAS"));
  context->handle_.reset(handle);
  TRY_ASSIGN(auto memory, DeviceBuffer::allocate(kWorkspaceBytes));
  context->memory_ = std::move(memory);
  return context;
}

CudaResult<cublasHandle_t> CublasContext::on(cudaStream_t stream) const {
  // Setting a stream resets the workspace, so the stream comes first.
  return check_cublas(cublasSetStream_v2(handle_.get(), stream), "giving cuBLAS a stream")
      .and_then([&] {
        return check_cublas(cublasSetWorkspace_v2(handle_.get(), device_pointer(memory_.address()),
                                                  static_cast<std::size_t>(kWorkspaceBytes)),
                            "giving cuBLAS a workspace");
      })
      .map([&] { return handle_.get(); });
}

std::int64_t GroupedBaseline::copy_bytes(const LibraryProduct& product, const OperationProblem& problem) {
  return ProductOperands::copy_bytes(product, problem) + 3 * kPointerBytes * product_geometry(product, problem).groups;
}

Result<std::unique_ptr<Baseline>> GroupedBaseline::begin(const LibraryProduct& product, const BaselineParts& parts) {
  TRY(load_cublas());
  const auto failed = [](const CudaFailure& failure) { return tl::unexpected(to_error(failure)); };
  std::unique_ptr<GroupedBaseline> baseline(new GroupedBaseline(parts));
  TRY_ASSIGN(auto operands, ProductOperands::create(product, parts.buffers.operation().operation(), parts.buffers,
                                                    parts.device.gpu.stream.get()));
  baseline->operands_ = std::make_unique<ProductOperands>(std::move(operands));
  const auto& copies = baseline->operands_->copies();
  if (std::any_of(copies.begin(), copies.end(), [](const auto& products) { return products.empty(); }))
    return fail(ErrorKind::kUsage, "no group has rows");
  const Problem gemm = baseline->operands_->gemm(copies.front().front().rows);
  if (!has_grouped_products(gemm))
    return fail(ErrorKind::kUsage,
                fmt::format("its grouped products are of bf16, f16 and f32 and written as these, and "
                            "not of {} that is written as {}",
                            to_string(gemm.dtype), to_string(gemm.type_of_c())));
  auto context = CublasContext::create();
  if (!context) return failed(context.error());
  baseline->context_ = std::move(*context);
  return baseline;
}

Result<void> GroupedBaseline::find(const BaselineParts& parts) {
  TRY_ASSIGN(auto launchable, this->launchable(parts, kOneCall));
  return add_only(std::move(launchable), {0, "all groups in one call", kFixedBytes, 0, 0}, kOneCall, parts).map([&] {
    finish(cublas_title(), parts.buffers.data().seed);
  });
}

Result<std::unique_ptr<Launchable>> GroupedBaseline::launchable(const BaselineParts& parts, const std::string& opaque) {
  if (opaque != kOneCall) return unreadable();
  auto made = GroupedLaunchable::create(*operands_, *context_, parts.device.gpu.stream.get());
  if (!made) return tl::unexpected(to_error(made.error()));
  return std::move(*made);
}

}  // namespace pgtune::gpu

using pgtune::gpu::Cublas;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return Cublas::call<cublasCreate_v2>("cublasCreate_v2", handle);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return Cublas::call<cublasDestroy_v2>("cublasDestroy_v2", handle);
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return Cublas::call<cublasGetProperty>("cublasGetProperty", type, value);
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return Cublas::call<cublasSetStream_v2>("cublasSetStream_v2", handle, stream);
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  return Cublas::call<cublasSetWorkspace_v2>("cublasSetWorkspace_v2", handle, workspace, bytes);
}

cublasStatus_t cublasGemmGroupedBatchedEx_64(cublasHandle_t handle, const cublasOperation_t left[],
                                             const cublasOperation_t right[], const int64_t m[], const int64_t n[],
                                             const int64_t k[], const void* alpha, const void* const a[],
                                             cudaDataType_t type_a, const int64_t lda[], const void* const b[],
                                             cudaDataType_t type_b, const int64_t ldb[], const void* beta,
                                             void* const c[], cudaDataType_t type_c, const int64_t ldc[],
                                             int64_t groups, const int64_t sizes[], cublasComputeType_t compute) {
  return Cublas::call<cublasGemmGroupedBatchedEx_64>("cublasGemmGroupedBatchedEx_64", handle, left, right, m, n, k,
                                                     alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                                                     groups, sizes, compute);
}
