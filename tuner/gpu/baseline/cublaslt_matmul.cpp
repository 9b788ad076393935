// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <string>
#include <utility>

#include "tuner/gpu/launch/driver.hpp"
#include "tuner/util/enum_table.hpp"

namespace pgtune::gpu {
namespace {

// clang-format off
constexpr std::array<CublasLtArithmetic, kDtypeCount> kArithmetic{{
    //               compute                      tensor cores  fast   only along K  K of  extents of
    {Dtype::kF32,    CUBLAS_COMPUTE_32F,           false,        false, false,        1,    1},
    {Dtype::kTf32,   CUBLAS_COMPUTE_32F_FAST_TF32, true,         false, false,        1,    1},
    // cuBLASLt has nothing for tf32x3: the alternative of equal accuracy is strict float32.
    {Dtype::kTf32x3, CUBLAS_COMPUTE_32F,           false,        false, false,        1,    1},
    {Dtype::kF16,    CUBLAS_COMPUTE_32F,           true,         false, false,        1,    1},
    {Dtype::kBf16,   CUBLAS_COMPUTE_32F,           true,         false, false,        1,    1},
    {Dtype::kE4m3,   CUBLAS_COMPUTE_32F,           true,         true,  true,         1,    16},
    {Dtype::kE5m2,   CUBLAS_COMPUTE_32F,           true,         true,  true,         1,    16},
    {Dtype::kInt8,   CUBLAS_COMPUTE_32I,           true,         false, true,         4,    1},
}};
// clang-format on
static_assert(one_row_each(kArithmetic, &CublasLtArithmetic::dtype));

constexpr std::size_t kFirstWithBlockScales = 120900;
/// CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F and CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, which the headers of CUDA
/// 12.8 lack.
constexpr std::int32_t kScaleOf128Elements = 4, kScaleOf128x128Elements = 5;

}  // namespace

const CublasLtArithmetic& cublaslt_arithmetic(Dtype dtype) { return row_of(kArithmetic, dtype); }

CublasLtTypes cublaslt_types(const Problem& problem) {
  const CublasLtArithmetic& arithmetic = cublaslt_arithmetic(problem.dtype);
  return {.compute = arithmetic.compute,
          .scale = cuda_type(traits(problem.dtype).accumulator),
          .a = cuda_type(type_of_a(problem.dtype)),
          .b = cuda_type(type_of_b(problem.dtype)),
          .c = cuda_type(problem.type_of_c()),
          .fast_accumulation = arithmetic.fast_accumulation,
          .tensor_cores = arithmetic.tensor_cores};
}

cublasLtEpilogue_t cublaslt_epilogue(const Epilogue& epilogue) {
  switch (epilogue.activation) {
    case Activation::kRelu:
      return epilogue.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGelu:
      return epilogue.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Activation::kNone:
    case Activation::kSilu:
      break;
  }
  return epilogue.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

CudaResult<> check_cublas(cublasStatus_t status, std::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return tl::unexpected(CudaFailure{static_cast<int>(status), cublasLtGetStatusName(status),
                                    cublasLtGetStatusString(status), std::string(call), false});
}

void forbid_reduced_precision() {
  for (const char* name : {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATION_STRATEGY"}) {
    unsetenv(name);
  }
}

std::uint32_t CublasLtMatmul::scalar_bits(double value, ElementType type) {
  return type == ElementType::kInt32 ? std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                                     : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

CudaResult<CublasLtMatmul::Layout> CublasLtMatmul::create_layout(cudaDataType_t type, std::int64_t rows,
                                                                 std::int64_t columns, std::int64_t ld,
                                                                 std::int64_t batch, std::int64_t stride) {
  cublasLtMatrixLayout_t raw = nullptr;
  auto ok = check_cublas(
      cublasLtMatrixLayoutCreate(&raw, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), ld),
      "describing a matrix to cuBLASLt");
  if (!ok) return tl::unexpected(ok.error());
  Layout layout(raw);
  const auto count = static_cast<std::int32_t>(batch);
  ok = check_cublas(cublasLtMatrixLayoutSetAttribute(raw, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
                    "setting cuBLASLt's batch count")
           .and_then([&] {
             return check_cublas(cublasLtMatrixLayoutSetAttribute(raw, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                                  &stride, sizeof(stride)),
                                 "setting cuBLASLt's batch stride");
           });
  if (!ok) return tl::unexpected(ok.error());
  return layout;
}

CudaResult<std::shared_ptr<const CublasLtContext>> CublasLtContext::create(std::size_t workspaces) {
  std::shared_ptr<CublasLtContext> context(new CublasLtContext);
  cublasLtHandle_t handle = nullptr;
  TRY(check_cublas(cublasLtCreate(&handle), "starting cuBLASLt"));
  context->handle_.reset(handle);
  TRY_ASSIGN(auto memory, DeviceBuffer::allocate(kWorkspaceBytes * static_cast<std::int64_t>(workspaces)));
  context->memory_ = std::move(memory);
  return context;
}

DeviceSpan CublasLtContext::workspace(std::size_t index) const {
  return {memory_.address() + index * static_cast<std::uint64_t>(kWorkspaceBytes), kWorkspaceBytes};
}

CudaResult<std::unique_ptr<CublasLtMatmul>> CublasLtMatmul::create(const Problem& p,
                                                                   std::shared_ptr<const CublasLtContext> context,
                                                                   const MatmulTraits& traits) {
  std::unique_ptr<CublasLtMatmul> matmul(new CublasLtMatmul(p, std::move(context), traits));

  const CublasLtTypes& types = matmul->types_;
  cublasLtMatmulDesc_t description = nullptr;
  auto ok = check_cublas(cublasLtMatmulDescCreate(&description, types.compute, types.scale),
                         "describing the product to cuBLASLt");
  if (!ok) return tl::unexpected(ok.error());
  matmul->description_.reset(description);
  const cublasOperation_t left = p.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, right = p.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  ok = check_cublas(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSA, &left, sizeof(left)),
                    "setting cuBLASLt's transpositions")
           .and_then([&] {
             return check_cublas(
                 cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSB, &right, sizeof(right)),
                 "setting cuBLASLt's transpositions");
           })
           .and_then([&]() -> CudaResult<> {
             // Scales of A, B and D are 1 if their pointers are not set.
             const std::int8_t fast = 1;
             if (!types.fast_accumulation || traits.scaling != Scaling::kNone) return {};
             return check_cublas(
                 cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast)),
                 "setting cuBLASLt's accumulation");
           });
  if (!ok) return tl::unexpected(ok.error());

