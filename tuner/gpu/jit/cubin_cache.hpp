// SPDX-License-Identifier: MIT
// Compiled variants on disk by key: <folder>/cubin/<2 hex>/<key>.cubin, and a .json that describes the cubin. The .json
// is written last: an entry exists once it does. Safe for any number of processes at once. A key hashes everything that
// decides a cubin's bytes, as typed, length-prefixed fields, so that different inputs cannot collide by concatenation.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class CubinKey {
 public:
  CubinKey();

  /// A short field, e.g. an option; kept readable in the description.
  void add_text(std::string_view name, std::string_view value);
  /// A file's contents; the description has their hash instead.
  void add_contents(std::string_view name, std::string_view contents);

  /// XXH3-128 over all fields in the order they were added.
  [[nodiscard]] std::string hash() const;
  /// (name, readable value) of every field, stored with the cubin so that a user can see why a build was repeated.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& description() const { return description_; }

 private:
  void append(char type, std::string_view name, std::string_view value);

  std::string encoded_;
  std::vector<std::pair<std::string, std::string>> description_;
};

class CubinCache {
 public:
  /// Creates missing parts of `folder` with access for the user alone. Errors (environment, with the remedy): it cannot
  /// be created or written, is a symbolic link, belongs to another user, or others can write to it.
  [[nodiscard]] static Result<CubinCache> open(const std::filesystem::path& folder);

  /// The stored build, with `cached` set and cubin_path pointing into this cache, and the cubin's bytes where `cubin`
  /// is not null; nothing where there is none. An entry whose cubin does not match its recorded size and hash is
  /// removed and counts as none.
  [[nodiscard]] std::optional<BuildInfo> find(const CubinKey& key, std::string* cubin = nullptr) const;

  /// Stores a cubin. Returns `build` with cubin_path, cubin_hash and key_hash filled in. Errors (environment, with the
  /// remedy): the measure worker loads cubins from here, so a build that cannot be stored cannot be used.
  [[nodiscard]] Result<BuildInfo> store(const CubinKey& key, std::string_view cubin, BuildInfo build) const;

 private:
  explicit CubinCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::filesystem::path cubin_path(const std::string& key_hash) const;

  std::filesystem::path folder_;  ///< absolute: the measure worker may have another working directory
};

}  // namespace pgtune::gpu
