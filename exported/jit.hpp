// SPDX-License-Identifier: MIT
// Kernels compiled where they run: from their sources, by NVRTC, which is opened at run time, and kept in a folder of
// the caller's choice. kFiles and kJitImages are written before it.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exported/driver.hpp"

namespace pgtune_export {

/// Where prepare() finds what it compiles with.
struct Jit {
  /// What was compiled is kept here, for processes to come: a folder that is there, and nobody else's to write to.
  /// Null: nothing is kept.
  const char* cache_folder = nullptr;
  const char* nvrtc = nullptr;  ///< the library's path; null: libnvrtc.so.13 or .12, as the loader finds it
  /// Folder of CUDA's headers, for templates that include some (pgtune's own do not); null: /usr/local/cuda/include.
  const char* cuda_include = nullptr;
};

namespace detail {

/// NVRTC's entry points. Programs are opaque, results 0 where all went well.
struct Nvrtc {
  int (*version)(int*, int*) = nullptr;
  int (*create)(void**, const char* text, const char* name, int, const char* const*, const char* const*) = nullptr;
  int (*add_name)(void*, const char* expression) = nullptr;
  int (*compile)(void*, int, const char* const*) = nullptr;
  int (*cubin_bytes)(void*, std::size_t*) = nullptr;
  int (*cubin)(void*, char*) = nullptr;
  int (*log_bytes)(void*, std::size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int (*destroy)(void**) = nullptr;
};

/// Under the mutex of `state`, as all below.
struct JitState {
  Jit how;
  Nvrtc nvrtc;
  int major = 0, minor = 0;  ///< NVRTC's version; 0: it is not open
  int arch = 0;              ///< what this process compiles for: its first device's
  char log[4096] = {};
};
inline JitState jit;

/// FNV-1a: a file that was cut off or spoilt by accident is not loaded.
inline std::uint64_t checksum(const char* data, std::size_t size) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (std::size_t i = 0; i < size; ++i) sum = (sum ^ static_cast<unsigned char>(data[i])) * 0x100000001b3U;
  return sum;
}

struct Path {
  char text[4096] = {};
  bool whole = false;
};
inline Path cached_at(const JitImage& image, const char* suffix) noexcept {
  Path path;
  const int length = std::snprintf(path.text, sizeof path.text, "%s/%s-sm_%d-nvrtc%d.%d.cubin%s", jit.how.cache_folder,
                                   image.key, jit.arch, jit.major, jit.minor, suffix);
  path.whole = length > 0 && static_cast<std::size_t>(length) < sizeof path.text;
  return path;
}

inline bool read_cached(const JitImage& image, Bytes& cubin) noexcept {
  if (jit.how.cache_folder == nullptr) return false;
  const Path path = cached_at(image, "");
  std::FILE* const file = path.whole ? std::fopen(path.text, "rbe") : nullptr;
  if (file == nullptr) return false;
  struct stat facts = {};
  std::uint64_t sum = 0;
  bool whole = fstat(fileno(file), &facts) == 0 && S_ISREG(facts.st_mode) &&
               facts.st_size > static_cast<off_t>(sizeof sum) &&
               cubin.allocate(static_cast<std::size_t>(facts.st_size) - sizeof sum);
  whole = whole && std::fread(cubin.data, 1, cubin.size, file) == cubin.size &&
          std::fread(&sum, 1, sizeof sum, file) == sizeof sum && sum == checksum(cubin.data, cubin.size);
  std::fclose(file);
  return whole;
}

/// Written under another name and renamed: processes that start at a time read whole files. What cannot be kept is
/// compiled again next time.
inline void keep(const JitImage& image, const Bytes& cubin) noexcept {
  if (jit.how.cache_folder == nullptr) return;
  char suffix[32];
  std::snprintf(suffix, sizeof suffix, ".%ld", static_cast<long>(getpid()));
  const Path path = cached_at(image, ""), written = cached_at(image, suffix);
  std::FILE* const file = written.whole ? std::fopen(written.text, "wbe") : nullptr;
  if (file == nullptr) return;
  const std::uint64_t sum = checksum(cubin.data, cubin.size);
  const bool whole = std::fwrite(cubin.data, 1, cubin.size, file) == cubin.size &&
                     std::fwrite(&sum, 1, sizeof sum, file) == sizeof sum;
  if (std::fclose(file) != 0 || !whole || std::rename(written.text, path.text) != 0) std::remove(written.text);
}

/// NVRTC looks for its builtins by name alone, and the loader does not search the folder of a wheel. A library that is
/// loaded already is found by its name, so the one beside NVRTC is loaded first. Where there is none, NVRTC's own
/// search decides. `function`: one of NVRTC's.
inline void load_builtins(void* function) noexcept {
  Dl_info place = {};
  if (dladdr(function, &place) == 0) return;
  char* const file = realpath(place.dli_fname, nullptr);
  char* const end = file == nullptr ? nullptr : std::strrchr(file, '/');
  char path[4200];
  if (end != nullptr) {
    const int length = std::snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", static_cast<int>(end - file),
                                     file, jit.major, jit.minor);
    if (length > 0 && static_cast<std::size_t>(length) < sizeof path) dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  std::free(file);
}

inline bool open_nvrtc() noexcept {
  if (jit.major > 0) return true;
  void* library = nullptr;
  if (jit.how.nvrtc != nullptr) {
    library = dlopen(jit.how.nvrtc, RTLD_NOW | RTLD_LOCAL);
  } else {
    library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) library = dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    std::snprintf(jit.log, sizeof jit.log, "NVRTC cannot be opened: %s", dlerror());
    return false;
  }
  Nvrtc& n = jit.nvrtc;
  const bool complete =
      look_up(library, "nvrtcVersion", n.version) && look_up(library, "nvrtcCreateProgram", n.create) &&
      look_up(library, "nvrtcAddNameExpression", n.add_name) && look_up(library, "nvrtcCompileProgram", n.compile) &&
      look_up(library, "nvrtcGetCUBINSize", n.cubin_bytes) && look_up(library, "nvrtcGetCUBIN", n.cubin) &&
      look_up(library, "nvrtcGetProgramLogSize", n.log_bytes) && look_up(library, "nvrtcGetProgramLog", n.log) &&
      look_up(library, "nvrtcDestroyProgram", n.destroy);
  if (complete && n.version(&jit.major, &jit.minor) == 0 && jit.major >= 12) {
    load_builtins(reinterpret_cast<void*>(n.version));
    return true;
  }
  jit.major = 0;
  std::snprintf(jit.log, sizeof jit.log, "NVRTC is older than 12.0");
  return false;
}

inline void read_log(void* program) noexcept {
  std::size_t bytes = 0;
  Bytes text;
  if (jit.nvrtc.log_bytes(program, &bytes) != 0 || bytes == 0 || !text.allocate(bytes)) return;
  if (jit.nvrtc.log(program, text.data) == 0)
    std::snprintf(jit.log, sizeof jit.log, "%.*s", static_cast<int>(bytes < 4000 ? bytes : 4000), text.data);
}

inline bool compile(const JitImage& image, Bytes& cubin) noexcept {
  const char *names[kMaxHeaders + 1], *texts[kMaxHeaders + 1], *options[kMaxOptions + 7];
  for (int i = 0; i < image.header_count; ++i) {
    names[i] = kFiles[image.headers[i]].name;
    texts[i] = kFiles[image.headers[i]].text;
  }
  char architecture[32], include[4100], with_cccl[4106], name[1100];
  std::snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%s", jit.arch, jit.arch >= 90 ? "a" : "");
  std::snprintf(include, sizeof include, "-I%s",
                jit.how.cuda_include != nullptr ? jit.how.cuda_include : "/usr/local/cuda/include");
  std::snprintf(with_cccl, sizeof with_cccl, "%s/cccl", include);  // cuda/std since CUDA 13
  int count = 0;
  // As the worker's, so that kernels are the same byte for byte.
  const char* const own[] = {architecture, "-std=c++17", "-default-device", "--ptxas-options=-v", include, with_cccl};
  for (const char* option : own) options[count++] = option;
  // Its own cache, which came with 12.9, is a folder that the caller has not named.
  if (jit.major > 12 || (jit.major == 12 && jit.minor >= 9)) options[count++] = "--no-cache";
  for (int i = 0; i < image.option_count; ++i) options[count++] = image.options[i];
  const Nvrtc& n = jit.nvrtc;
  const JitFile& source = kFiles[image.source];
  // A folder that cannot be there: what is included does not depend on the working folder.
  std::snprintf(name, sizeof name, "/dev/null/%s", source.name);
  void* program = nullptr;
  if (n.create(&program, source.text, name, image.header_count, texts, names) != 0) return false;
  bool named = true;
  for (int i = 0; i < image.expression_count; ++i) named = named && n.add_name(program, image.expressions[i]) == 0;
  const bool compiled = named && n.compile(program, count, options) == 0;
  if (!compiled) read_log(program);
  std::size_t bytes = 0;
  const bool taken = compiled && n.cubin_bytes(program, &bytes) == 0 && bytes > 0 && cubin.allocate(bytes) &&
                     n.cubin(program, cubin.data) == 0;
  n.destroy(&program);
  return taken;
}

/// An image that cannot be compiled for the device is left out, and not_supported says so of the problems that need it.
inline Status load_image(const Driver& d, int number, const Device& device) noexcept {
  if (jit.arch != 0 && jit.arch != device.arch) return Status::wrong_device;
  jit.arch = device.arch;
  const JitImage& image = kJitImages[number];
  Bytes cubin;
  if (!open_nvrtc()) return Status::not_compiled;
  const bool cached = read_cached(image, cubin);
  if (!cached && !compile(image, cubin)) return Status::ok;
  CUlibrary library = nullptr;
  const CUresult code = d.library_load(&library, cubin.data, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code != CUDA_SUCCESS) return failed(code);
  state.libraries[number] = library;
  if (!cached) keep(image, cubin);
  return Status::ok;
}

}  // namespace detail

/// Gemm::prepare() with what it needs to compile. Compiling takes some tenths of a second a kernel, one after the
/// other; a process compiles for one architecture alone. not_compiled: jit_log() has NVRTC's words.
inline Status prepare(int device, const Jit& how) noexcept {
  if (device < 0 || device >= detail::kMaxDevices) return Status::invalid_argument;
  const std::lock_guard<std::mutex> lock(detail::state.mutex);
  detail::jit.how = how;
  const Status status = detail::prepare_device(device);
  detail::jit.how = {};
  return status;
}

/// What was said last of a kernel that could not be compiled; empty: nothing. Not while another thread prepares.
inline const char* jit_log() noexcept { return detail::jit.log; }

}  // namespace pgtune_export
