// SPDX-License-Identifier: MIT
// What the generated functions make of problems given on standard input, one a line: the variant's number, then type,
// layout, m n k batch, lda ldb ldc, alpha beta, out, bias, activation (numbers of the enumerators).
#include <cstdio>

#include "best_gemm.hpp"

using namespace best_gemm;
using namespace best_gemm::detail;

namespace {

const char* const kPlaces[] = {"a", "b", "c", "d", "bias", "workspace"};

long long show(Int value) { return static_cast<long long>(value); }

void print(const Plan& plan) {
  std::printf("workspace %lld zeroed %d\n", show(plan.workspace_bytes), plan.zero_to > 0 ? 1 : 0);
  for (int i = 0; i < plan.map_count; ++i) {
    const MapPlan& map = plan.maps[i];
    std::printf("map %s type %d swizzle %d promotion %d", kPlaces[static_cast<int>(map.operand)],
                static_cast<int>(map.type), static_cast<int>(map.swizzle), static_cast<int>(map.promotion));
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
      std::printf(" %d:", static_cast<int>(argument.kind));
      if (argument.kind == Argument::Kind::pointer) {
        std::printf("%s", kPlaces[static_cast<int>(argument.operand)]);
      } else {
        std::printf("%lld", show(argument.value));
      }
    }
    std::printf("\n");
  }
  std::printf("cost %lld\n", show(plan.cost));
}

}  // namespace

int main() {
  static int dummy = 0;
  for (auto& image : state.kernels) {
    for (CUkernel& kernel : image) kernel = reinterpret_cast<CUkernel>(&dummy);
  }
  Device& device = state.devices[0];
  device.arch = 90, device.sm_count = 132, device.smem_limit = 232448, device.smem_per_sm = 233472;
  device.registers_per_sm = 65536, device.l2_bytes = 52428800;
  int variant = 0, type = 0, layout = 0, out = 0, bias = 0, activation = 0;
  long long n[7];
  Operands o;
  while (std::scanf("%d %d %d %lld %lld %lld %lld %lld %lld %lld %f %f %d %d %d", &variant, &type, &layout, &n[0],
                    &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &o.alpha, &o.beta, &out, &bias, &activation) == 15) {
    Problem p{static_cast<Type>(type),
              static_cast<Layout>(layout),
              n[0],
              n[1],
              n[2],
              n[3],
              n[4],
              n[5],
              n[6],
              0,
              0,
              0,
              static_cast<Element>(out),
              {bias != 0, static_cast<Activation>(activation)}};
    Facts f{};
    Plan plan;
    const bool possible = complete(p, o);
    describe(f, device);
    if (possible) describe(f, p, o, true);
    if (possible && serves(variant, p, device, f, plan)) {
      print(plan);
    } else {
      std::puts(possible ? "refused" : "no problem");
    }
  }
}
