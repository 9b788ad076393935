// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/cuda_types.hpp"

#include <array>

#include "tuner/util/enum_table.hpp"

namespace pgtune::gpu {
namespace {

struct CudaElement {
  ElementType type;
  cudaDataType_t cuda;
};
constexpr std::array<CudaElement, kElementTypeCount> kCudaElements{{{ElementType::kFloat32, CUDA_R_32F},
                                                                    {ElementType::kFloat16, CUDA_R_16F},
                                                                    {ElementType::kBfloat16, CUDA_R_16BF},
                                                                    {ElementType::kE4m3, CUDA_R_8F_E4M3},
                                                                    {ElementType::kE5m2, CUDA_R_8F_E5M2},
                                                                    {ElementType::kInt8, CUDA_R_8I},
                                                                    {ElementType::kInt32, CUDA_R_32I}}};
static_assert(one_row_each(kCudaElements, &CudaElement::type));

struct CudaTensor {
  TensorType type;
  CUtensorMapDataType cuda;
};
constexpr std::array<CudaTensor, kTensorTypeCount> kCudaTensors{
    {{TensorType::kFloat32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
     {TensorType::kTfloat32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32},
     {TensorType::kFloat16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
     {TensorType::kBfloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16},
     {TensorType::kUint8, CU_TENSOR_MAP_DATA_TYPE_UINT8},
     {TensorType::kInt32, CU_TENSOR_MAP_DATA_TYPE_INT32}}};
static_assert(one_row_each(kCudaTensors, &CudaTensor::type));

}  // namespace

cudaDataType_t cuda_type(ElementType type) { return row_of(kCudaElements, type).cuda; }

CUtensorMapDataType tensor_map_type(TensorType type) { return row_of(kCudaTensors, type).cuda; }

}  // namespace pgtune::gpu
