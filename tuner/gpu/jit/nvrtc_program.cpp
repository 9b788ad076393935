// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/nvrtc_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tuner/gpu/libraries/nvrtc_library.hpp"

namespace pgtune::gpu {
namespace {

bool has_own_cache() {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  return std::pair(major, minor) >= std::pair(12, 9);
}

}  // namespace

Result<NvrtcProgram> NvrtcProgram::create(const TemplateSource& source) {
  if (const auto& loaded = load_nvrtc(); !loaded) return tl::unexpected(loaded.error());
  std::vector<const char*> names, contents;
  for (const SourceFile& header : source.headers) {
    names.push_back(header.name.c_str());
    contents.push_back(header.contents.c_str());
  }
  nvrtcProgram program = nullptr;
  const nvrtcResult status = nvrtcCreateProgram(&program, source.contents.c_str(), source.name.c_str(),
                                                static_cast<int>(names.size()), contents.data(), names.data());
  if (status != NVRTC_SUCCESS) {
    return fail(ErrorKind::kInternal,
                fmt::format("NVRTC does not accept the source '{}': {}", source.name, nvrtcGetErrorString(status)));
  }
  return NvrtcProgram(Handle(program));
}

Compilation NvrtcProgram::compile(const std::vector<std::string>& options) {
  std::vector<const char*> raw;
  for (const std::string& option : options) raw.push_back(option.c_str());
  // A hit in its own cache, which came with 12.9, would drop the resource report from the log.
  if (has_own_cache()) raw.push_back("--no-cache");

  Compilation result;
  const auto start = std::chrono::steady_clock::now();
  result.status = nvrtcCompileProgram(program_.get(), static_cast<int>(raw.size()), raw.data());
  result.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  // Sizes include the terminating zero, which the log keeps and a string does not need.
  std::size_t log_bytes = 0;
  if (nvrtcGetProgramLogSize(program_.get(), &log_bytes) == NVRTC_SUCCESS && log_bytes > 1) {
    result.log.resize(log_bytes);
    nvrtcGetProgramLog(program_.get(), result.log.data());
    result.log.resize(log_bytes - 1);
    // ptxas' errors stand behind a zero byte of their own, where a C string would end.
    std::replace(result.log.begin(), result.log.end(), '\0', '\n');
  }
  if (result.status != NVRTC_SUCCESS) return result;

  std::size_t cubin_bytes = 0;
  result.status = nvrtcGetCUBINSize(program_.get(), &cubin_bytes);
  if (result.status != NVRTC_SUCCESS) return result;
  result.cubin.resize(cubin_bytes);
  result.status = nvrtcGetCUBIN(program_.get(), result.cubin.data());
  return result;
}

}  // namespace pgtune::gpu
