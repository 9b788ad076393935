// SPDX-License-Identifier: MIT
// Prepares a header that holds sources: jit NVRTC CACHE [ARCH]; "-" is none.
#include <cstring>

#include "best_gemm.hpp"
#include "tests/exported/programs/check.hpp"

int main(int count, char** arguments) {
  if (count < 3) return 2;
  if (count > 3) fake().arch = std::atoi(arguments[3]);
  best_gemm::Jit how;
  how.nvrtc = arguments[1];
  if (std::strcmp(arguments[2], "-") != 0) how.cache_folder = arguments[2];
  best_gemm::Gemm gemm;
  int entries = 0;
  const best_gemm::Problem problem = best_gemm::entries(&entries)[0].problem;
  const best_gemm::Status status = best_gemm::prepare(0, how);
  if (status != best_gemm::Status::ok) {
    std::printf("%s: %s\n", best_gemm::text(status), best_gemm::jit_log());
    return 1;
  }
  const bool selected = best_gemm::Gemm::select(problem, {}, 0, {}, gemm) == best_gemm::Status::ok;
  std::printf("%s, %d loads, match %d\n", best_gemm::text(status), fake().loads.load(),
              selected ? static_cast<int>(gemm.choice().match) : -1);
  return 0;
}
