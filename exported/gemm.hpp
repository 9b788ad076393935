// SPDX-License-Identifier: MIT
// The call: prepare a device, select a kernel for a problem, run it as often as wanted.
#pragma once

#include <cstring>

#include "exported/dispatch.hpp"

namespace pgtune_export {

/// A problem with its kernel: a plain value, to be copied and kept. Every function may be called by any thread at any
/// time. Nothing here allocates, prints, throws, uses the default stream or changes a setting of the device.
class Gemm {
 public:
  /// Loads the kernels for a device (its number as the CUDA runtime counts) into the context that is current, or into
  /// the device's primary one. Once is enough; again costs little. Everything else needs it first.
  static Status prepare(int device) noexcept {
    if (device < 0 || device >= detail::kMaxDevices) return Status::invalid_argument;
    const std::lock_guard<std::mutex> lock(detail::state.mutex);
    return detail::prepare_device(device);
  }

  /// Chooses the kernel. Of the operands only alpha, beta and how pointers are aligned count; a null pointer counts as
  /// aligned to 256 bytes. On any status but ok `out` is empty, and out.choice().why says why.
  static Status select(const Problem& problem, const Operands& operands, int device, const Policy& policy,
                       Gemm& out) noexcept {
    out = Gemm();
    Problem p = problem;
    if (device < 0 || device >= detail::kMaxDevices || !detail::complete(p, operands)) return Status::invalid_argument;
    const detail::Device& on = detail::state.devices[device];
    if (!on.ready.load(std::memory_order_acquire)) return Status::not_prepared;
    detail::Facts f{};
    detail::describe(f, on);
    detail::describe(f, p, operands, true);
    Status missing = Status::not_supported;
    if (!least_aligned(operands, p)) {
      out.choice_.why = "a pointer is aligned to less than 16 bytes";
      missing = Status::misaligned;
    } else {
      out.choice_ = detail::choose(p, operands, on, f, policy, out.plan_);
    }
    if (out.choice_.match != Match::none) {
      out.problem_ = p;
      out.device_ = &on;
      out.alpha_is_one_ = operands.alpha == 1;
      out.beta_is_zero_ = operands.beta == 0;
      out.loosen_alignment(f, on);
      const Status status = out.encode_maps(operands);
      if (status != Status::ok) out = Gemm();
      return status;
    }
    if (policy.fallback != nullptr) {
      out.choice_.match = Match::fallback;
      out.problem_ = p;
      out.device_ = &on;
      out.fallback_ = policy.fallback;
      out.user_ = policy.user;
      out.plan_.workspace_bytes = static_cast<detail::Int>(policy.fallback_workspace_bytes);
      return Status::ok;
    }
    return missing == Status::not_supported && alignment_is_why(p, operands, on, policy) ? Status::misaligned : missing;
  }

  Choice choice() const noexcept { return choice_; }

  /// Of a buffer on the device that run() is given, aligned to 256 bytes. It may hold anything before and is anything
  /// after; two calls that may run at the same time need one each.
  std::size_t workspace_bytes() const noexcept { return static_cast<std::size_t>(plan_.workspace_bytes); }

  /// Enqueues the product on the stream, and nothing on any other. May be captured in a graph: the pointers and scalars
  /// are then the graph's. Pointers may change from call to call, but must stay as aligned as they were selected for.
  Status run(const Operands& o, void* workspace, std::size_t bytes, CUstream stream) const noexcept {
    if (choice_.match == Match::none) return Status::not_supported;
    if (o.a == nullptr || o.b == nullptr || o.d == nullptr || (o.beta != 0 && o.c == nullptr) ||
        (problem_.epilogue.bias && o.bias == nullptr))
      return Status::invalid_argument;
    if (bytes < workspace_bytes() ||
        (workspace_bytes() > 0 && (workspace == nullptr || detail::address(workspace) != 0)))
      return Status::workspace_too_small;
    if (fallback_ != nullptr) return fallback_(problem_, o, workspace, bytes, stream, user_);
    if (!aligned(o)) return Status::misaligned;
    if (detail::asks_for_scalars(detail::kVariantRows[choice_.variant].template_number) &&
        ((o.alpha == 1) != alpha_is_one_ || (o.beta == 0) != beta_is_zero_))
      return Status::invalid_argument;
    const detail::Driver& d = detail::state.driver;
    CUcontext context = nullptr, current = nullptr;
    if (const CUresult code = d.stream_context(stream, &context); code != CUDA_SUCCESS || context == nullptr) {
      detail::last_error = static_cast<int>(code);
      return Status::not_prepared;
    }
    if (!device_->loaded_in(context)) return elsewhere(context);
    if (const CUresult code = d.context_get(&current); code != CUDA_SUCCESS) return detail::failed(code);
    if (current == context) return launch(d, o, workspace, stream);
    if (const CUresult code = d.context_push(context); code != CUDA_SUCCESS) return detail::failed(code);
    const Status status = launch(d, o, workspace, stream);
    d.context_pop(&context);
    return status;
  }

