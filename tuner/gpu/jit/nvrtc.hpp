// SPDX-License-Identifier: MIT
// NVRTC, loaded on first use: its version, its CUDA headers, and compilation. Needs no GPU and no driver. The .cpp
// defines the nvrtc... functions that pgtune uses and forwards them to the library; calling one that it lacks is a link
// error.
#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cmake/embedded_file.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/source.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// Loads the library; call it before any nvrtc... function (those return NVRTC_ERROR_INTERNAL_ERROR without it). Errors
/// (environment) name the cause and the remedy. Safe to call again.
[[nodiscard]] const Result<OpenedLibrary>& load_nvrtc();

/// The loaded NVRTC and the folders of its CUDA headers.
struct Toolkit {
  std::filesystem::path nvrtc_path;  ///< the library, resolved
  std::string nvrtc_place;           ///< the place of libraries/cuda_library.hpp where it was found
  std::string nvrtc_version;         ///< "13.0"
  /// Version and size of the loaded library. nvrtcVersion() has no patch number, and patch releases generate different
  /// code; their files differ in size, which costs one stat where hashing 100 MB would cost every worker's start.
  std::string nvrtc_identity;
  /// Folders for toolkit headers such as <cuda_fp16.h>; empty if none was found, which only affects templates that
  /// include them.
  std::vector<std::filesystem::path> include_folders;
};

/// Loads NVRTC (libraries/cuda_library.hpp has the order of the search). Looks for headers in the neighbouring folders
/// (an installed toolkit's or a Python wheel's layout), CUDA_HOME, CUDA_PATH and the toolkit of the build, in this
/// order. Errors (environment): no NVRTC.
[[nodiscard]] Result<Toolkit> find_toolkit();

/// The result of one compilation. `status` tells the cause of a failure; `log` is NVRTC's and ptxas's text.
struct Compilation {
  nvrtcResult status = NVRTC_SUCCESS;
  std::string log;
  std::string cubin;                 ///< empty unless status is NVRTC_SUCCESS
  std::vector<LoweredName> lowered;  ///< of the program's name expressions
  double time_s = 0;
};

/// One program from source text to cubin.
class NvrtcProgram {
 public:
  /// Hands NVRTC the source and its headers, all from memory. `expressions` name kernels in C++, such as
  /// "scale<BM, float>": they are instantiated. Errors: (environment) there is no NVRTC; (internal) it refuses to
  /// create a program.
  [[nodiscard]] static Result<NvrtcProgram> create(const TemplateSource& source,
                                                   std::vector<std::string> expressions = {});

  /// Compiles to a cubin, without NVRTC's own cache; `options` must name a real architecture ("sm_90a"). Call once per
  /// program.
  [[nodiscard]] Compilation compile(const std::vector<std::string>& options);

 private:
  struct Destroy {
    void operator()(nvrtcProgram program) const noexcept { nvrtcDestroyProgram(&program); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, Destroy>;

  NvrtcProgram(Handle program, std::vector<std::string> expressions)
      : program_(std::move(program)), expressions_(std::move(expressions)) {}

  Handle program_;
  std::vector<std::string> expressions_;
};

/// Checks that NVRTC works: it may report its version although a part that it opens later is missing. Compiles a kernel
/// of one line. Errors (environment): NVRTC's message, and the remedy.
[[nodiscard]] Result<void> check_nvrtc();

/// Compiles the worker's own kernels, which are linked into it as text. Returns the cubin of the first of `files` for
/// an NVRTC target such as "sm_90a"; the others are its includes, by path. Errors (environment): this NVRTC does not
/// know the architecture.
[[nodiscard]] Result<std::string> compile_own_kernels(std::span<const embedded::File> files,
                                                      const std::string& architecture);

}  // namespace pgtune::gpu
