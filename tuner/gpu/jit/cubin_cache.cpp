// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/cubin_cache.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "tuner/model/json.hpp"
#include "tuner/util/hash_text.hpp"
#include "tuner/util/json_depth.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

// Bumped when the meaning of a field or of a stored BuildInfo changes: older entries are then never found.
constexpr std::string_view kKeyVersion = "1";

constexpr char kTextField = 't';
constexpr char kContentsField = 'c';

void append_length(std::string& out, std::size_t length) {
  auto rest = static_cast<std::uint64_t>(length);
  for (int byte = 0; byte < 8; ++byte, rest >>= 8U) out += static_cast<char>(rest & 0xffU);
}

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kSidecarSchema = 1;
/// Far larger than any cubin of a GEMM, and small enough to be harmless: an inflated file is not read.
constexpr std::size_t kMaxCubinBytes = std::size_t{256} << 20, kMaxSidecarBytes = std::size_t{16} << 20;

constexpr std::string_view kRemedy = "choose a writable folder with enough space by PGTUNE_CACHE_DIR";

fs::path sidecar_path(fs::path cubin) { return cubin.replace_extension(".json"); }

tl::unexpected<Error> with_remedy(Error error) {
  error.message += fmt::format("; {}", kRemedy);
  return tl::unexpected(std::move(error));
}

struct Entry {
  std::string key;
  std::size_t cubin_bytes = 0;
  BuildInfo build;
};

std::optional<Entry> parse_sidecar(const std::string& text) {
  if (json_too_deep(text)) return std::nullopt;
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

CubinKey::CubinKey() { add_text("key_version", kKeyVersion); }

void CubinKey::add_text(std::string_view name, std::string_view value) {
  append(kTextField, name, value);
  description_.emplace_back(name, value);
}

void CubinKey::add_contents(std::string_view name, std::string_view contents) {
  append(kContentsField, name, contents);
  description_.emplace_back(name, fmt::format("{} bytes, xxh3 {}", contents.size(), hash_text(contents)));
}

std::string CubinKey::hash() const { return hash_text(encoded_); }

void CubinKey::append(char type, std::string_view name, std::string_view value) {
  encoded_ += type;
  append_length(encoded_, name.size());
  encoded_ += name;
  append_length(encoded_, value.size());
  encoded_ += value;
}

Result<CubinCache> CubinCache::open(const fs::path& folder) {
  std::error_code error;
  const fs::path root = fs::absolute(folder, error) / "cubin";
  if (error) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("cannot resolve the cache folder '{}': {}; {}", folder.string(), error.message(), kRemedy));
  }
  // pgtune's own folder first: a link there would redirect everything below it.
  for (const fs::path& own : {root.parent_path(), root}) {
    if (auto made = make_private_folder(own); !made) return with_remedy(std::move(made.error()));
  }
  return CubinCache(root);
}

std::optional<BuildInfo> CubinCache::find(const CubinKey& key, std::string* cubin_bytes) const {
  const std::string hash = key.hash();
  const fs::path path = cubin_path(hash);
  const std::optional<std::string> sidecar = read_own_file(sidecar_path(path), kMaxSidecarBytes);
  if (!sidecar) return std::nullopt;

  std::optional<Entry> entry = parse_sidecar(*sidecar);
  std::optional<std::string> cubin = read_own_file(path, kMaxCubinBytes);
  const bool intact = entry && cubin && entry->key == hash && entry->cubin_bytes == cubin->size() &&
                      entry->build.cubin_hash == hash_text(*cubin);
  if (!intact) {
    std::error_code ignored;
    fs::remove(sidecar_path(path), ignored);
    fs::remove(path, ignored);
    return std::nullopt;
  }
  entry->build.cubin_path = path.string();
  entry->build.cached = true;
  if (cubin_bytes != nullptr) *cubin_bytes = std::move(*cubin);
  return entry->build;
}

Result<BuildInfo> CubinCache::store(const CubinKey& key, std::string_view cubin, BuildInfo build) const {
  build.key_hash = key.hash();
  build.cubin_hash = hash_text(cubin);
  build.cached = false;
  const fs::path path = cubin_path(build.key_hash);
  build.cubin_path = path.string();

  if (auto made = make_private_folder(path.parent_path()); !made) return with_remedy(std::move(made.error()));
  Result<void> written = write_file_atomically(path, cubin);
  if (written) written = write_file_atomically(sidecar_path(path), sidecar_text(key, cubin.size(), build));
  if (written) return build;
  return fail(with_remedy(std::move(written.error())).value(), "storing a cubin");
}

fs::path CubinCache::cubin_path(const std::string& key_hash) const {
  return folder_ / key_hash.substr(0, 2) / (key_hash + ".cubin");
}

}  // namespace pgtune::gpu
