// SPDX-License-Identifier: MIT
// The sources of candidates: cuBLASLt's heuristics, and the enumeration of other configurations.
#include <algorithm>
#include <array>
#include <utility>

#include "tuner/gpu/baseline/cublaslt_algorithms.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"

namespace pgtune::gpu {
namespace {

constexpr int kMaxIds = 256;

/// A capability; the type's zero if the library does not report it.
template <typename T>
T capability(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t attribute) {
  T value{};
  std::size_t written = 0;
  static_cast<void>(cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, &value, sizeof(value), &written));
  return value;
}

std::vector<std::uint32_t> capability_list(const cublasLtMatmulAlgo_t& algorithm,
                                           cublasLtMatmulAlgoCapAttributes_t attribute) {
  std::size_t bytes = 0;
  if (cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, nullptr, 0, &bytes) != CUBLAS_STATUS_SUCCESS) return {};
  std::vector<std::uint32_t> values(bytes / sizeof(std::uint32_t));
  if (values.empty() ||
      cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, values.data(), values.size() * sizeof(std::uint32_t),
                                        &bytes) != CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  return values;
}

bool uses_tensor_cores(const cublasLtMatmulAlgo_t& algorithm) {
  const auto flags = capability<std::uint64_t>(algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS);
  return (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0;
}

CublasLtCapabilities capabilities_of(const cublasLtMatmulAlgo_t& algorithm) {
  CublasLtCapabilities found;
  found.id = config_of(algorithm).id;
  found.tiles = capability_list(algorithm, CUBLASLT_ALGO_CAP_TILE_IDS);
  found.stages = capability_list(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS);
  found.split_k = capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) != 0;
  found.reduction_mask = capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
  found.swizzle = capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) != 0;
  found.custom_max = capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
  return found;
}

/// Checks what cublasLtMatmulAlgoCheck cannot, as it sees no pointers: rows must have the algorithm's alignment
/// (buffers always do), and if C is read, D is another buffer.
bool fits_operands(const cublasLtMatmulAlgo_t& algorithm, const Problem& p) {
  const std::int64_t bytes_ab = element_bytes(p.dtype), bytes_c = element_bytes(p.type_of_c());
  const auto aligned = [&](cublasLtMatmulAlgoCapAttributes_t attribute, std::int64_t element, std::int64_t ld,
                           std::int64_t stride) {
    const auto wanted = static_cast<std::int64_t>(capability<std::uint32_t>(algorithm, attribute));
    return wanted <= 1 || (ld * element % wanted == 0 && (p.batch == 1 || stride * element % wanted == 0));
  };
  // cuBLASLt's A is op(B)^T's storage and its B op(A)^T's: see CublasLtMatmul::create.
  return aligned(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, bytes_ab, p.ldb, p.stride_b()) &&
         aligned(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, bytes_ab, p.lda, p.stride_a()) &&
         aligned(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, bytes_c, p.ldc, p.stride_c()) &&
         aligned(CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, bytes_c, p.ldc, p.stride_c()) &&
         (p.beta == 0 || capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT) != 0);
}

template <typename T>
bool set(cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute, T current, T wanted) {
  return current == wanted ||
         cublasLtMatmulAlgoConfigSetAttribute(&algorithm, attribute, &wanted, sizeof(wanted)) == CUBLAS_STATUS_SUCCESS;
}

/// False if the algorithm does not support the configuration.
bool configure(cublasLtMatmulAlgo_t& algorithm, const CublasLtConfig& wanted) {
  const CublasLtConfig now = config_of(algorithm);
  return set(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, now.tile, wanted.tile) &&
         set(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, now.stages, wanted.stages) &&
         set(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, now.split_k, wanted.split_k) &&
         set(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, now.reduction, wanted.reduction) &&
         set(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, now.swizzle, wanted.swizzle) &&
         set(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, now.custom, wanted.custom) &&
         set(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, now.inner, wanted.inner) &&
         set(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, now.cluster, wanted.cluster);
}

}  // namespace

CudaResult<std::vector<cublasLtMatmulHeuristicResult_t>> CublasLtMatmul::ask(const Layouts& layouts) const {
  cublasLtMatmulPreference_t raw = nullptr;
  auto ok = check_cublas(cublasLtMatmulPreferenceCreate(&raw), "asking cuBLASLt for algorithms");
  if (!ok) return tl::unexpected(ok.error());
  const Preference preference(raw);
  const std::uint64_t workspace_bytes = CublasLtContext::kWorkspaceBytes;
  ok = check_cublas(cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                         &workspace_bytes, sizeof(workspace_bytes)),
                    "giving cuBLASLt a workspace");
  // Its A is this B, see create_layouts().
  for (const auto& [attribute, bytes] : {std::pair{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, traits_.alignment_b},
                                         std::pair{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, traits_.alignment_a},
                                         std::pair{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, traits_.alignment_d},
                                         std::pair{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, traits_.alignment_d}}) {
    if (ok)
      ok = check_cublas(cublasLtMatmulPreferenceSetAttribute(raw, attribute, &bytes, sizeof(bytes)),
                        "saying how operands are aligned");
  }
  if (!ok) return tl::unexpected(ok.error());
  std::vector<cublasLtMatmulHeuristicResult_t> results(kMaxHeuristics);
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      context_->handle(), description_.get(), layouts.left.get(), layouts.right.get(), layouts.result.get(),
      layouts.result.get(), raw, kMaxHeuristics, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) count = 0;
  ok = check_cublas(count == 0 ? CUBLAS_STATUS_SUCCESS : status, "asking cuBLASLt for algorithms");
  if (!ok) return tl::unexpected(ok.error());
  results.resize(static_cast<std::size_t>(count));
  return results;
}

