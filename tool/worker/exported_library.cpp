// SPDX-License-Identifier: MIT
#include "tool/worker/exported_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <vector>

namespace pgtune::worker {
namespace {

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

using Pointers = std::array<void*, kMaxBuffers>;

/// In the operation's order, as the consumer takes them.
Pointers pointers_of(const gpu::OperandSet& set) {
  Pointers out{};
  for (std::size_t i = 0; i < set.buffers.size(); ++i) out.at(i) = gpu::device_pointer(set.buffers[i].address);
  return out;
}

std::vector<float> scalars_of(const OperationProblem& operation) {
  std::vector<float> out;
  for (const NamedScalar& scalar : operation.scalars) out.push_back(static_cast<float>(scalar.value));
  return out;
}

}  // namespace

Result<std::unique_ptr<ExportedLibrary>> ExportedLibrary::open(const std::string& path) {
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return fail(ErrorKind::kEnvironment, fmt::format("cannot open {}: {}", path, dlerror()));
  std::unique_ptr<ExportedLibrary> out(new ExportedLibrary);
  if (look_up(opened, "pgtune_consumer_prepare", out->prepare_) &&
      look_up(opened, "pgtune_consumer_select", out->select_) && look_up(opened, "pgtune_consumer_run", out->run_) &&
      look_up(opened, "pgtune_consumer_text", out->text_) &&
      look_up(opened, "pgtune_consumer_last_cuda_error", out->last_cuda_error_))
    return out;
  return fail(ErrorKind::kEnvironment, path + " is not what pgtune compiles of an exported header");
}

std::string ExportedLibrary::text(int status) const {
  if (status == 0) return "";
  return fmt::format("{} (CUDA error {})", text_(status), last_cuda_error_());
}

std::string ExportedLibrary::prepare(int device) const { return text(prepare_(device)); }

std::string ExportedLibrary::select(int entry, int device, const gpu::OperandSet& operands,
                                    const OperationProblem& operation, std::int64_t& workspace_bytes) {
  Pointers pointers = pointers_of(operands);
  scalars_ = scalars_of(operation);
  std::size_t bytes = 0;
  const int status = select_(entry, device, pointers.data(), scalars_.data(), &bytes);
  workspace_bytes = static_cast<std::int64_t>(bytes);
  return status < 0 ? "another kernel was chosen than the entry's" : text(status);
}

std::string ExportedLibrary::run(const gpu::OperandSet& operands, const gpu::DeviceSpan& workspace,
                                 cudaStream_t stream) const {
  Pointers pointers = pointers_of(operands);
  return text(run_(pointers.data(), scalars_.data(), gpu::device_pointer(workspace.address),
                   static_cast<std::size_t>(workspace.bytes), stream));
}

gpu::CudaResult<> ExportedLaunch::launch(std::size_t copy, cudaStream_t stream) {
  const std::string wrong = library_->run((*copies_)[copy], workspace_, stream);
  if (wrong.empty()) return {};
  return tl::unexpected(gpu::CudaFailure{0, "", wrong, "an exported kernel", false});
}

}  // namespace pgtune::worker