 private:
  static bool least_aligned(const Operands& o, const Problem& p) noexcept {
    detail::Int bits = detail::address(o.a) | detail::address(o.b) | detail::address(o.d);
    if (o.beta != 0) bits |= detail::address(o.c);
    if (p.epilogue.bias) bits |= detail::address(o.bias);
    return bits % detail::kLeastAlignment == 0;
  }

  bool aligned(const Operands& o) const noexcept {
    return least_aligned(o, problem_) && detail::address(o.a) % align_a_ == 0 && detail::address(o.b) % align_b_ == 0 &&
           detail::address(o.d) % align_c_ == 0 && (o.beta == 0 || detail::address(o.c) % align_c_ == 0);
  }

  /// Where nothing is served: whether a variant would, were the pointers aligned to 256 bytes.
  static bool alignment_is_why(const Problem& p, const Operands& o, const detail::Device& on,
                               const Policy& policy) noexcept {
    detail::Facts f{};
    detail::describe(f, on);
    detail::describe(f, p, o, false);
    detail::Plan plan;
    return detail::choose(p, o, on, f, policy, plan).match != Match::none;
  }

  /// What pointers have to be aligned to from now on: as they are, or to 16 bytes where the same is launched then.
  void loosen_alignment(const detail::Facts& f, const detail::Device& on) noexcept {
    align_a_ = f.v_ALIGN_A, align_b_ = f.v_ALIGN_B, align_c_ = f.v_ALIGN_C;
    detail::Facts looser = f;
    for (detail::Int* alignment : {&looser.v_ALIGN_A, &looser.v_ALIGN_B, &looser.v_ALIGN_C})
      *alignment = detail::smaller(*alignment, detail::kLeastAlignment);
    detail::Plan plan;
    if (!detail::serves(choice_.variant, problem_, on, looser, plan) || !detail::same_launch(plan, plan_)) return;
    align_a_ = looser.v_ALIGN_A, align_b_ = looser.v_ALIGN_B, align_c_ = looser.v_ALIGN_C;
  }

  static const void* place(detail::Place place, const Operands& o, const void* workspace) noexcept {
    switch (place) {
      case detail::Place::a:
        return o.a;
      case detail::Place::b:
        return o.b;
      case detail::Place::c:
        return o.beta != 0 ? o.c : o.d;
      case detail::Place::d:
        return o.d;
      case detail::Place::bias:
        return o.bias != nullptr ? o.bias : o.d;
      case detail::Place::workspace:
        break;
    }
    return workspace;
  }

