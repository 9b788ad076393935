// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/toolkit.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <cstdint>
#include <cstdlib>
#include <system_error>

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

/// The file nvrtcVersion comes from; empty where the loader does not say.
fs::path nvrtc_library() {
  Dl_info info{};
  // Through dlsym: in a non-PIE program the function's own address may be a stub inside the program.
  void* function = ::dlsym(RTLD_DEFAULT, "nvrtcVersion");
  if (function == nullptr || ::dladdr(function, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  fs::path path = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : path;
}

std::vector<fs::path> include_candidates(const fs::path& library) {
  std::vector<fs::path> candidates;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      candidates.push_back(fs::path(value) / "include");
  }
  if (!library.empty()) {
    const fs::path folder = library.parent_path();  // .../lib64, or a wheel's nvidia/cuda_nvrtc/lib
    candidates.push_back(folder / "../include");
    candidates.push_back(folder / "../../cuda_runtime/include");
  }
  candidates.emplace_back(PGTUNE_CUDA_INCLUDE);
  return candidates;
}

std::vector<fs::path> find_include_folders(const fs::path& library) {
  for (const fs::path& candidate : include_candidates(library)) {
    std::error_code error;
    if (!fs::exists(candidate / "cuda_fp16.h", error)) continue;
    const fs::path folder = fs::canonical(candidate, error);
    if (error) continue;
    std::vector<fs::path> folders{folder};
    if (fs::is_directory(folder / "cccl", error)) folders.push_back(folder / "cccl");  // cuda/std since CUDA 13
    return folders;
  }
  return {};
}

}  // namespace

Toolkit find_toolkit() {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  const fs::path library = nvrtc_library();
  std::error_code error;
  std::uintmax_t library_bytes = fs::file_size(library, error);
  if (error) library_bytes = 0;

  Toolkit toolkit;
  toolkit.nvrtc_version = fmt::format("{}.{}", major, minor);
  toolkit.nvrtc_identity = fmt::format("{} ({} bytes)", toolkit.nvrtc_version, library_bytes);
  toolkit.include_folders = find_include_folders(library);
  return toolkit;
}

}  // namespace pgtune::gpu
