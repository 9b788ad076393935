// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/nvrtc_check.hpp"

#include <fmt/format.h>

#include "tuner/gpu/jit/nvrtc_program.hpp"

namespace pgtune::gpu {

Result<void> check_nvrtc() {
  auto program = NvrtcProgram::create({"check.cu", "extern \"C\" __global__ void check(int* x) { *x = 1; }\n", {}});
  if (!program) return tl::unexpected(program.error());
  const Compilation compiled = program->compile({"--gpu-architecture=sm_80"});
  if (compiled.status == NVRTC_SUCCESS) return {};
  // The log's first line says it; libnvrtc-builtins is what is missing when NVRTC was copied without its companions.
  return fail(
      ErrorKind::kEnvironment,
      fmt::format("NVRTC does not compile: {}; install all of the CUDA Toolkit's NVRTC (with libnvrtc-builtins)",
                  compiled.log.empty() ? nvrtcGetErrorString(compiled.status)
                                       : compiled.log.substr(0, compiled.log.find('\n'))));
}

}  // namespace pgtune::gpu
