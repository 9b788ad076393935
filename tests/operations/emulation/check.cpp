// SPDX-License-Identifier: MIT
// The check's own kernels run on the host, the same for every problem.
#include "tests/operations/emulated_kernels.hpp"

// These define what other headers use, too.
#include "emulated_gpu.hpp"
#include "kernels/tensors.cuh"

namespace pgtune::testing {

void launch_check(const std::string& symbol, const Dim3& grid, const Dim3& block, std::vector<void*> arguments) {
  const auto of = [](const Dim3& dim) {
    return std::array{static_cast<unsigned>(dim.x), static_cast<unsigned>(dim.y), static_cast<unsigned>(dim.z)};
  };
  const auto run = [&](const char* name, auto* kernel) {
    if (symbol == name) ::launch(kernel, arguments.data(), of(grid).data(), of(block).data(), 1);
    return symbol == name;
  };
  const bool known = run("fill_tensor", fill_tensor) || run("fill_pointers", fill_pointers) ||
                     run("checksum_pointers", checksum_pointers) || run("compare_tensor", compare_tensor) ||
                     run("store_result", store_result) || run("clear_pieces", clear_pieces) ||
                     run("count_unwritten", count_unwritten);
  if (!known) std::abort();
}

}  // namespace pgtune::testing
