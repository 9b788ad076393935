// SPDX-License-Identifier: MIT
// Results of templates that this build has in another version: hints, not measurements of its kernels.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pgtune::tool {

/// A template that was measured under another content hash than this build's.
struct OtherVersion {
  std::string name, measured_hash, built_hash;
};

/// "measured with another version of gemm_wgmma (1a2b3c4d, here 5e6f7a8b) than this build's: a hint, ..."; empty where
/// there are none.
[[nodiscard]] std::string versions_text(const std::vector<OtherVersion>& others);
/// The templates' names.
[[nodiscard]] nlohmann::json other_versions_json(const std::vector<OtherVersion>& others);

}  // namespace pgtune::tool
