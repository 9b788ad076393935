// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/own_kernels.hpp"

#include <fmt/format.h>

#include <utility>

#include "tuner/gpu/jit/nvrtc_program.hpp"

namespace pgtune::gpu {

Result<std::string> compile_own_kernels(std::span<const embedded::File> files, const std::string& architecture) {
  TemplateSource source{std::string(files.front().path), std::string(files.front().contents), {}};
  for (const embedded::File& header : files.subspan(1))
    source.headers.push_back({std::string(header.path), std::string(header.contents)});
  auto program = NvrtcProgram::create(source);
  if (!program) return tl::unexpected(program.error());
  // Functions are the device's without saying so, as for variants: lambdas of templates' headers take it for granted.
  Compilation compiled = program->compile({"--gpu-architecture=" + architecture, "--std=c++17", "-default-device"});
  if (compiled.status == NVRTC_SUCCESS) return std::move(compiled.cubin);
  return fail(ErrorKind::kEnvironment,
              fmt::format("this NVRTC does not compile for {}: {} {}; a newer CUDA Toolkit may know this GPU",
                          architecture, nvrtcGetErrorString(compiled.status), compiled.log));
}

}  // namespace pgtune::gpu
