// SPDX-License-Identifier: MIT
// What the generated functions of operations make of sizes given on standard input, one problem a line: the kind's
// number among those below, the variant's, and the sizes.
#include <cstdio>

#include "best.hpp"

using namespace best;
using namespace best::detail;

#include "tests/exported/programs/plan_text.hpp"

namespace {

template <typename Of>
void answer(const Device& device, int variant, const Int* sizes) {
  typename Of::Facts f{};
  describe(f, device);
  const char* why = "";
  Plan plan;
  if (!Of::describe(f, sizes, why)) {
    std::puts("no problem");
  } else if (serves(variant, Of::kKind, device, f, plan)) {
    print(plan);
  } else {
    std::puts("refused");
  }
}

/// kinds.inc, which the test writes, has ANSWER() of each.
using Answer = void (*)(const Device&, int, const Int*);
const Answer kAnswers[] = {
#define ANSWER(kind) answer<Of_##kind>,
#include "kinds.inc"
};

}  // namespace

int main() {
  const Device& device = sample_device();
  int kind = 0, variant = 0, count = 0;
  while (std::scanf("%d %d %d", &kind, &variant, &count) == 3) {
    Int sizes[16] = {};
    for (int i = 0; i < count; ++i) {
      long long size = 0;
      if (std::scanf("%lld", &size) != 1) return 1;
      sizes[i] = size;
    }
    kAnswers[kind](device, variant, sizes);
  }
}
