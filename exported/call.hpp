// SPDX-License-Identifier: MIT
// What was selected, and its launch: the same for every operation.
#pragma once

#include <cstring>

#include "exported/dispatch.hpp"

namespace pgtune_export {
namespace detail {

/// A call's buffers by their places, and its scalars by their numbers.
struct Bindings {
  const void* buffers[kMaxBuffers];
  float scalars[kMaxScalars];
};

/// A plain value, to be copied and kept.
class Selected {
 public:
  /// After a select() that failed, it says why.
  Choice choice() const noexcept { return choice_; }

  /// Of a buffer on the device that run() is given, aligned to 256 bytes. It may hold anything before and is anything
  /// after; two calls that may run at the same time need one each.
  std::size_t workspace_bytes() const noexcept { return static_cast<std::size_t>(plan_.workspace_bytes); }

 protected:
  bool is_enough(const void* workspace, std::size_t bytes) const noexcept {
    return bytes >= workspace_bytes() && (workspace_bytes() == 0 || (workspace != nullptr && address(workspace) == 0));
  }

  /// Launches the plan, with arguments that were found right.
  Status enqueue(const Bindings& given, void* workspace, CUstream stream) const noexcept {
    const Driver& d = state.driver;
    CUcontext context = nullptr, current = nullptr;
    if (const CUresult code = d.stream_context(stream, &context); code != CUDA_SUCCESS || context == nullptr) {
      last_error = static_cast<int>(code);
      return Status::not_prepared;
    }
    if (!device_->loaded_in(context)) return elsewhere(context);
    if (const CUresult code = d.context_get(&current); code != CUDA_SUCCESS) return failed(code);
    if (current == context) return launch(d, given, workspace, stream);
    if (const CUresult code = d.context_push(context); code != CUDA_SUCCESS) return failed(code);
    const Status status = launch(d, given, workspace, stream);
    d.context_pop(&context);
    return status;
  }

  /// Once for the shape; run() only replaces addresses.
  Status encode_maps(const Bindings& given) noexcept {
    for (int i = 0; i < plan_.map_count; ++i) {
      const MapPlan& map = plan_.maps[i];
      cuuint64_t dims[5] = {}, strides[4] = {};
      cuuint32_t box[5] = {}, steps[5] = {};
      for (unsigned n = 0; n < map.rank; ++n) {
        dims[n] = static_cast<cuuint64_t>(map.dims[n]);
        box[n] = static_cast<cuuint32_t>(map.box[n]);
        steps[n] = 1;
        if (n + 1 < map.rank) strides[n] = static_cast<cuuint64_t>(map.strides_bytes[n]);
      }
      const void* data = at(map.buffer, given, nullptr);
      // It stands for the one that run() is given.
      if (data == nullptr) data = reinterpret_cast<const void*>(std::uintptr_t{4096});
      CUtensorMap encoded;
      const CUresult code = state.driver.encode_map(&encoded, map.type, map.rank, const_cast<void*>(data), dims,
                                                    strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, map.swizzle,
                                                    map.promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
      if (code != CUDA_SUCCESS) return failed(code);
      std::memcpy(maps_[i], &encoded, sizeof encoded);
      map_addresses_[i] = data;
    }
    return Status::ok;
  }

  Choice choice_;
  const Device* device_ = nullptr;
  Plan plan_{};

 private:
  static const void* at(Place buffer, const Bindings& given, const void* workspace) noexcept {
    return buffer == kWorkspace ? workspace : given.buffers[buffer];
  }

  /// The stream's context is not one of this device that was prepared.
  Status elsewhere(CUcontext context) const noexcept {
    for (const Device& other : state.devices) {
      if (&other != device_ && other.ready.load(std::memory_order_acquire) && other.loaded_in(context))
        return Status::wrong_device;
    }
    return Status::not_prepared;
  }

  Status launch(const Driver& d, const Bindings& given, void* workspace, CUstream stream) const noexcept {
    CUtensorMap maps[kMaxMaps];
    for (int i = 0; i < plan_.map_count; ++i) {
      std::memcpy(&maps[i], maps_[i], sizeof maps[i]);
      const void* const data = at(plan_.maps[i].buffer, given, workspace);
      if (data == map_addresses_[i]) continue;
      const CUresult code = d.replace_address(&maps[i], const_cast<void*>(data));
      if (code != CUDA_SUCCESS) return failed(code);
    }
    if (plan_.zeroes_workspace && plan_.workspace_bytes > 0) {
      const auto begin = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(workspace));
      const CUresult code = d.set_bytes(begin, 0, static_cast<std::size_t>(plan_.workspace_bytes), stream);
      if (code != CUDA_SUCCESS) return failed(code);
    }
    for (int i = 0; i < plan_.kernel_count; ++i) {
      const CUresult code = launch_kernel(d, plan_.kernels[i], given, workspace, maps, stream);
      if (code != CUDA_SUCCESS) return failed(code);
    }
    return Status::ok;
  }