  TRY_ASSIGN(auto layouts, create_layouts(p));
  matmul->layouts_ = std::move(layouts);
  // The heuristics use the alignment of the bias: a launch's bias is aligned like any buffer.
  ok = matmul->describe_epilogue(device_pointer(matmul->context_->workspace(0).address)).and_then([&] {
    return matmul->describe_scales();
  });
  if (!ok) return tl::unexpected(ok.error());
  return matmul;
}

CudaResult<> CublasLtMatmul::describe_scales() const {
  if (traits_.scaling == Scaling::kNone) return {};
  if (const std::size_t version = cublasLtGetVersion(); version < kFirstWithBlockScales) {
    return tl::unexpected(CudaFailure{CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
                                      fmt::format("version {} has none; they came with 12.9", version),
                                      "giving cuBLASLt block scales", false});
  }
  // Its A is this B, see create_layouts().
  for (const auto& [attribute, mode] : {std::pair{CUBLASLT_MATMUL_DESC_A_SCALE_MODE, kScaleOf128x128Elements},
                                        std::pair{CUBLASLT_MATMUL_DESC_B_SCALE_MODE, kScaleOf128Elements}}) {
    auto ok = check_cublas(cublasLtMatmulDescSetAttribute(description_.get(), attribute, &mode, sizeof(mode)),
                           "giving cuBLASLt block scales");
    if (!ok) return ok;
  }
  const void* const aligned = device_pointer(context_->workspace(0).address);
  return point_at_scales(aligned, aligned);
}

