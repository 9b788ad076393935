// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/cubin_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "tuner/gpu/jit/atomic_file.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::gpu {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kSidecarSchema = 1;

constexpr std::string_view kRemedy =
    "choose a writable folder with enough space through XDG_CACHE_HOME (cubins go to $XDG_CACHE_HOME/pgtune)";

fs::path sidecar_path(fs::path cubin) { return cubin.replace_extension(".json"); }

/// mkdir -p, with every folder it creates private to the user.
Result<void> create_private_folders(const fs::path& folder) {
  fs::path so_far;
  for (const fs::path& part : folder) {
    so_far /= part;
    if (::mkdir(so_far.c_str(), S_IRWXU) == 0 || errno == EEXIST || errno == EISDIR) continue;
    // A parent that exists may forbid creation (EACCES, EROFS) and still lead to a folder we may use.
    const int code = errno;
    std::error_code ignored;
    if (fs::is_directory(so_far, ignored)) continue;
    return fail(ErrorKind::kEnvironment, fmt::format("cannot create the cubin cache '{}': {}; {}", so_far.string(),
                                                     std::generic_category().message(code), kRemedy));
  }
  if (::access(folder.c_str(), W_OK | X_OK) == 0 && fs::is_directory(folder)) return {};
  const int code = fs::is_directory(folder) ? errno : ENOTDIR;
  return fail(ErrorKind::kEnvironment, fmt::format("cannot write to the cubin cache '{}': {}; {}", folder.string(),
                                                   std::generic_category().message(code), kRemedy));
}

struct Entry {
  std::string key;
  std::size_t cubin_bytes = 0;
  BuildInfo build;
};

std::optional<Entry> parse_sidecar(const std::string& text) {
  try {
    const json sidecar = json::parse(text);
    if (sidecar.at("schema") != kSidecarSchema) return std::nullopt;
    return Entry{sidecar.at("key"), sidecar.at("cubin_bytes"), sidecar.at("build")};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string sidecar_text(const CubinKey& key, std::size_t cubin_bytes, const BuildInfo& build) {
  json fields = json::array();
  for (const auto& [name, value] : key.description()) fields.push_back({name, value});
  const json sidecar = {{"schema", kSidecarSchema},
                        {"key", build.key_hash},
                        {"fields", std::move(fields)},
                        {"cubin_bytes", cubin_bytes},
                        {"build", build}};
  return sidecar.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<CubinCache> CubinCache::open(const fs::path& folder) {
  std::error_code error;
  const fs::path root = fs::absolute(folder, error) / "cubin";
  if (error) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("cannot resolve the cache folder '{}': {}; {}", folder.string(), error.message(), kRemedy));
  }
  if (auto created = create_private_folders(root); !created) return tl::unexpected(created.error());
  return CubinCache(root);
}

std::optional<BuildInfo> CubinCache::find(const CubinKey& key) const {
  const std::string hash = key.hash();
  const fs::path path = cubin_path(hash);
  const std::optional<std::string> sidecar = read_file(sidecar_path(path));
  if (!sidecar) return std::nullopt;

  std::optional<Entry> entry = parse_sidecar(*sidecar);
  const std::optional<std::string> cubin = read_file(path);
  const bool intact = entry && cubin && entry->key == hash && entry->cubin_bytes == cubin->size() &&
                      entry->build.cubin_hash == content_hash(*cubin);
  if (!intact) {
    std::error_code ignored;
    fs::remove(sidecar_path(path), ignored);
    fs::remove(path, ignored);
    return std::nullopt;
  }
  entry->build.cubin_path = path.string();
  entry->build.cached = true;
  return entry->build;
}

Result<BuildInfo> CubinCache::store(const CubinKey& key, std::string_view cubin, BuildInfo build) const {
  build.key_hash = key.hash();
  build.cubin_hash = content_hash(cubin);
  build.cached = false;
  const fs::path path = cubin_path(build.key_hash);
  build.cubin_path = path.string();

  if (auto created = create_private_folders(path.parent_path()); !created) return tl::unexpected(created.error());
  Result<void> written = write_file_atomically(path, cubin);
  if (written) written = write_file_atomically(sidecar_path(path), sidecar_text(key, cubin.size(), build));
  if (written) return build;
  written.error().message += fmt::format("; {}", kRemedy);
  return fail(std::move(written.error()), "storing a cubin");
}

fs::path CubinCache::cubin_path(const std::string& key_hash) const {
  return folder_ / key_hash.substr(0, 2) / (key_hash + ".cubin");
}

}  // namespace pgtune::gpu