  CUresult launch_kernel(const Driver& d, const KernelPlan& k, const Bindings& given, void* workspace,
                         CUtensorMap* maps, CUstream stream) const noexcept {
    using Kind = Argument::Kind;
    std::uint64_t values[kMaxArguments];
    void* arguments[kMaxArguments];
    for (int i = 0; i < k.argument_count; ++i) {
      const Argument& argument = k.arguments[i];
      arguments[i] = &values[i];
      const void* pointer = nullptr;
      const auto narrow = static_cast<std::int32_t>(argument.value);
      switch (argument.kind) {
        case Kind::pointer:
          pointer = at(argument.buffer, given, workspace);
          std::memcpy(&values[i], &pointer, sizeof pointer);
          break;
        case Kind::map:
          arguments[i] = &maps[argument.value];
          break;
        case Kind::int32:
          std::memcpy(&values[i], &narrow, sizeof narrow);
          break;
        case Kind::int64:
          std::memcpy(&values[i], &argument.value, sizeof argument.value);
          break;
        case Kind::scalar:
          std::memcpy(&values[i], &given.scalars[argument.value], sizeof(float));
          break;
      }
    }
    CUlaunchAttribute attributes[3];
    unsigned count = 0;
    if (k.cluster[0] * k.cluster[1] * k.cluster[2] > 1) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attributes[count].value.clusterDim.x = static_cast<unsigned>(k.cluster[0]);
      attributes[count].value.clusterDim.y = static_cast<unsigned>(k.cluster[1]);
      attributes[count++].value.clusterDim.z = static_cast<unsigned>(k.cluster[2]);
    }
    if (k.overlaps) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attributes[count++].value.programmaticStreamSerializationAllowed = 1;
    }
    if (k.co_resident) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attributes[count++].value.cooperative = 1;
    }
    CUlaunchConfig config{};
    config.gridDimX = static_cast<unsigned>(k.grid[0]);
    config.gridDimY = static_cast<unsigned>(k.grid[1]);
    config.gridDimZ = static_cast<unsigned>(k.grid[2]);
    config.blockDimX = static_cast<unsigned>(k.block[0]);
    config.blockDimY = static_cast<unsigned>(k.block[1]);
    config.blockDimZ = static_cast<unsigned>(k.block[2]);
    config.sharedMemBytes = static_cast<unsigned>(k.smem_bytes);
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    const CUkernel kernel = state.kernels[kVariantRows[choice_.variant].image][k.symbol];
    return d.launch(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr);
  }

  const void* map_addresses_[kMaxMaps] = {};
  std::uint64_t maps_[kMaxMaps][sizeof(CUtensorMap) / sizeof(std::uint64_t)] = {};
};

inline Status prepare_numbered(int device) noexcept {
  if (device < 0 || device >= kMaxDevices) return Status::invalid_argument;
  const std::lock_guard<std::mutex> lock(state.mutex);
  return prepare_device(device);
}

}  // namespace detail

/// Loads the kernels for a device (its number as the CUDA runtime counts) into the context that is current, or into the
/// device's primary one. Once is enough; again costs little. Everything else needs it first.
inline Status prepare(int device) noexcept { return detail::prepare_numbered(device); }

/// The driver's number (CUresult) of what last went wrong in this thread.
inline int last_cuda_error() noexcept { return detail::last_error; }

inline const Variant* variants(int* count) noexcept {
  *count = detail::kVariantCount;
  return detail::kVariants;
}
inline const DeviceClass* device_classes(int* count) noexcept {
  *count = detail::kDeviceClassCount;
  return detail::kDeviceClasses;
}
inline const Build& build() noexcept { return detail::kBuild; }

}  // namespace pgtune_export
