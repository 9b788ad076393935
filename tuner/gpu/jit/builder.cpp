// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/gpu/jit/compile_options.hpp"
#include "tuner/gpu/jit/compiler_log.hpp"
#include "tuner/gpu/jit/nvrtc_program.hpp"

namespace pgtune::gpu {
namespace {

BuildInfo summarize(const std::vector<KernelResources>& kernels) {
  BuildInfo build;
  for (const KernelResources& kernel : kernels) {
    build.registers = std::max(build.registers, kernel.registers);
    build.static_smem_bytes = std::max(build.static_smem_bytes, kernel.static_smem_bytes);
    build.local_bytes = std::max(build.local_bytes, kernel.stack_bytes);
    build.spill_bytes = std::max(build.spill_bytes, kernel.spill_bytes);
  }
  return build;
}

/// What every variant would meet alike, so that it must not be booked on this one.
std::optional<Error> installation_error(const Compilation& compilation, const Toolkit& toolkit,
                                        const std::string& architecture) {
  const std::string detail = find_first_error(compilation.log).value_or(nvrtcGetErrorString(compilation.status));
  if (compilation.status == NVRTC_ERROR_INVALID_OPTION) {
    return Error{
        ErrorKind::kEnvironment,
        fmt::format("NVRTC {} refuses its options for architecture '{}' ({}); a GPU newer than the toolkit needs a "
                    "newer CUDA Toolkit",
                    toolkit.nvrtc_version, architecture, detail),
        {}};
  }
  if (compilation.status == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
    return Error{
        ErrorKind::kEnvironment,
        fmt::format("NVRTC {} cannot load its built-in library ({}); libnvrtc-builtins.so of the same version must "
                    "lie beside libnvrtc.so",
                    toolkit.nvrtc_version, detail),
        {}};
  }
  return std::nullopt;
}

std::string failure_reason(const Compilation& compilation, const std::vector<Define>& defines) {
  if (std::optional<std::string> error = find_first_error(compilation.log)) {
    // Macros reach NVRTC's own headers too, so a parameter named like one of their identifiers breaks those.
    if (error->find("__nv_nvrtc_builtin_header.h") != std::string::npos)
      return *error + " (a parameter or define has the name of an identifier in CUDA's headers: rename it)";
    return explain_undefined_label(*error, defines).value_or(*error);
  }
  return fmt::format("NVRTC failed without an error line in its log: {}", nvrtcGetErrorString(compilation.status));
}

protocol::BuildDone compile_failed(protocol::RequestId id, std::string reason) {
  return {.id = id, .outcome = {OutcomeKind::kCompileFailed, std::move(reason)}, .build = {}};
}

}  // namespace

Builder::Builder(CubinCache cache, Toolkit toolkit) : cache_(std::move(cache)), toolkit_(std::move(toolkit)) {}

Result<protocol::BuildDone> Builder::build(const protocol::BuildRequest& request) const {
  const Result<std::vector<std::string>> options = compile_options(request, toolkit_);
  if (!options) return tl::unexpected(options.error());
  const CubinKey build_key = key(request, *options);
  if (std::optional<BuildInfo> stored = cache_.find(build_key))
    return protocol::BuildDone{.id = request.id, .outcome = {}, .build = std::move(*stored)};

  Result<NvrtcProgram> program = NvrtcProgram::create(*request.source);
  if (!program) return fail(std::move(program.error()), "compiling " + request.variant.key());
  const Compilation compilation = program->compile(*options);
  if (std::optional<Error> error = installation_error(compilation, toolkit_, request.architecture))
    return tl::unexpected(std::move(*error));
  if (compilation.status != NVRTC_SUCCESS)
    return compile_failed(request.id, failure_reason(compilation, request.defines));
  if (std::optional<std::string> hazard = find_hazard(compilation.log))
    return compile_failed(request.id, std::move(*hazard));

  BuildInfo build = summarize(parse_resources(compilation.log));
  build.compile_s = compilation.time_s;
  Result<BuildInfo> stored = cache_.store(build_key, compilation.cubin, std::move(build));
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return protocol::BuildDone{.id = request.id, .outcome = {}, .build = std::move(*stored)};
}

CubinKey Builder::key(const protocol::BuildRequest& request, const std::vector<std::string>& options) const {
  CubinKey out;
  out.add_text("nvrtc", toolkit_.nvrtc_identity);
  out.add_text("architecture", request.architecture);
  for (const std::string& option : options) out.add_text("option", option);
  out.add_contents(request.source->name, request.source->contents);
  for (const SourceFile& header : request.source->headers) out.add_contents(header.name, header.contents);
  return out;
}

}  // namespace pgtune::gpu
