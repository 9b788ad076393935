// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/prepared_plan.hpp"

#include <algorithm>
#include <array>

#include "tuner/gpu/launch/launch_config.hpp"
#include "tuner/gpu/launch/tensor_map.hpp"

namespace pgtune::gpu {
namespace {

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

CudaResult<PreparedPlan> PreparedPlan::prepare(const Driver& driver, const Module& module, const LaunchPlan& plan,
                                               const std::vector<OperandSet>& copies, std::int64_t max_window_bytes) {
  PreparedPlan prepared;
  prepared.driver_ = &driver;
  prepared.zero_every_launch_ = plan.zero_workspace == ZeroWorkspace::kEveryLaunch && plan.workspace_bytes > 0;
  prepared.max_window_bytes_ = max_window_bytes;
  for (const KernelLaunch& launch : plan.kernels) {
    auto function = module.function(launch.symbol);
    if (!function) return tl::unexpected(function.error());
    // Static and dynamic together may have 48 KB unasked; asking for what a kernel gets anyway does no harm.
    if (launch.dynamic_smem_bytes > 0) {
      auto ok = check(driver.function_set_attribute(*function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                    static_cast<int>(launch.dynamic_smem_bytes)),
                      "giving " + launch.symbol + " " + std::to_string(launch.dynamic_smem_bytes) +
                          " bytes of dynamic shared memory");
      if (!ok) return tl::unexpected(ok.error());
    }
    if (launch.l2_window && launch.l2_window->access == L2Access::kPersisting) prepared.wants_persisting_l2_ = true;
    prepared.kernels_.push_back({*function, launch, "launching " + launch.symbol});
  }
  for (const OperandSet& operands : copies) {
    auto copy = std::make_unique<Copy>();
    copy->operands = operands;
    for (const TensorMapPlan& map : plan.tensor_maps) {
      auto encoded = encode_tensor_map(driver, map, operands[map.operand].address);
      if (!encoded) return tl::unexpected(encoded.error());
      copy->maps.push_back(*encoded);
    }
    for (const KernelLaunch& launch : plan.kernels) {
      auto arguments = ArgumentBlock::pack(launch.arguments, operands, copy->maps);
      if (!arguments) return tl::unexpected(argument_failure(arguments.error(), launch.symbol));
      copy->arguments.push_back(std::move(*arguments));
    }
    prepared.copies_.push_back(std::move(copy));
  }
  return prepared;
}

CudaResult<> PreparedPlan::launch(std::size_t copy, cudaStream_t stream, bool follows) const {
  const Copy& operands = *copies_[copy];
  if (zero_every_launch_) {
    const DeviceSpan& workspace = operands.operands.workspace;
    auto ok =
        check(cudaMemsetAsync(device_pointer(workspace.address), 0, static_cast<std::size_t>(workspace.bytes), stream),
              "zeroing the workspace");
    if (!ok) return ok;
  }
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const bool overlaps = kernels_[i].launch.overlaps_previous && (i > 0 || follows);
    auto ok = launch_kernel(kernels_[i], operands.operands, operands.arguments[i], stream, overlaps);
    if (!ok) return ok;
  }
  return {};
}

CudaResult<> PreparedPlan::launch_kernel(const Kernel& kernel, const OperandSet& operands,
                                         const ArgumentBlock& arguments, cudaStream_t stream, bool overlaps) const {
  const KernelLaunch& launch = kernel.launch;
  std::array<CUlaunchAttribute, 3> attributes{};
  unsigned attribute_count = 0;
  if (launch.cluster.count() > 1) attributes[attribute_count++] = cluster_attribute(launch.cluster);
  if (overlaps) attributes[attribute_count++] = overlap_attribute();
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
