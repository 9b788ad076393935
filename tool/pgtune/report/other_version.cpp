// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/other_version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace pgtune::tool {

std::string versions_text(const std::vector<OtherVersion>& others) {
  constexpr std::size_t kHashShown = 8;
  if (others.empty()) return {};
  std::vector<std::string> named;
  for (const OtherVersion& other : others)
    named.push_back(fmt::format("{} ({}, here {})", other.name, other.measured_hash.substr(0, kHashShown),
                                other.built_hash.substr(0, kHashShown)));
  return fmt::format(
      "measured with another version of {} than this build's: a hint, not a measurement of this build's kernels",
      fmt::join(named, ", "));
}

nlohmann::json other_versions_json(const std::vector<OtherVersion>& others) {
  nlohmann::json out = nlohmann::json::array();
  for (const OtherVersion& other : others) out.push_back(other.name);
  return out;
}

}  // namespace pgtune::tool
