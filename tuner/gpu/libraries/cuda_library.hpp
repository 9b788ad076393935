// SPDX-License-Identifier: MIT
// Opens one of CUDA's libraries from the first place that has one that will do. Nothing of CUDA is linked, so that the
// program starts wherever it is installed, and says itself what it lacks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/gpu/libraries/library_places.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

struct CudaLibrary {
  std::string title;  ///< for messages: "NVRTC"
  std::string stem;   ///< "libnvrtc": the file is libnvrtc.so.13
  /// Begin of the names of files beside it that the library opens by name and would not find: opened first.
  std::string companions;
  /// What is wrong with an opened one, such as its age; empty where it will do. May be null.
  std::function<std::string(void* handle)> objection;
};

struct OpenedLibrary {
  void* handle = nullptr;      ///< never closed: CUDA's libraries hold state that must not outlive their code
  std::filesystem::path path;  ///< resolved
  std::string place;           ///< the name of the place
};

/// Tries the places in order and, in each, the major version that this program was built with before the other one
/// (12 or 13): what pgtune calls is the same in both. Errors (environment): none; the message has the cause in each
/// place that had a file, and the remedy.
[[nodiscard]] Result<OpenedLibrary> open_cuda_library(const CudaLibrary& library,
                                                      const std::vector<LibraryPlace>& places);

}  // namespace pgtune::gpu
