// SPDX-License-Identifier: MIT
// Which NVRTC is loaded and where the CUDA headers that belong to it are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::gpu {

struct Toolkit {
  std::filesystem::path nvrtc_path;  ///< the library, resolved
  std::string nvrtc_place;           ///< where it was found: a place of libraries/library_places.hpp
  std::string nvrtc_version;         ///< "13.0"
  /// Version and size of the loaded library. nvrtcVersion() has no patch number, and patch releases generate different
  /// code; their files differ in size, which costs one stat where hashing 100 MB would cost every worker's start.
  std::string nvrtc_identity;
  /// Folders for #include <cuda_fp16.h> and the like; empty where none was found, which only matters to templates that
  /// include toolkit headers.
  std::vector<std::filesystem::path> include_folders;
};

/// Loads NVRTC (libraries/library_places.hpp has the order of the search) and looks for headers in the folders beside
/// it (an installed toolkit's or a Python wheel's layout), CUDA_HOME, CUDA_PATH and the toolkit this program was built
/// with, in this order. Errors (environment): no NVRTC.
[[nodiscard]] Result<Toolkit> find_toolkit();

}  // namespace pgtune::gpu
