// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/nvrtc.hpp"

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {
namespace {

constexpr int kMinimumMajor = 12, kMinimumMinor = 8;

std::string objection(void* handle) {
  const auto version = function_of<nvrtcVersion>(handle, "nvrtcVersion");
  int major = 0, minor = 0;
  if (version == nullptr || version(&major, &minor) != NVRTC_SUCCESS) return "is no NVRTC";
  if (major > kMinimumMajor || (major == kMinimumMajor && minor >= kMinimumMinor)) return "";
  return fmt::format("is NVRTC {}.{}, older than {}.{}", major, minor, kMinimumMajor, kMinimumMinor);
}

using Nvrtc = LibraryCalls<load_nvrtc, NVRTC_ERROR_INTERNAL_ERROR>;

namespace fs = std::filesystem;

std::vector<fs::path> include_candidates(const fs::path& library) {
  const fs::path folder = library.parent_path();  // .../lib64, or a wheel's nvidia/cuda_nvrtc/lib
  std::vector<fs::path> candidates{folder / "../include", folder / "../../cuda_runtime/include"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      candidates.push_back(fs::path(value) / "include");
  }
  candidates.emplace_back(PGTUNE_CUDA_INCLUDE);
  return candidates;
}

std::vector<fs::path> find_include_folders(const fs::path& library) {
  for (const fs::path& candidate : include_candidates(library)) {
    std::error_code error;
    if (!fs::exists(candidate / "cuda_fp16.h", error)) continue;
    const fs::path folder = fs::canonical(candidate, error);
    if (error) continue;
    std::vector<fs::path> folders{folder};
    if (fs::is_directory(folder / "cccl", error)) folders.push_back(folder / "cccl");  // cuda/std since CUDA 13
    return folders;
  }
  return {};
}

/// Where sources claim to lie. There can be no such folder, so nothing of the machine's is included as if it lay beside
/// them, such as a file of the working folder; the toolkit's headers still find what lies beside them.
constexpr std::string_view kNowhere = "/dev/null/";

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

bool has_own_cache() {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  return std::pair(major, minor) >= std::pair(12, 9);
}

}  // namespace

const Result<OpenedLibrary>& load_nvrtc() {
  static const Result<OpenedLibrary> loaded =
      open_cuda_library({"NVRTC", "libnvrtc", "libnvrtc-builtins.so.", objection}, library_places());
  return loaded;
}

Result<Toolkit> find_toolkit() {
  const auto& library = load_nvrtc();
  if (!library) return tl::unexpected(library.error());
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  std::error_code error;
  std::uintmax_t library_bytes = fs::file_size(library->path, error);
  if (error) library_bytes = 0;

  Toolkit toolkit;
  toolkit.nvrtc_path = library->path;
  toolkit.nvrtc_place = library->place;
  toolkit.nvrtc_version = fmt::format("{}.{}", major, minor);
  toolkit.nvrtc_identity = fmt::format("{} ({} bytes)", toolkit.nvrtc_version, library_bytes);
  toolkit.include_folders = find_include_folders(library->path);
  return toolkit;
}

Result<NvrtcProgram> NvrtcProgram::create(const TemplateSource& source, std::vector<std::string> expressions) {
  TRY(load_nvrtc());
  std::vector<const char*> names, contents;
  for (const SourceFile& header : source.headers) {
    names.push_back(header.name.c_str());
    contents.push_back(header.contents.c_str());
  }
  nvrtcProgram program = nullptr;
  const std::string name = std::string(kNowhere) + source.name;
  const nvrtcResult status = nvrtcCreateProgram(&program, source.contents.c_str(), name.c_str(),
                                                static_cast<int>(names.size()), contents.data(), names.data());
  if (status != NVRTC_SUCCESS) {
    return fail(ErrorKind::kInternal,
                fmt::format("NVRTC does not accept the source '{}': {}", source.name, nvrtcGetErrorString(status)));
  }
  NvrtcProgram out(Handle(program), std::move(expressions));
  for (const std::string& expression : out.expressions_) {
    if (const nvrtcResult added = nvrtcAddNameExpression(program, expression.c_str()); added != NVRTC_SUCCESS)
      return fail(ErrorKind::kInternal,
                  fmt::format("NVRTC does not take the kernel '{}': {}", expression, nvrtcGetErrorString(added)));
  }
  return out;
}

Compilation NvrtcProgram::compile(const std::vector<std::string>& options) {
  std::vector<const char*> raw;
  for (const std::string& option : options) raw.push_back(option.c_str());
  // A hit in NVRTC's own cache, which exists since 12.9, would drop the resource report from the log.
  if (has_own_cache()) raw.push_back("--no-cache");

  Compilation result;
  const auto start = std::chrono::steady_clock::now();
  result.status = nvrtcCompileProgram(program_.get(), static_cast<int>(raw.size()), raw.data());
  result.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  // Sizes include the terminating zero, which the log keeps and a string does not need.
  std::size_t log_bytes = 0;
  if (nvrtcGetProgramLogSize(program_.get(), &log_bytes) == NVRTC_SUCCESS && log_bytes > 1) {
    result.log.resize(log_bytes);
    nvrtcGetProgramLog(program_.get(), result.log.data());
    result.log.resize(log_bytes - 1);
    // ptxas's errors come after another zero byte, where a C string would end.
    std::replace(result.log.begin(), result.log.end(), '\0', '\n');
    erase_all(result.log, kNowhere);
  }
  if (result.status != NVRTC_SUCCESS) return result;

  std::size_t cubin_bytes = 0;
  result.status = nvrtcGetCUBINSize(program_.get(), &cubin_bytes);
  if (result.status != NVRTC_SUCCESS) return result;
  result.cubin.resize(cubin_bytes);
  result.status = nvrtcGetCUBIN(program_.get(), result.cubin.data());
  for (const std::string& expression : expressions_) {
    const char* symbol = nullptr;
    if (nvrtcGetLoweredName(program_.get(), expression.c_str(), &symbol) == NVRTC_SUCCESS && symbol != nullptr)
      result.lowered.push_back({expression, symbol});
  }
  return result;
}

Result<void> check_nvrtc() {
  auto program = NvrtcProgram::create({"check.cu", "extern \"C\" __global__ void check(int* x) { *x = 1; }\n", {}});
  if (!program) return tl::unexpected(program.error());
  const Compilation compiled = program->compile({"--gpu-architecture=sm_80"});
  if (compiled.status == NVRTC_SUCCESS) return {};
  // The log's first line names the cause; libnvrtc-builtins is missing if NVRTC was copied without its companions.
  return fail(
      ErrorKind::kEnvironment,
      fmt::format("NVRTC does not compile: {}; install all of the CUDA Toolkit's NVRTC (with libnvrtc-builtins)",
                  compiled.log.empty() ? nvrtcGetErrorString(compiled.status)
                                       : compiled.log.substr(0, compiled.log.find('\n'))));
}

Result<std::string> compile_own_kernels(std::span<const embedded::File> files, const std::string& architecture) {
  TemplateSource source{std::string(files.front().path), std::string(files.front().contents), {}};
  for (const embedded::File& header : files.subspan(1))
    source.headers.push_back({std::string(header.path), std::string(header.contents)});
  TRY_ASSIGN(auto program, NvrtcProgram::create(source));
  // Functions without a qualifier are device functions, as for variants: lambdas of templates' headers rely on it.
  Compilation compiled = program.compile({"--gpu-architecture=" + architecture, "--std=c++17", "-default-device"});
  if (compiled.status == NVRTC_SUCCESS) return std::move(compiled.cubin);
  return fail(ErrorKind::kEnvironment,
              fmt::format("this NVRTC does not compile for {}: {} {}; a newer CUDA Toolkit may know this GPU",
                          architecture, nvrtcGetErrorString(compiled.status), compiled.log));
}

}  // namespace pgtune::gpu