  /// Once for the shape; run() only replaces addresses.
  Status encode_maps(const Operands& o) noexcept {
    for (int i = 0; i < plan_.map_count; ++i) {
      const detail::MapPlan& map = plan_.maps[i];
      cuuint64_t dims[5] = {}, strides[4] = {};
      cuuint32_t box[5] = {}, steps[5] = {};
      for (unsigned n = 0; n < map.rank; ++n) {
        dims[n] = static_cast<cuuint64_t>(map.dims[n]);
        box[n] = static_cast<cuuint32_t>(map.box[n]);
        steps[n] = 1;
        if (n + 1 < map.rank) strides[n] = static_cast<cuuint64_t>(map.strides_bytes[n]);
      }
      const void* at = place(map.operand, o, nullptr);
      if (at == nullptr) at = reinterpret_cast<const void*>(std::uintptr_t{4096});  // stands for the one run() is given
      CUtensorMap encoded;
      const CUresult code = detail::state.driver.encode_map(
          &encoded, map.type, map.rank, const_cast<void*>(at), dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
          map.swizzle, map.promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
      if (code != CUDA_SUCCESS) return detail::failed(code);
      std::memcpy(maps_[i], &encoded, sizeof encoded);
      map_addresses_[i] = at;
    }
    return Status::ok;
  }

  /// The stream's context is not one of this device that was prepared.
  Status elsewhere(CUcontext context) const noexcept {
    for (const detail::Device& other : detail::state.devices) {
      if (&other != device_ && other.ready.load(std::memory_order_acquire) && other.loaded_in(context))
        return Status::wrong_device;
    }
    return Status::not_prepared;
  }

  Status launch(const detail::Driver& d, const Operands& o, void* workspace, CUstream stream) const noexcept {
    CUtensorMap maps[detail::kMaxMaps];
    for (int i = 0; i < plan_.map_count; ++i) {
      std::memcpy(&maps[i], maps_[i], sizeof maps[i]);
      const void* const at = place(plan_.maps[i].operand, o, workspace);
      if (at == map_addresses_[i]) continue;
      const CUresult code = d.replace_address(&maps[i], const_cast<void*>(at));
      if (code != CUDA_SUCCESS) return detail::failed(code);
    }
    if (plan_.zero_to > plan_.zero_from) {
      const auto begin = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(workspace)) +
                         static_cast<CUdeviceptr>(plan_.zero_from);
      const CUresult code = d.set_bytes(begin, 0, static_cast<std::size_t>(plan_.zero_to - plan_.zero_from), stream);
      if (code != CUDA_SUCCESS) return detail::failed(code);
    }
    for (int i = 0; i < plan_.kernel_count; ++i) {
      const CUresult code = launch_kernel(d, plan_.kernels[i], o, workspace, maps, stream);
      if (code != CUDA_SUCCESS) return detail::failed(code);
    }
    return Status::ok;
  }

  CUresult launch_kernel(const detail::Driver& d, const detail::KernelPlan& k, const Operands& o, void* workspace,
                         CUtensorMap* maps, CUstream stream) const noexcept {
    using Kind = detail::Argument::Kind;
    std::uint64_t values[detail::kMaxArguments];
    void* arguments[detail::kMaxArguments];
    for (int i = 0; i < k.argument_count; ++i) {
      const detail::Argument& argument = k.arguments[i];
      arguments[i] = &values[i];
      const void* pointer = nullptr;
      const float scalar = argument.kind == Kind::alpha ? o.alpha : o.beta;
      const auto narrow = static_cast<std::int32_t>(argument.value);
      switch (argument.kind) {
        case Kind::pointer:
          pointer = place(argument.operand, o, workspace);
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
        case Kind::alpha:
        case Kind::beta:
          std::memcpy(&values[i], &scalar, sizeof scalar);
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
    const CUkernel kernel = detail::state.kernels[detail::kVariantRows[choice_.variant].image][k.symbol];
    return d.launch(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr);
  }

  Choice choice_;
  Problem problem_{};
  const detail::Device* device_ = nullptr;
  Fallback fallback_ = nullptr;
  void* user_ = nullptr;
  bool alpha_is_one_ = true, beta_is_zero_ = true;
  detail::Int align_a_ = detail::kBufferAlignment, align_b_ = detail::kBufferAlignment,
              align_c_ = detail::kBufferAlignment;
  detail::Plan plan_{};
  const void* map_addresses_[detail::kMaxMaps] = {};
  std::uint64_t maps_[detail::kMaxMaps][sizeof(CUtensorMap) / sizeof(std::uint64_t)] = {};
};

/// The driver's number (CUresult) of what last went wrong in this thread.
inline int last_cuda_error() noexcept { return detail::last_error; }

inline const Entry* entries(int* count) noexcept {
  *count = detail::kEntryCount;
  return detail::kEntries;
}
inline const Variant* variants(int* count) noexcept {
  *count = detail::kVariantCount;
  return detail::kVariants;
}
inline const DeviceClass* device_classes(int* count) noexcept {
  *count = detail::kDeviceClassCount;
  return detail::kDeviceClasses;
}
inline const NeighbourLoss* neighbour_losses(int* count) noexcept {
  *count = detail::kNeighbourLossCount;
  return detail::kNeighbourLosses;
}
inline const Build& build() noexcept { return detail::kBuild; }

}  // namespace pgtune_export