CudaResult<> CublasLtMatmul::point_at_scales(const void* of_a, const void* of_b) const {
  if (traits_.scaling == Scaling::kNone) return {};
  for (const auto& [attribute, scales] :
       {std::pair{CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of_b}, std::pair{CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of_a}}) {
    auto ok = check_cublas(cublasLtMatmulDescSetAttribute(description_.get(), attribute, &scales, sizeof(scales)),
                           "giving cuBLASLt the scales");
    if (!ok) return ok;
  }
  return {};
}

CudaResult<> CublasLtMatmul::describe_epilogue(const void* bias) const {
  if (!problem_.epilogue.any()) return {};
  const cublasLtEpilogue_t epilogue = cublaslt_epilogue(problem_.epilogue);
  return check_cublas(cublasLtMatmulDescSetAttribute(description_.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                                     sizeof(epilogue)),
                      "setting cuBLASLt's epilogue")
      .and_then([&] { return point_at_bias(bias); });
}

CudaResult<> CublasLtMatmul::point_at_bias(const void* bias) const {
  if (!problem_.epilogue.bias) return {};
  return check_cublas(
      cublasLtMatmulDescSetAttribute(description_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)),
      "giving cuBLASLt the bias");
}

CudaResult<CublasLtMatmul::Layouts> CublasLtMatmul::create_layouts(const Problem& p) {
  const CublasLtTypes types = cublaslt_types(p);
  // A row-major matrix is the column-major one with rows and columns exchanged.
  TRY_ASSIGN(auto left_layout, create_layout(types.b, p.columns_b(), p.rows_b(), p.ldb, p.batch, p.stride_b()));
  TRY_ASSIGN(auto right_layout, create_layout(types.a, p.columns_a(), p.rows_a(), p.lda, p.batch, p.stride_a()));
  TRY_ASSIGN(auto result_layout, create_layout(types.c, p.n, p.m, p.ldc, p.batch, p.stride_c()));
  return Layouts{std::move(left_layout), std::move(right_layout), std::move(result_layout)};
}

CudaResult<> CublasLtMatmul::launch(const cublasLtMatmulAlgo_t& algorithm, const OperandSet& operands,
                                    cudaStream_t stream) const {
  return launch(algorithm,
                MatmulOperands{.a = operands[Operand::kA].address,
                               .b = operands[Operand::kB].address,
                               .c = operands[Operand::kC].address,
                               .d = operands[Operand::kD].address,
                               .bias = operands[Operand::kBias].address,
                               .workspace = context_->workspace(0)},
                stream);
}

CudaResult<> CublasLtMatmul::launch(const cublasLtMatmulAlgo_t& algorithm, const MatmulOperands& operands,
                                    cudaStream_t stream) const {
  auto ok = point_at_bias(device_pointer(operands.bias)).and_then([&] {
    return point_at_scales(device_pointer(operands.scale_a), device_pointer(operands.scale_b));
  });
  if (!ok) return ok;
  return check_cublas(cublasLtMatmul(context_->handle(), description_.get(), &alpha_, device_pointer(operands.b),
                                     layouts_.left.get(), device_pointer(operands.a), layouts_.right.get(), &beta_,
                                     device_pointer(operands.c), layouts_.result.get(), device_pointer(operands.d),
                                     layouts_.result.get(), &algorithm, device_pointer(operands.workspace.address),
                                     static_cast<std::size_t>(operands.workspace.bytes), stream),
                      "launching cuBLASLt");
}

}  // namespace pgtune::gpu
