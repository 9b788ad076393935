// SPDX-License-Identifier: MIT
// What programs say of the plans that generated functions make. They include it after the header, whose namespaces they
// use.
#pragma once

#include <cstdio>

inline long long show(Int value) { return static_cast<long long>(value); }

inline void print(const Plan& plan) {
  std::printf("workspace %lld zeroed %d\n", show(plan.workspace_bytes), plan.zeroes_workspace ? 1 : 0);
  for (int i = 0; i < plan.map_count; ++i) {
    const MapPlan& map = plan.maps[i];
    std::printf("map %d type %d swizzle %d promotion %d", map.buffer, static_cast<int>(map.type),
                static_cast<int>(map.swizzle), static_cast<int>(map.promotion));
    for (unsigned n = 0; n < map.rank; ++n) std::printf(" %lld/%lld", show(map.dims[n]), show(map.box[n]));
    for (unsigned n = 0; n + 1 < map.rank; ++n) std::printf(" +%lld", show(map.strides_bytes[n]));
    std::printf("\n");
  }
  for (int i = 0; i < plan.kernel_count; ++i) {
    const KernelPlan& k = plan.kernels[i];
    std::printf("kernel %d grid %lld %lld %lld block %lld %lld %lld cluster %lld %lld %lld smem %lld overlaps %d",
                k.symbol, show(k.grid[0]), show(k.grid[1]), show(k.grid[2]), show(k.block[0]), show(k.block[1]),
                show(k.block[2]), show(k.cluster[0]), show(k.cluster[1]), show(k.cluster[2]), show(k.smem_bytes),
                k.overlaps ? 1 : 0);
    for (int n = 0; n < k.argument_count; ++n) {
      const Argument& argument = k.arguments[n];
      const bool is_pointer = argument.kind == Argument::Kind::pointer;
      std::printf(" %d:%lld", static_cast<int>(argument.kind), is_pointer ? argument.buffer : show(argument.value));
    }
    std::printf("\n");
  }
  std::printf("cost %lld\n", show(plan.cost));
}

/// An H200, prepared, with every kernel there.
inline Device& sample_device() {
  static int dummy = 0;
  for (auto& image : state.kernels) {
    for (CUkernel& kernel : image) kernel = reinterpret_cast<CUkernel>(&dummy);
  }
  Device& device = state.devices[0];
  device.arch = 90, device.sm_count = 132, device.smem_limit = 232448, device.smem_per_sm = 233472;
  device.registers_per_sm = 65536, device.l2_bytes = 52428800;
  return device;
}
