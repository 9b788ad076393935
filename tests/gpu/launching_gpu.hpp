// SPDX-License-Identifier: MIT
// A GPU on which tests launch variants.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::gpu {

/// Base of fixtures: the first GPU, and what it takes to build variants for it and to launch them.
class LaunchingGpu {
 protected:
  /// Takes the GPU; where there is none, why. To be called by SetUp().
  [[nodiscard]] std::optional<std::string> open();

  struct Built {
    LaunchPlan plan;
    BuildInfo build;
  };
  /// In the variants' order, compiled side by side. Errors also where a variant does not compile.
  [[nodiscard]] std::vector<Result<Built>> build(const space::TemplateDefinition& definition,
                                                 std::span<const Variant> variants, const Problem& problem) const;

  /// `places`: operand copies, the last `guarded` of them between unmapped memory.
  [[nodiscard]] CudaResult<std::unique_ptr<LoadedVariant>> load(const Built& built, std::vector<OperandSet> places,
                                                                std::size_t guarded = 0) const;

  DeviceInfo info_;
  Driver driver_;
  Stream stream_;
  std::unique_ptr<HelperKernels> kernels_;

 private:
  [[nodiscard]] Result<Built> build(const space::TemplateDefinition& definition, const Variant& variant,
                                    const Problem& problem) const;

  const TestFolder folder_;
  std::optional<Builder> builder_;
  int max_window_bytes_ = 0;
};

}  // namespace pgtune::gpu
