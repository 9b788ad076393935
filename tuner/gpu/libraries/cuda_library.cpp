// SPDX-License-Identifier: MIT
#include "tuner/gpu/libraries/cuda_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> split(const std::string& list) {
  std::vector<fs::path> folders;
  std::istringstream entries(list);
  for (std::string folder; std::getline(entries, folder, ':');) {
    // A relative folder would let the owner of the current folder choose the library.
    if (fs::path(folder).is_absolute()) folders.emplace_back(folder);
  }
  return folders;
}

std::vector<fs::path> toolkit_folders(const fs::path& root) {
  if (!root.is_absolute()) return {};
  return {root / "lib64", root / "lib", root / "targets/x86_64-linux/lib", root / "targets/sbsa-linux/lib",
          root / "extras/CUPTI/lib64"};
}

/// The folders below `parent` whose names begin with `prefix`, in an order that does not depend on the file system.
std::vector<fs::path> subfolders(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// NVIDIA's wheels in the Python environment below `prefix`: nvidia/cu13/lib since CUDA 13, nvidia/cublas/lib and
/// nvidia/cuda_nvrtc/lib before.
std::vector<fs::path> wheel_folders(const fs::path& prefix) {
  std::vector<fs::path> folders;
  for (const char* library : {"lib", "lib64"}) {
    for (const fs::path& python : subfolders(prefix / library, "python3")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const fs::path& wheel : subfolders(python / packages / "nvidia", "")) {
          std::error_code ignored;
          if (fs::is_directory(wheel / "lib", ignored)) folders.push_back(wheel / "lib");
        }
      }
    }
  }
  return folders;
}

/// The wheels of the Python environment that `executable` is part of: PREFIX/bin or PREFIX/libexec/pgtune holds it.
std::vector<fs::path> wheels_beside(const fs::path& executable) {
  fs::path prefix = executable.parent_path();
  constexpr int kDepth = 2;
  for (int depth = 0; depth < kDepth && prefix.has_relative_path(); ++depth) {
    prefix = prefix.parent_path();
    if (auto folders = wheel_folders(prefix); !folders.empty()) return folders;
  }
  return {};
}

void append(std::vector<fs::path>& folders, const std::vector<fs::path>& more) {
  folders.insert(folders.end(), more.begin(), more.end());
}

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

namespace fs = std::filesystem;

/// The supported major versions of libraries, the build's own first.
std::vector<int> majors() {
  std::vector<int> majors{13, 12};
  std::erase(majors, PGTUNE_CUDA_MAJOR);
  majors.insert(majors.begin(), PGTUNE_CUDA_MAJOR);
  return majors;
}

/// A library that is loaded already answers to its name wherever it lies.
void open_companions(const fs::path& folder, const std::string& prefix) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix))
      static_cast<void>(::dlopen(entry->path().c_str(), RTLD_NOW | RTLD_LOCAL));
  }
}

class Search {
 public:
  explicit Search(const CudaLibrary& library) : library_(library) {}

  /// `file`: a path, or for the dynamic loader a bare name.
  std::optional<OpenedLibrary> open(const std::string& file, const std::string& place) {
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      problems_.push_back(::dlerror());
      return std::nullopt;
    }
    if (library_.objection) {
      if (std::string objection = library_.objection(handle); !objection.empty()) {
        problems_.push_back(fmt::format("{} {}", library_file(handle).string(), objection));
        ::dlclose(handle);
        return std::nullopt;
      }
    }
    const fs::path path = library_file(handle);
    if (!library_.companions.empty()) open_companions(path.parent_path(), library_.companions);
    return OpenedLibrary{handle, path, place};
  }

  std::optional<OpenedLibrary> look_in(const LibraryPlace& place) {
    for (const int major : majors()) {
      const std::string name = fmt::format("{}.so.{}", library_.stem, major);
      if (place.loader) {
        if (auto opened = open(name, place.name)) return opened;
      }
      for (const fs::path& folder : place.folders) {
        std::error_code ignored;
        if (!fs::exists(folder / name, ignored)) continue;
        if (auto opened = open((folder / name).string(), place.name)) return opened;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  const CudaLibrary& library_;
  std::vector<std::string> problems_;
};

}  // namespace

fs::path library_file(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code error;
  fs::path path = fs::canonical(map->l_name, error);
  return error ? fs::path(map->l_name) : path;
}

std::vector<LibraryPlace> library_places(const Environment& environment, const fs::path& executable,
                                         const std::vector<fs::path>& built_with) {
  const auto root = [&](const char* name) { return fs::path(environment(name).value_or("")); };
  std::vector<LibraryPlace> places;

  LibraryPlace chosen{"PGTUNE_CUDA_HOME", toolkit_folders(root("PGTUNE_CUDA_HOME"))};
  if (!chosen.folders.empty()) chosen.folders.push_back(root("PGTUNE_CUDA_HOME"));
  places.push_back(std::move(chosen));
  places.push_back({"wheels beside pgtune", wheels_beside(executable)});
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) places.push_back({variable, toolkit_folders(root(variable))});
  places.push_back({"LD_LIBRARY_PATH", split(environment("LD_LIBRARY_PATH").value_or(""))});
  places.push_back({"build's toolkit", built_with});
  places.push_back({"/usr/local/cuda", toolkit_folders("/usr/local/cuda")});
  places.push_back({"dynamic loader", {}, true});
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    LibraryPlace active{variable, {}};
    if (root(variable).is_absolute()) {
      append(active.folders, wheel_folders(root(variable)));
      append(active.folders, toolkit_folders(root(variable)));
    }
    places.push_back(std::move(active));
  }
  return places;
}

std::vector<LibraryPlace> library_places() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  return library_places(process_environment, executable, split(PGTUNE_CUDA_LIBRARY_FOLDERS));
}

Result<OpenedLibrary> open_cuda_library(const CudaLibrary& library, const std::vector<LibraryPlace>& places) {
  Search search(library);
  for (const LibraryPlace& place : places) {
    if (auto opened = search.look_in(place)) return std::move(*opened);
  }
  return fail(ErrorKind::kEnvironment,
              fmt::format("cannot load {}: {}; install it with a CUDA Toolkit 12.8 or newer or as NVIDIA's wheel, or "
                          "name its folder in PGTUNE_CUDA_HOME",
                          library.title, fmt::join(search.problems(), ", ")));
}

}  // namespace pgtune::gpu