using pgtune::gpu::Nvrtc;

nvrtcResult nvrtcVersion(int* major, int* minor) { return Nvrtc::call<nvrtcVersion>("nvrtcVersion", major, minor); }

const char* nvrtcGetErrorString(nvrtcResult status) {
  return Nvrtc::call<nvrtcGetErrorString>("nvrtcGetErrorString", status);
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int header_count,
                               const char* const* headers, const char* const* include_names) {
  return Nvrtc::call<nvrtcCreateProgram>("nvrtcCreateProgram", program, source, name, header_count, headers,
                                         include_names);
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  return Nvrtc::call<nvrtcDestroyProgram>("nvrtcDestroyProgram", program);
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char* const* options) {
  return Nvrtc::call<nvrtcCompileProgram>("nvrtcCompileProgram", program, option_count, options);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  return Nvrtc::call<nvrtcGetProgramLogSize>("nvrtcGetProgramLogSize", program, bytes);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return Nvrtc::call<nvrtcGetProgramLog>("nvrtcGetProgramLog", program, log);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  return Nvrtc::call<nvrtcGetCUBINSize>("nvrtcGetCUBINSize", program, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  return Nvrtc::call<nvrtcGetCUBIN>("nvrtcGetCUBIN", program, cubin);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  return Nvrtc::call<nvrtcAddNameExpression>("nvrtcAddNameExpression", program, expression);
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** symbol) {
  return Nvrtc::call<nvrtcGetLoweredName>("nvrtcGetLoweredName", program, expression, symbol);
}
