// SPDX-License-Identifier: MIT
// What the generated functions make of problems given on standard input, one a line: the variant's number, then type,
// layout, m n k batch, lda ldb ldc, alpha beta, out, bias, activation (numbers of the enumerators).
#include <cstdio>

#include "best_gemm.hpp"

using namespace best_gemm;
using namespace best_gemm::detail;

#include "tests/exported/programs/plan_text.hpp"

int main() {
  const Device& device = sample_device();
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
    GemmFacts f{};
    Plan plan;
    const bool possible = complete(p, o);
    describe(f, device);
    if (possible) describe(f, p, o, true);
    if (possible && serves(variant, kind_of(p), device, f, plan)) {
      print(plan);
    } else {
      std::puts(possible ? "refused" : "no problem");
    }
  }
}
