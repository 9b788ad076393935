// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/prepared_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "tuner/gpu/launch/driver.hpp"

namespace pgtune::gpu {
namespace {

Error no_buffer(const std::string& what) {
  return {ErrorKind::kInternal, what + " is of a buffer that the problem has not", {}};
}

// Values are in the low bytes of their slot: kernels read as many bytes as the parameter has.
template <typename T>
std::uint64_t slot(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

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

CUaccessProperty access_property(L2Access access) {
  switch (access) {
    case L2Access::kStreaming:
      return CU_ACCESS_PROPERTY_STREAMING;
    case L2Access::kPersisting:
      return CU_ACCESS_PROPERTY_PERSISTING;
    case L2Access::kNormal:
      break;
  }
  return CU_ACCESS_PROPERTY_NORMAL;
}

CUlaunchAttribute cluster_attribute(const Dim3& cluster) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = static_cast<unsigned>(cluster.x);
  attribute.value.clusterDim.y = static_cast<unsigned>(cluster.y);
  attribute.value.clusterDim.z = static_cast<unsigned>(cluster.z);
  return attribute;
}

CUlaunchAttribute overlap_attribute() {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

CUlaunchAttribute cooperative_attribute() {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  return attribute;
}

CUlaunchAttribute window_attribute(const L2Window& window, const DeviceSpan& span, std::int64_t max_window_bytes) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
  CUaccessPolicyWindow& policy = attribute.value.accessPolicyWindow;
  policy.base_ptr = device_pointer(span.address);
  policy.num_bytes = static_cast<std::size_t>(std::min(span.bytes, max_window_bytes));
  policy.hitRatio = static_cast<float>(window.hit_ratio);
  policy.hitProp = access_property(window.access);
  policy.missProp = CU_ACCESS_PROPERTY_NORMAL;
  return attribute;
}

CudaFailure argument_failure(const Error& error, const std::string& symbol) {
  return {cudaErrorInvalidValue, cudaGetErrorName(cudaErrorInvalidValue), error.text(), "arguments of " + symbol,
          false};
}

}  // namespace

Result<ArgumentBlock> ArgumentBlock::pack(const std::vector<KernelArgument>& arguments, const OperandSet& operands,
                                          const std::vector<CUtensorMap>& maps) {
  ArgumentBlock block;
  block.values_.resize(arguments.size());
  block.pointers_.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument& argument = arguments[i];
    block.pointers_[i] = &block.values_[i];
    switch (argument.kind) {
      case ArgumentKind::kPointer:
        if (!operands.has(argument.operand)) return tl::unexpected(no_buffer(fmt::format("argument {}", i)));
        block.values_[i] = operands[argument.operand].address;
        break;
      case ArgumentKind::kTensorMap:
        if (argument.integer < 0 || static_cast<std::size_t>(argument.integer) >= maps.size()) {
          return fail(ErrorKind::kInternal,
                      fmt::format("argument {} names tensor map {} of {}", i, argument.integer, maps.size()));
        }
        block.pointers_[i] = const_cast<CUtensorMap*>(&maps[static_cast<std::size_t>(argument.integer)]);
        break;
      case ArgumentKind::kInt32:
        if (argument.integer < std::numeric_limits<std::int32_t>::min() ||
            argument.integer > std::numeric_limits<std::int32_t>::max()) {
          return fail(ErrorKind::kInternal,
                      fmt::format("argument {} is {}, which an int32 cannot hold; the template needs an int64 argument "
                                  "or a legality rule",
                                  i, argument.integer));
        }
        block.values_[i] = slot(static_cast<std::int32_t>(argument.integer));
        break;
      case ArgumentKind::kInt64:
        block.values_[i] = slot(argument.integer);
        break;
      case ArgumentKind::kFloat32:
        block.values_[i] = slot(static_cast<float>(argument.real));
        break;
    }
  }
  return block;
}

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

