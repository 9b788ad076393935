// SPDX-License-Identifier: MIT
// Device code compiled for the host (tests/operations/emulation) and launched from tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/model/launch_plan.hpp"
#include "tuner/model/source.hpp"

namespace pgtune::testing {

class EmulatedKernels {
 public:
  /// Compiles `source` with its headers and the check's, and -D of `defines`, unless an earlier test has done so. A
  /// failure is the test's, with what the compiler says.
  EmulatedKernels(const TemplateSource& source, const std::vector<Define>& defines,
                  const std::vector<std::string>& symbols);
  ~EmulatedKernels();
  EmulatedKernels(const EmulatedKernels&) = delete;
  EmulatedKernels& operator=(const EmulatedKernels&) = delete;

  [[nodiscard]] bool usable() const { return library_ != nullptr; }
  /// As cuLaunchKernel takes arguments: pointers to them. Clusters lie along x.
  void launch(const std::string& symbol, const Dim3& grid, const Dim3& block, std::vector<void*> arguments,
              std::int64_t cluster = 1) const;

 private:
  void* library_ = nullptr;
};

/// The same of a kernel of the check.
void launch_check(const std::string& symbol, const Dim3& grid, const Dim3& block, std::vector<void*> arguments);

}  // namespace pgtune::testing
