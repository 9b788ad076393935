// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/tensor_map.hpp"

#include <array>

#include "tuner/gpu/launch/cuda_types.hpp"
#include "tuner/gpu/launch/operand_set.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::size_t kMaxTensorMapRank = 5;

CUtensorMapSwizzle swizzle(Swizzle value) {
  switch (value) {
    case Swizzle::k32B:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::k64B:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::k128B:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    case Swizzle::kNone:
      break;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapL2promotion l2_promotion(L2Promotion value) {
  switch (value) {
    case L2Promotion::k64B:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case L2Promotion::k128B:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case L2Promotion::k256B:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    case L2Promotion::kNone:
      break;
  }
  return CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

}  // namespace

CudaResult<CUtensorMap> encode_tensor_map(const Driver& driver, const TensorMapPlan& plan, std::uint64_t address) {
  const std::string call = "encoding the tensor map " + plan.name;
  const std::size_t rank = plan.dims.size();
  if (rank < 1 || rank > kMaxTensorMapRank || plan.strides_bytes.size() + 1 != rank || plan.box.size() != rank) {
    return check(CUDA_ERROR_INVALID_VALUE, call).map([] { return CUtensorMap{}; });
  }
  std::array<cuuint64_t, kMaxTensorMapRank> dims{}, strides{};
  std::array<cuuint32_t, kMaxTensorMapRank> box{}, element_strides{};
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = static_cast<cuuint64_t>(plan.dims[i]);
    box[i] = static_cast<cuuint32_t>(plan.box[i]);
    element_strides[i] = 1;
    if (i + 1 < rank) strides[i] = static_cast<cuuint64_t>(plan.strides_bytes[i]);
  }
  CUtensorMap map{};
  return check(driver.tensor_map_encode_tiled(
                   &map, tensor_map_type(plan.type), static_cast<cuuint32_t>(rank), device_pointer(address),
                   dims.data(), strides.data(), box.data(), element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                   swizzle(plan.swizzle), l2_promotion(plan.l2_promotion), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
               call)
      .map([&] { return map; });
}

}  // namespace pgtune::gpu
