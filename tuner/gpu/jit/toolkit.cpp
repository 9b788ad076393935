// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/toolkit.hpp"

#include <fmt/format.h>
#include <nvrtc.h>

#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "tuner/gpu/libraries/nvrtc_library.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> include_candidates(const fs::path& library) {
  const fs::path folder = library.parent_path();  // .../lib64, or a wheel's nvidia/cuda_nvrtc/lib
  std::vector<fs::path> candidates{folder / "../include", folder / "../../cuda_runtime/include"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      candidates.push_back(fs::path(value) / "include");
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

Result<Toolkit> find_toolkit() {
  const auto& library = load_nvrtc();
  if (!library) return tl::unexpected(library.error());
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  std::error_code error;
  std::uintmax_t library_bytes = fs::file_size(library->path, error);
  if (error) library_bytes = 0;

  Toolkit toolkit;
  toolkit.nvrtc_path = library->path;
  toolkit.nvrtc_place = library->place;
  toolkit.nvrtc_version = fmt::format("{}.{}", major, minor);
  toolkit.nvrtc_identity = fmt::format("{} ({} bytes)", toolkit.nvrtc_version, library_bytes);
  toolkit.include_folders = find_include_folders(library->path);
  return toolkit;
}

}  // namespace pgtune::gpu
