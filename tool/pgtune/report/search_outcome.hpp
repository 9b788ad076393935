// SPDX-License-Identifier: MIT
// One finished search with what is needed to show it.
#pragma once

#include <string>

#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct SearchOutcome {
  Problem problem;
  space::TemplateSet templates;  ///< it and the device: of answering()
  DeviceChoice device;
  Conditions conditions;
  session::SearchResult result;
  std::string database;  ///< file the answer is stored in
};

/// Bytes of shared memory of one CTA, static and dynamic, the largest over the variant's kernels.
[[nodiscard]] std::int64_t smem_bytes(const SearchOutcome& outcome, const Variant& variant, const BuildInfo& build);

}  // namespace pgtune::tool
