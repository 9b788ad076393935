// SPDX-License-Identifier: MIT
// Which NVRTC is loaded and where the CUDA headers that belong to it are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pgtune::gpu {

struct Toolkit {
  std::string nvrtc_version;  ///< "13.0"
  /// Version and size of the loaded library. nvrtcVersion() has no patch number, and patch releases generate different
  /// code; their files differ in size, which costs one stat where hashing 100 MB would cost every worker's start.
  std::string nvrtc_identity;
  /// Folders for #include <cuda_fp16.h> and the like; empty where none was found, which only matters to templates that
  /// include toolkit headers.
  std::vector<std::filesystem::path> include_folders;
};

/// Looks at the loaded NVRTC and, for the headers, at CUDA_HOME, CUDA_PATH, the folders beside the library (an
/// installed toolkit's or a Python wheel's layout) and the toolkit this program was built with, in this order.
[[nodiscard]] Toolkit find_toolkit();

}  // namespace pgtune::gpu
