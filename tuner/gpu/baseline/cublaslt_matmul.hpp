// SPDX-License-Identifier: MIT
// The current problem in cuBLASLt's terms, and the algorithms that may compute it.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/gpu/baseline/cublaslt_algorithms.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// cuBLASLt's arithmetic for a dtype, and the problems that it supports.
struct CublasLtArithmetic {
  Dtype dtype;
  cublasComputeType_t compute;
  /// The dtype means products on tensor cores. If false, they would reduce precision and are no fair opponent.
  bool tensor_cores;
  /// Sums of e4m3 and e5m2 products stay in the tensor cores, which keep fewer bits of them than a float32. This is
  /// cuBLASLt's fastest arithmetic, so it is the opponent also of more exact kernels.
  bool fast_accumulation;
  bool only_along_k;             ///< both operands stored along K (layout nt), their rows multiples of 16 bytes
  std::int64_t k_multiple;       ///< K must be a multiple of this
  std::int64_t extent_multiple;  ///< M, N, K and bytes of D's rows must be multiples of this to be surely accepted
};
[[nodiscard]] const CublasLtArithmetic& cublaslt_arithmetic(Dtype dtype);

struct CublasLtTypes {
  cublasComputeType_t compute;
  cudaDataType_t scale;  ///< of alpha and beta
  cudaDataType_t a, b, c;
  bool fast_accumulation, tensor_cores;  ///< see CublasLtArithmetic
};
[[nodiscard]] CublasLtTypes cublaslt_types(const Problem& problem);
/// Precondition: cublaslt_fuses() the activation.
[[nodiscard]] cublasLtEpilogue_t cublaslt_epilogue(const Epilogue& epilogue);

/// Removes NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_* from the environment, which make cuBLAS compute float32 products
/// on tensor cores, so that the baseline is strict float32. Call it before cuBLAS is used.
void forbid_reduced_precision();

[[nodiscard]] CudaResult<> check_cublas(cublasStatus_t status, std::string_view call);

/// The rank of a candidate outside the heuristic list.
inline constexpr int kNoRank = -1;

struct CublasLtCandidate {
  int rank = kNoRank;  ///< position in the heuristic list
  cublasLtMatmulAlgo_t algorithm{};
  std::int64_t workspace_bytes = 0;
  CublasLtConfig config;
};

/// A handle of cuBLASLt and memory for its kernels, for any number of products.
class CublasLtContext {
 public:
  static constexpr std::int64_t kWorkspaceBytes = 64 << 20;

  /// `workspaces`: the maximum number of concurrent products.
  [[nodiscard]] static CudaResult<std::shared_ptr<const CublasLtContext>> create(std::size_t workspaces = 1);

  [[nodiscard]] cublasLtHandle_t handle() const { return handle_.get(); }
  [[nodiscard]] DeviceSpan workspace(std::size_t index) const;

 private:
  CublasLtContext() = default;

  Handle<cublasLtHandle_t, &cublasLtDestroy> handle_;
  DeviceBuffer memory_;
};

/// Numbers in memory that operands are multiplied with.
enum class Scaling {
  kNone,
  kBlocks,  ///< for A one per row and 128 elements along K, for B one per 128 columns and 128 elements along K
};

/// The common arguments of a product's launches, without its extents.
struct MatmulTraits {
  Scaling scaling = Scaling::kNone;
  std::uint32_t alignment_a = 256, alignment_b = 256, alignment_d = 256;  ///< bytes, of all addresses; C's are D's
};

/// The addresses for a product's launch. Scales are in cuBLASLt's layout: for A (its B) one per row for each 128
/// elements along K, rows contiguous; for B (its A) those along K for each 128 columns, padded to a multiple of four.
struct MatmulOperands {
  std::uint64_t a = 0, b = 0, c = 0, d = 0, bias = 0, scale_a = 0, scale_b = 0;
  DeviceSpan workspace;
};

class CublasLtMatmul {
 public:
  static constexpr int kMaxHeuristics = 32;
  static constexpr std::size_t kMaxFurther = 200;

  /// `problem` is a result of BaselineOperands::solvable() or enlarged(). Row-major operands become the transposed
  /// column-major problem, D^T = op(B)^T op(A)^T, which changes no byte in memory. With scales, sums leave the tensor
  /// cores after each block, so they are never the fast ones.
  [[nodiscard]] static CudaResult<std::unique_ptr<CublasLtMatmul>> create(
      const Problem& problem, std::shared_ptr<const CublasLtContext> context, const MatmulTraits& traits = {});

