// SPDX-License-Identifier: MIT
#include "tuner/gpu/libraries/nvrtc_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include "tuner/gpu/libraries/forwarding.hpp"

namespace pgtune::gpu {
namespace {

constexpr int kMinimumMajor = 12, kMinimumMinor = 8;

std::string objection(void* handle) {
  const auto version = reinterpret_cast<decltype(&nvrtcVersion)>(::dlsym(handle, "nvrtcVersion"));
  int major = 0, minor = 0;
  if (version == nullptr || version(&major, &minor) != NVRTC_SUCCESS) return "is no NVRTC";
  if (major > kMinimumMajor || (major == kMinimumMajor && minor >= kMinimumMinor)) return "";
  return fmt::format("is NVRTC {}.{}, older than {}.{}", major, minor, kMinimumMajor, kMinimumMinor);
}

void* handle() {
  const auto& library = load_nvrtc();
  return library ? library->handle : nullptr;
}

template <auto kDeclared, typename... Arguments>
nvrtcResult forward(const char* name, Arguments... arguments) {
  static const auto target = function_of<kDeclared>(handle(), name);
  return target == nullptr ? NVRTC_ERROR_INTERNAL_ERROR : target(arguments...);
}

}  // namespace

const Result<OpenedLibrary>& load_nvrtc() {
  static const Result<OpenedLibrary> loaded =
      open_cuda_library({"NVRTC", "libnvrtc", "libnvrtc-builtins.so.", objection}, library_places());
  return loaded;
}

}  // namespace pgtune::gpu

using pgtune::gpu::forward;

nvrtcResult nvrtcVersion(int* major, int* minor) { return forward<nvrtcVersion>("nvrtcVersion", major, minor); }

const char* nvrtcGetErrorString(nvrtcResult status) {
  static const auto target =
      pgtune::gpu::function_of<nvrtcGetErrorString>(pgtune::gpu::handle(), "nvrtcGetErrorString");
  return target == nullptr ? "NVRTC is not loaded" : target(status);
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int header_count,
                               const char* const* headers, const char* const* include_names) {
  return forward<nvrtcCreateProgram>("nvrtcCreateProgram", program, source, name, header_count, headers, include_names);
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  return forward<nvrtcDestroyProgram>("nvrtcDestroyProgram", program);
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char* const* options) {
  return forward<nvrtcCompileProgram>("nvrtcCompileProgram", program, option_count, options);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  return forward<nvrtcGetProgramLogSize>("nvrtcGetProgramLogSize", program, bytes);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return forward<nvrtcGetProgramLog>("nvrtcGetProgramLog", program, log);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  return forward<nvrtcGetCUBINSize>("nvrtcGetCUBINSize", program, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  return forward<nvrtcGetCUBIN>("nvrtcGetCUBIN", program, cubin);
}
