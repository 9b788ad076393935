// SPDX-License-Identifier: MIT
// The places of CUDA's libraries on this machine, and opening one from the first place that has a suitable file. No
// CUDA library is linked, so that the program starts without them and can report what is missing.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// One step of the search, with its absolute folders on this machine; none if it does not apply.
struct LibraryPlace {
  std::string name;  ///< as `pgtune doctor` and docs/how-to/install.md call it: "CUDA_HOME"
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

struct CudaLibrary {
  std::string title;  ///< for messages: "NVRTC"
  std::string stem;   ///< "libnvrtc": the file is libnvrtc.so.13
  /// Prefix of neighbouring files that the library opens by name and would not find: they are opened first.
  std::string companions;
  /// Why an opened library is unsuitable, such as its age; empty if it is suitable. May be null.
  std::function<std::string(void* handle)> objection;
};

struct OpenedLibrary {
  void* handle = nullptr;      ///< never closed: CUDA's libraries have state that must not outlive their code
  std::filesystem::path path;  ///< resolved
  std::string place;           ///< the name of the place
};

/// Tries the places in order and, in each, the major version of this program's build before the other one (12 or 13):
/// the functions that pgtune calls are the same in both. Errors (environment): no library is suitable; the message has
/// the cause for each place with a file, and the remedy.
[[nodiscard]] Result<OpenedLibrary> open_cuda_library(const CudaLibrary& library,
                                                      const std::vector<LibraryPlace>& places);

/// The file that a loaded library came from, resolved.
[[nodiscard]] std::filesystem::path library_file(void* handle);

/// The library's function of that name, with the type of the declared one; null where the library is not there or lacks
/// it.
template <auto kDeclared>
decltype(kDeclared) function_of(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<decltype(kDeclared)>(::dlsym(library, name));
}

/// Calls into the library that `kLoad` opens. Without it, a function returns `kMissing` if it returns such a status,
/// else a text that says so, or zero.
template <const Result<OpenedLibrary>& (*kLoad)(), auto kMissing>
struct LibraryCalls {
  /// Calls the library's function of the declared function's name and type. Looked up once, so that a call costs one
  /// load and one branch.
  template <auto kDeclared, typename... Arguments>
  static auto call(const char* name, Arguments... arguments) -> decltype(kDeclared(arguments...)) {
    using Value = decltype(kDeclared(arguments...));
    static const auto target = function_of<kDeclared>(kLoad() ? kLoad()->handle : nullptr, name);
    if (target != nullptr) return target(arguments...);
    if constexpr (std::is_same_v<Value, decltype(kMissing)>) return kMissing;
    if constexpr (std::is_same_v<Value, const char*>) return "the library is not loaded";
    return Value();
  }
};

}  // namespace pgtune::gpu
