// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/loaded_variant.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "tuner/gpu/jit/cubin_cache.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/util/hash_text.hpp"

namespace pgtune::gpu {
namespace {

tl::unexpected<CudaFailure> unreadable(cudaError_t code, const std::string& what) {
  return tl::unexpected(CudaFailure{code, cudaGetErrorName(code), what, "loading the cubin", false});
}

CudaResult<std::string> read_cubin(const std::string& path, const std::string& hash) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.empty()) return unreadable(cudaErrorFileNotFound, "cannot read " + path);
  // Some damaged cubins crash the driver. The next build finds the entry broken and rebuilds it.
  if (!hash.empty() && hash_text(bytes) != hash)
    return unreadable(cudaErrorInvalidKernelImage, path + " was changed since it was built");
  return bytes;
}

}  // namespace

CudaResult<Module> load_modules(const Driver& driver, const BuildInfo& build) {
  TRY_ASSIGN(const auto cubin, read_cubin(build.cubin_path, build.cubin_hash));
  TRY_ASSIGN(auto module, Module::load(driver, cubin));
  for (const ModuleFile& further : build.modules) {
    TRY_ASSIGN(const auto bytes, read_cubin(further.cubin_path, further.cubin_hash));
    TRY(module.add(bytes));
  }
  return module;
}

LaunchPlan with_symbols(LaunchPlan plan, const BuildInfo& build) {
  for (KernelLaunch& kernel : plan.kernels) kernel.symbol = build.symbol_of(kernel.symbol);
  return plan;
}

CudaResult<Workspace> Workspace::allocate(const Driver& driver, std::int64_t bytes, bool guarded) {
  Workspace workspace;
  workspace.bytes_ = bytes;
  if (bytes == 0) return workspace;
  CudaResult<> done;
  if (guarded) {
    done = GuardedMemory::allocate(driver, bytes).map([&](GuardedMemory memory) {
      workspace.guarded_ = std::move(memory);
    });
  } else {
    const std::int64_t rounded = (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    done = DeviceBuffer::allocate(rounded + 2 * kGuardBytes).map([&](DeviceBuffer memory) {
      workspace.plain_ = std::move(memory);
    });
  }
  if (done) return workspace;
  done.error().call = "allocating " + std::to_string(bytes) + " bytes of workspace";
  return tl::unexpected(done.error());
}

DeviceSpan Workspace::memory() const {
  return guarded_.mapped().bytes > 0 ? guarded_.mapped() : DeviceSpan{plain_.address(), plain_.bytes()};
}

DeviceSpan Workspace::at(MemoryEdge edge) const {
  if (bytes_ == 0) return {};
  if (guarded_.mapped().bytes > 0) return guarded_.at(edge);
  return {plain_.address() + kGuardBytes, bytes_};
}

LoadedVariant::LoadedVariant(const HelperKernels& kernels, Workspace workspace, std::vector<MemoryEdge> edges,
                             std::size_t guarded, Module module, PreparedPlan plan)
    : kernels_(&kernels),
      workspace_(std::move(workspace)),
      edges_(std::move(edges)),
      guarded_(guarded),
      module_(std::move(module)),
      plan_(std::move(plan)) {}

CudaResult<std::unique_ptr<LoadedVariant>> LoadedVariant::load(const Driver& driver, const HelperKernels& kernels,
                                                               const BuildInfo& build, const LaunchPlan& plan,
                                                               std::vector<OperandSet> copies,
                                                               std::int64_t max_window_bytes, cudaStream_t stream,
                                                               std::size_t guarded) {
  TRY_ASSIGN(auto module, load_modules(driver, build));
  TRY_ASSIGN(auto workspace, Workspace::allocate(driver, plan.workspace_bytes, guarded > 0));
  std::vector<MemoryEdge> edges(copies.size(), MemoryEdge::kStart);
  std::copy_n(kGuardedPlaces.begin(), guarded, edges.end() - static_cast<std::ptrdiff_t>(guarded));
  for (std::size_t i = 0; i < copies.size(); ++i) copies[i].workspace = workspace.at(edges[i]);
  TRY_ASSIGN(auto prepared, PreparedPlan::prepare(driver, module, with_symbols(plan, build), copies, max_window_bytes));

  std::unique_ptr<LoadedVariant> variant(new LoadedVariant(kernels, std::move(workspace), std::move(edges), guarded,
                                                           std::move(module), std::move(prepared)));
  TRY(variant->reset(0, stream));
  return variant;
}

CudaResult<> LoadedVariant::launch(std::size_t copy, cudaStream_t stream) { return plan_.launch(copy, stream); }

CudaResult<> LoadedVariant::launch_next(std::size_t copy, cudaStream_t stream) {
  return plan_.launch(copy, stream, true);
}

std::vector<std::size_t> LoadedVariant::checked_copies() const {
  if (guarded_ == 0) return {0};
  std::vector<std::size_t> copies;
  for (std::size_t i = edges_.size() - guarded_; i < edges_.size(); ++i) copies.push_back(i);
  return copies;
}

CudaResult<> LoadedVariant::reset(std::size_t /*copy*/, cudaStream_t stream) {
  if (workspace_.bytes() == 0) return {};
  return kernels_->fill_pattern(workspace_.memory(), kPoison, stream);
}

std::vector<DeviceSpan> LoadedVariant::guards(std::size_t copy) const {
  if (workspace_.bytes() == 0) return {};
  const auto [before, after] = around(workspace_.memory(), workspace_.at(edges_[copy]));
  return {before, after};
}

}  // namespace pgtune::gpu
