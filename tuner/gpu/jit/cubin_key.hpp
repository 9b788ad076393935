// SPDX-License-Identifier: MIT
// The cubin cache's key: everything that decides a cubin's bytes, as typed, length-prefixed fields, so that no two
// different inputs run together into one key.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pgtune::gpu {

/// XXH3-128 as 32 lower-case hex digits.
[[nodiscard]] std::string content_hash(std::string_view bytes);

class CubinKey {
 public:
  CubinKey();

  /// A short field, e.g. an option; kept readable in the description.
  void add_text(std::string_view name, std::string_view value);
  /// A file's contents; the description holds its hash in their place.
  void add_contents(std::string_view name, std::string_view contents);

  /// XXH3-128 over all fields in the order they were added.
  [[nodiscard]] std::string hash() const;
  /// (name, readable value) of every field, stored beside the cubin so that a person can see why a build was redone.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& description() const { return description_; }

 private:
  void append(char type, std::string_view name, std::string_view value);

  std::string encoded_;
  std::vector<std::pair<std::string, std::string>> description_;
};

}  // namespace pgtune::gpu
