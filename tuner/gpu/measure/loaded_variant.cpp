// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/loaded_variant.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "tuner/gpu/jit/cubin_key.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"

namespace pgtune::gpu {
namespace {

tl::unexpected<CudaFailure> unreadable(cudaError_t code, const std::string& what) {
  return tl::unexpected(CudaFailure{code, cudaGetErrorName(code), what, "loading the cubin", false});
}

CudaResult<std::string> read_cubin(const BuildInfo& build) {
  std::ifstream file(build.cubin_path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.empty()) return unreadable(cudaErrorFileNotFound, "cannot read " + build.cubin_path);
  // The driver does not survive every damaged cubin. The next build finds the entry broken and makes it anew.
  if (!build.cubin_hash.empty() && content_hash(bytes) != build.cubin_hash)
    return unreadable(cudaErrorInvalidKernelImage, build.cubin_path + " was changed since it was built");
  return bytes;
}

}  // namespace

LoadedVariant::LoadedVariant(const HelperKernels& kernels, ZeroWorkspace zero, DeviceBuffer memory,
                             DeviceSpan workspace, Module module, PreparedPlan plan)
    : kernels_(&kernels),
      zero_workspace_(zero),
      memory_(std::move(memory)),
      workspace_(workspace),
      module_(std::move(module)),
      plan_(std::move(plan)) {}

CudaResult<std::unique_ptr<LoadedVariant>> LoadedVariant::load(const Driver& driver, const HelperKernels& kernels,
                                                               const BuildInfo& build, const LaunchPlan& plan,
                                                               std::vector<OperandSet> copies,
                                                               std::int64_t max_window_bytes, cudaStream_t stream) {
  auto cubin = read_cubin(build);
  if (!cubin) return tl::unexpected(cubin.error());
  auto module = Module::load(driver, *cubin);
  if (!module) return tl::unexpected(module.error());

  DeviceBuffer memory;
  DeviceSpan workspace;
  if (plan.workspace_bytes > 0) {
    const std::int64_t rounded = (plan.workspace_bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    auto allocated = DeviceBuffer::allocate(rounded + 2 * kGuardBytes);
    if (!allocated) {
      allocated.error().call = "allocating " + std::to_string(plan.workspace_bytes) + " bytes of workspace";
      return tl::unexpected(allocated.error());
    }
    memory = std::move(*allocated);
    workspace = {memory.address() + kGuardBytes, plan.workspace_bytes};
  }
  for (OperandSet& copy : copies) copy.workspace = workspace;
  auto prepared = PreparedPlan::prepare(driver, *module, plan, copies, max_window_bytes);
  if (!prepared) return tl::unexpected(prepared.error());

  std::unique_ptr<LoadedVariant> variant(new LoadedVariant(kernels, plan.zero_workspace, std::move(memory), workspace,
                                                           std::move(*module), std::move(*prepared)));
  if (auto ok = variant->reset(stream); !ok) return tl::unexpected(ok.error());
  return variant;
}

CudaResult<> LoadedVariant::launch(std::size_t copy, cudaStream_t stream) { return plan_.launch(copy, stream); }

CudaResult<> LoadedVariant::reset(cudaStream_t stream) {
  if (workspace_.bytes == 0) return {};
  auto ok = kernels_->fill_pattern({memory_.address(), memory_.bytes()}, kPoison, stream);
  if (!ok || zero_workspace_ == ZeroWorkspace::kNever) return ok;
  return check(
      cudaMemsetAsync(device_pointer(workspace_.address), 0, static_cast<std::size_t>(workspace_.bytes), stream),
      "zeroing the workspace");
}

std::vector<DeviceSpan> LoadedVariant::guards() const {
  if (workspace_.bytes == 0) return {};
  const std::uint64_t after = workspace_.address + static_cast<std::uint64_t>(workspace_.bytes);
  const std::uint64_t end = memory_.address() + static_cast<std::uint64_t>(memory_.bytes());
  return {{memory_.address(), kGuardBytes}, {after, static_cast<std::int64_t>(end - after)}};
}

}  // namespace pgtune::gpu
