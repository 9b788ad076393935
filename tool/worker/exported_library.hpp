// SPDX-License-Identifier: MIT
// The library that pgtune compiles of an exported header (exported/package/consumer.cpp), opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/launchable.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::worker {

/// One at a time in a process: the library keeps the entry that was selected. It stays open until the process ends.
class ExportedLibrary {
 public:
  /// Errors (environment): no library, or one without these functions.
  [[nodiscard]] static Result<std::unique_ptr<ExportedLibrary>> open(const std::string& path);

  /// Empty, or what the header's status says.
  [[nodiscard]] std::string prepare(int device) const;
  /// Chooses the entry's own kernel for operands that lie so; `workspace_bytes` is what it needs. Empty, or why not.
  [[nodiscard]] std::string select(int entry, int device, const gpu::OperandSet& operands,
                                   const OperationProblem& operation, std::int64_t& workspace_bytes);
  /// Enqueues what was selected. Empty, or why not.
  [[nodiscard]] std::string run(const gpu::OperandSet& operands, const gpu::DeviceSpan& workspace,
                                cudaStream_t stream) const;

 private:
  ExportedLibrary() = default;
  [[nodiscard]] std::string text(int status) const;

  // Pointers are in the operation's order: of GEMM A, B, C, bias, D.
  int (*prepare_)(int) = nullptr;
  std::vector<float> scalars_;  ///< of what was selected
  int (*select_)(int entry, int device, void** pointers, const float* scalars, std::size_t* bytes) = nullptr;
  int (*run_)(void** pointers, const float* scalars, void* workspace, std::size_t bytes, void* stream) = nullptr;
  const char* (*text_)(int) = nullptr;
  int (*last_cuda_error_)() = nullptr;
};

/// What was selected, to be timed beside the worker's own.
class ExportedLaunch final : public gpu::Launchable {
 public:
  /// All must outlive it.
  ExportedLaunch(const ExportedLibrary& library, const std::vector<gpu::OperandSet>& copies,
                 const gpu::DeviceSpan& workspace)
      : library_(&library), copies_(&copies), workspace_(workspace) {}
  [[nodiscard]] gpu::CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;

 private:
  const ExportedLibrary* library_;
  const std::vector<gpu::OperandSet>* copies_;
  gpu::DeviceSpan workspace_;
};

}  // namespace pgtune::worker
