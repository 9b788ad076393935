// SPDX-License-Identifier: MIT
#include "tuner/gpu/libraries/cuda_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

/// The major versions whose libraries will do, the build's own first.
std::vector<int> majors() {
  std::vector<int> majors{13, 12};
  std::erase(majors, PGTUNE_CUDA_MAJOR);
  majors.insert(majors.begin(), PGTUNE_CUDA_MAJOR);
  return majors;
}

fs::path file_of(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code error;
  fs::path path = fs::canonical(map->l_name, error);
  return error ? fs::path(map->l_name) : path;
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
        problems_.push_back(fmt::format("{} {}", file_of(handle).string(), objection));
        ::dlclose(handle);
        return std::nullopt;
      }
    }
    const fs::path path = file_of(handle);
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