  /// Up to kMaxHeuristics algorithms in the heuristics' order; for strict float32 only 5 to 8, without those that use
  /// tensor cores. Empty if cuBLASLt has none for the problem.
  [[nodiscard]] CudaResult<std::vector<CublasLtCandidate>> heuristics() const;

  /// Algorithms beyond `offered` that cuBLASLt reports as runnable, the likeliest first. Excludes those that need more
  /// than the workspace or, for strict float32, tensor cores. For the other dtypes the heuristics' offers for similar
  /// problems come first, because the newest kernels support few of the configurations in their capabilities, and one
  /// problem gets at most eight offers. Then, without scales, follow the kMaxFurther configurations nearest to the
  /// offered ones; no capability tells which support scales. These candidates have no rank.
  [[nodiscard]] std::vector<CublasLtCandidate> further(const std::vector<CublasLtCandidate>& offered) const;

  /// The problem given to create().
  [[nodiscard]] const Problem& problem() const { return problem_; }

  [[nodiscard]] CudaResult<> launch(const cublasLtMatmulAlgo_t& algorithm, const OperandSet& operands,
                                    cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> launch(const cublasLtMatmulAlgo_t& algorithm, const MatmulOperands& operands,
                                    cudaStream_t stream) const;

 private:
  using Description = Handle<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
  using Layout = Handle<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
  using Preference = Handle<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

  CublasLtMatmul(const Problem& problem, std::shared_ptr<const CublasLtContext> context, const MatmulTraits& traits)
      : problem_(problem),
        types_(cublaslt_types(problem)),
        traits_(traits),
        context_(std::move(context)),
        alpha_(scalar_bits(problem.alpha, pgtune::traits(problem.dtype).accumulator)),
        beta_(scalar_bits(problem.beta, pgtune::traits(problem.dtype).accumulator)) {}
  /// `type`: a dtype's accumulator, float32 or int32.
  [[nodiscard]] static std::uint32_t scalar_bits(double value, ElementType type);
  struct Layouts {
    Layout left, right, result;  ///< column-major: op(B)^T's, op(A)^T's and D^T's storage
  };
  [[nodiscard]] static CudaResult<Layouts> create_layouts(const Problem& problem);
  /// Sets the epilogue in the description; its bias is `bias`. cuBLASLt adds a bias along the rows of its result D^T,
  /// which are the columns of the row-major D, and the same one to all matrices of the batch, as Epilogue requires.
  [[nodiscard]] CudaResult<> describe_epilogue(const void* bias) const;
  [[nodiscard]] CudaResult<> point_at_bias(const void* bias) const;
  [[nodiscard]] CudaResult<> describe_scales() const;
  [[nodiscard]] CudaResult<> point_at_scales(const void* of_a, const void* of_b) const;
  [[nodiscard]] static CudaResult<Layout> create_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                                                        std::int64_t ld, std::int64_t batch, std::int64_t stride);
  /// The algorithm with its default configuration; nothing if it does not support these types.
  [[nodiscard]] std::optional<cublasLtMatmulAlgo_t> initial_algorithm(int id) const;

  /// The heuristics' list for these layouts.
  [[nodiscard]] CudaResult<std::vector<cublasLtMatmulHeuristicResult_t>> ask(const Layouts& layouts) const;
  /// The algorithm as a candidate without a rank, if it can run this problem.
  [[nodiscard]] std::optional<CublasLtCandidate> runnable(const cublasLtMatmulAlgo_t& algorithm) const;
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> offered_for_similar() const;
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> configured_like(const std::vector<CublasLtConfig>& known) const;
  /// Whether the dtype is strict float32 and the algorithm uses tensor cores.
  [[nodiscard]] bool too_coarse(const cublasLtMatmulAlgo_t& algorithm) const;

  Problem problem_;
  CublasLtTypes types_;
  MatmulTraits traits_;
  std::shared_ptr<const CublasLtContext> context_;
  Description description_;
  Layouts layouts_;
  std::uint32_t alpha_, beta_;  ///< bits of a number in the scale type
};

}  // namespace pgtune::gpu
