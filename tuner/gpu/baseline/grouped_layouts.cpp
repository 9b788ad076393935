// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/grouped_layouts.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace pgtune::gpu {
namespace {

// Headers of the CUDA Toolkits that pgtune is built with may not declare it.
constexpr const char* kFunction = "cublasLtGroupedMatrixLayoutCreate";

}  // namespace

bool has_groups_of_cublaslt(const std::vector<OperationBaseline>& baselines) {
  return std::any_of(baselines.begin(), baselines.end(), [](const OperationBaseline& one) {
    const auto* const product = std::get_if<LibraryProduct>(&one);
    return product != nullptr && product->library == BaselineLibrary::kCublasLt && (product->offsets || product->rows);
  });
}

OtherBaseline unused_grouped_layouts(const OpenedLibrary& library, const std::string& title) {
  const bool there = ::dlsym(library.handle, kFunction) != nullptr;
  return {fmt::format("a grouped layout of {}", title), "", 0,
          there ? fmt::format("{} has {}, but pgtune cannot use it yet and gives cuBLASLt the groups one by one",
                              library.path.string(), kFunction)
                : fmt::format("{} has no {}, which came with cuBLAS 13.2, for compute capability 9.0 with 13.4",
                              library.path.string(), kFunction)};
}

}  // namespace pgtune::gpu
