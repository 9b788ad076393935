// SPDX-License-Identifier: MIT
// One NVRTC program from source text to cubin. Needs no GPU and no driver.
#pragma once

#include <nvrtc.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tuner/model/source.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// How one compilation went. `status` says whose fault a failure is; `log` is NVRTC's and ptxas' text.
struct Compilation {
  nvrtcResult status = NVRTC_SUCCESS;
  std::string log;
  std::string cubin;  ///< empty unless status is NVRTC_SUCCESS
  double time_s = 0;
};

class NvrtcProgram {
 public:
  /// Hands NVRTC the source and its headers, all from memory. Errors: (environment) there is no NVRTC; (internal)
  /// it refuses to create a program.
  [[nodiscard]] static Result<NvrtcProgram> create(const TemplateSource& source);

  /// Compiles to a cubin, without NVRTC's own cache; `options` must name a real architecture ("sm_90a"). Call once per
  /// program.
  [[nodiscard]] Compilation compile(const std::vector<std::string>& options);

 private:
  struct Destroy {
    void operator()(nvrtcProgram program) const noexcept { nvrtcDestroyProgram(&program); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, Destroy>;

  explicit NvrtcProgram(Handle program) : program_(std::move(program)) {}

  Handle program_;
};

}  // namespace pgtune::gpu
