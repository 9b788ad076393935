// SPDX-License-Identifier: MIT
// Sixteen threads race for the first call, then select and run side by side.
#include <thread>
#include <vector>

#include "best_gemm.hpp"
#include "tests/exported/programs/check.hpp"

using namespace best_gemm;

int main() {
  fake().missing = "prepare_operands";  // as where a macro leaves a kernel out: entries that need it are refused
  int count = 0;
  const Entry* all = entries(&count);
  Operands o;
  o.a = at(0x10000000), o.b = at(0x20000000), o.c = at(0x30000000), o.d = at(0x40000000), o.bias = at(0x50000000);
  std::atomic<int> wrong{0}, ran{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      const int device = t % 2;
      if (Gemm::prepare(device) != Status::ok) ++wrong;
      for (int i = t; i < count; i += 3) {
        Gemm gemm;
        Operands mine = o;
        mine.beta = all[i].adds_c ? 1.0F : 0.0F;
        const Status chosen = Gemm::select(all[i].problem, mine, device, {}, gemm);
        if (chosen != Status::ok) {
          ++(chosen == Status::not_supported ? refused : wrong);
          continue;
        }
        if (gemm.run(mine, at(0x60000000), gemm.workspace_bytes(), stream_of<CUstream>(device)) != Status::ok) ++wrong;
        ++ran;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(ran > count && refused > 0);
  CHECK(fake().loads == detail::kImageCount);
  return failures == 0 ? 0 : 1;
}
