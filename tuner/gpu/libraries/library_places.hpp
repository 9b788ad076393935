// SPDX-License-Identifier: MIT
// Where CUDA's libraries may be on this machine, in the order in which pgtune-worker looks: pure but for the folders it
// lists.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pgtune::gpu {

/// One step of the search, with the folders it means here, absolute ones; none where it does not apply.
struct LibraryPlace {
  std::string name;  ///< as `pgtune doctor` and docs/install.md call it: "CUDA_HOME"
  std::vector<std::filesystem::path> folders;
  bool loader = false;  ///< the dynamic loader's own look-up by name, which has no folders
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The places in the order of the search:
///   PGTUNE_CUDA_HOME        a toolkit, or a folder of libraries, that the user names for pgtune alone
///   wheels beside pgtune    NVIDIA's wheels (PyTorch's) in the Python environment that holds `executable`
///   CUDA_HOME, CUDA_PATH    a toolkit
///   LD_LIBRARY_PATH         its folders
///   build's toolkit         `built_with`: the folders that this program was built with
///   /usr/local/cuda
///   dynamic loader          ldconfig's folders: distribution packages
///   VIRTUAL_ENV, CONDA_PREFIX    the active Python environment, where pgtune is installed elsewhere
/// `executable`: pgtune-worker itself, absolute.
[[nodiscard]] std::vector<LibraryPlace> library_places(const Environment& environment,
                                                       const std::filesystem::path& executable,
                                                       const std::vector<std::filesystem::path>& built_with);

/// The places of this process.
[[nodiscard]] std::vector<LibraryPlace> library_places();

}  // namespace pgtune::gpu