CudaResult<std::vector<CublasLtCandidate>> CublasLtMatmul::heuristics() const {
  TRY_ASSIGN(const auto results, ask(layouts_));
  std::vector<CublasLtCandidate> found;
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const cublasLtMatmulHeuristicResult_t& result = results.at(rank);
    if (result.state != CUBLAS_STATUS_SUCCESS || too_coarse(result.algo)) continue;
    found.push_back(
        {static_cast<int>(rank), result.algo, static_cast<std::int64_t>(result.workspaceSize), config_of(result.algo)});
  }
  return found;
}

bool CublasLtMatmul::too_coarse(const cublasLtMatmulAlgo_t& algorithm) const {
  return !types_.tensor_cores && uses_tensor_cores(algorithm);
}

std::optional<cublasLtMatmulAlgo_t> CublasLtMatmul::initial_algorithm(int id) const {
  cublasLtMatmulAlgo_t algorithm{};
  if (cublasLtMatmulAlgoInit(context_->handle(), types_.compute, types_.scale, types_.b, types_.a, types_.c, types_.c,
                             id, &algorithm) != CUBLAS_STATUS_SUCCESS) {
    return std::nullopt;
  }
  return algorithm;
}

std::vector<cublasLtMatmulAlgo_t> CublasLtMatmul::offered_for_similar() const {
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (const Problem& similar : similar_problems(problem_)) {
    const auto layouts = create_layouts(similar);
    const auto results = layouts.and_then([&](const Layouts& made) { return ask(made); });
    if (!results) continue;
    for (const cublasLtMatmulHeuristicResult_t& result : *results) {
      if (result.state == CUBLAS_STATUS_SUCCESS && fits_operands(result.algo, problem_)) {
        algorithms.push_back(result.algo);
      }
    }
  }
  return algorithms;
}

std::vector<cublasLtMatmulAlgo_t> CublasLtMatmul::configured_like(const std::vector<CublasLtConfig>& known) const {
  std::array<int, kMaxIds> ids{};
  int count = 0;
  if (cublasLtMatmulAlgoGetIds(context_->handle(), types_.compute, types_.scale, types_.b, types_.a, types_.c, types_.c,
                               kMaxIds, ids.data(), &count) != CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  std::vector<CublasLtCapabilities> capabilities;
  for (int i = 0; i < count; ++i) {
    const auto algorithm = initial_algorithm(ids.at(static_cast<std::size_t>(i)));
    if (!algorithm || too_coarse(*algorithm) || !fits_operands(*algorithm, problem_)) continue;
    capabilities.push_back(capabilities_of(*algorithm));
  }
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (const CublasLtConfig& config : further_configs(capabilities, known, kMaxFurther)) {
    auto algorithm = initial_algorithm(config.id);
    if (algorithm && configure(*algorithm, config)) algorithms.push_back(*algorithm);
  }
  return algorithms;
}

std::optional<CublasLtCandidate> CublasLtMatmul::runnable(const cublasLtMatmulAlgo_t& algorithm) const {
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(context_->handle(), description_.get(), layouts_.left.get(), layouts_.right.get(),
                              layouts_.result.get(), layouts_.result.get(), &algorithm, &result);
  const auto workspace_bytes = static_cast<std::int64_t>(result.workspaceSize);
  if (status != CUBLAS_STATUS_SUCCESS || workspace_bytes > CublasLtContext::kWorkspaceBytes) return std::nullopt;
  return CublasLtCandidate{kNoRank, algorithm, workspace_bytes, config_of(algorithm)};
}

std::vector<CublasLtCandidate> CublasLtMatmul::further(const std::vector<CublasLtCandidate>& offered) const {
  std::vector<CublasLtConfig> known;
  for (const CublasLtCandidate& candidate : offered) known.push_back(candidate.config);
  std::vector<CublasLtCandidate> found;
  const auto add = [&](const std::vector<cublasLtMatmulAlgo_t>& algorithms) {
    for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
      if (std::find(known.begin(), known.end(), config_of(algorithm)) != known.end()) continue;
      auto candidate = runnable(algorithm);
      if (!candidate) continue;
      known.push_back(candidate->config);
      found.push_back(*candidate);
    }
  };
  if (types_.tensor_cores) add(offered_for_similar());
  if (traits_.scaling == Scaling::kNone) add(configured_like(known));
  return found;
}

}  // namespace pgtune::gpu
