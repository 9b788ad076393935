// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/own_kernels.hpp"

#include <fmt/format.h>

#include <utility>

#include "tuner/gpu/jit/nvrtc_program.hpp"

namespace pgtune::gpu {

Result<std::string> compile_own_kernels(std::string_view name, std::string_view source,
                                        const std::string& architecture) {
  auto program = NvrtcProgram::create({std::string(name), std::string(source), {}});
  if (!program) return tl::unexpected(program.error());
  Compilation compiled = program->compile({"--gpu-architecture=" + architecture, "--std=c++17", "--no-cache"});
  if (compiled.status == NVRTC_SUCCESS) return std::move(compiled.cubin);
  return fail(ErrorKind::kEnvironment,
              fmt::format("this NVRTC does not compile for {}: {} {}; a newer CUDA Toolkit may know this GPU",
                          architecture, nvrtcGetErrorString(compiled.status), compiled.log));
}

}  // namespace pgtune::gpu