CudaResult<PreparedPlan> PreparedPlan::prepare(const Driver& driver, const Module& module, const LaunchPlan& plan,
                                               const std::vector<OperandSet>& copies, std::int64_t max_window_bytes) {
  PreparedPlan prepared;
  prepared.driver_ = &driver;
  prepared.zero_workspace_ = plan.zero_workspace && plan.workspace_bytes > 0;
  prepared.max_window_bytes_ = max_window_bytes;
  for (const KernelLaunch& launch : plan.kernels) {
    TRY_ASSIGN(auto function, module.function(launch.symbol));
    // Static and dynamic together may use 48 KB by default; requesting what a kernel gets anyway does no harm.
    if (launch.dynamic_smem_bytes > 0) {
      TRY(check(driver.function_set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              static_cast<int>(launch.dynamic_smem_bytes)),
                "giving " + launch.symbol + " " + std::to_string(launch.dynamic_smem_bytes) +
                    " bytes of dynamic shared memory"));
    }
    if (launch.l2_window && launch.l2_window->access == L2Access::kPersisting) prepared.wants_persisting_l2_ = true;
    prepared.kernels_.push_back({function, launch, "launching " + launch.symbol});
  }
  for (const OperandSet& operands : copies) {
    auto copy = std::make_unique<Copy>();
    copy->operands = operands;
    for (const TensorMapPlan& map : plan.tensor_maps) {
      if (!operands.has(map.operand)) return tl::unexpected(argument_failure(no_buffer(map.name), "its kernels"));
      TRY_ASSIGN(auto encoded, encode_tensor_map(driver, map, operands[map.operand].address));
      copy->maps.push_back(encoded);
    }
    for (const KernelLaunch& launch : plan.kernels) {
      auto arguments = ArgumentBlock::pack(launch.arguments, operands, copy->maps);
      if (!arguments) return tl::unexpected(argument_failure(arguments.error(), launch.symbol));
      if (launch.l2_window && !operands.has(launch.l2_window->operand))
        return tl::unexpected(argument_failure(no_buffer("its window of L2"), launch.symbol));
      copy->arguments.push_back(std::move(*arguments));
    }
    prepared.copies_.push_back(std::move(copy));
  }
  return prepared;
}

CudaResult<> PreparedPlan::launch(std::size_t copy, cudaStream_t stream, bool follows) const {
  const Copy& operands = *copies_[copy];
  if (zero_workspace_) {
    const DeviceSpan& workspace = operands.operands.workspace;
    auto ok =
        check(cudaMemsetAsync(device_pointer(workspace.address), 0, static_cast<std::size_t>(workspace.bytes), stream),
              "zeroing the workspace");
    if (!ok) return ok;
  }
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const KernelLaunch& launch = kernels_[i].launch;
    const bool overlaps = launch.waits_first || (launch.overlaps_previous && (i > 0 || follows));
    auto ok = launch_kernel(kernels_[i], operands.operands, operands.arguments[i], stream, overlaps);
    if (!ok) return ok;
  }
  return {};
}

CudaResult<> PreparedPlan::launch_kernel(const Kernel& kernel, const OperandSet& operands,
                                         const ArgumentBlock& arguments, cudaStream_t stream, bool overlaps) const {
  const KernelLaunch& launch = kernel.launch;
  std::array<CUlaunchAttribute, 4> attributes{};
  unsigned attribute_count = 0;
  if (launch.cluster.count() > 1) attributes[attribute_count++] = cluster_attribute(launch.cluster);
  if (overlaps) attributes[attribute_count++] = overlap_attribute();
  if (launch.co_resident) attributes[attribute_count++] = cooperative_attribute();
  if (launch.l2_window && max_window_bytes_ > 0) {
    attributes[attribute_count++] =
        window_attribute(*launch.l2_window, operands[launch.l2_window->operand], max_window_bytes_);
  }
  CUlaunchConfig config = launch_config(launch.grid, launch.block, stream, launch.dynamic_smem_bytes);
  config.attrs = attributes.data();
  config.numAttrs = attribute_count;
  return check(driver_->launch_kernel(&config, kernel.function, arguments.pointers(), nullptr), kernel.call);
}

}  // namespace pgtune::gpu
