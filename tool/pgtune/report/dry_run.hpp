// SPDX-License-Identifier: MIT
// A search's plan: size of the space, variants with stored outcomes, variants left to build. Needs no GPU.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct DryRun {
  DryRun(Problem of, space::TemplateSet over, DeviceChoice on, Conditions under)
      : problem(std::move(of)), templates(std::move(over)), device(std::move(on)), conditions(under) {}

  Problem problem;
  space::TemplateSet templates;
  DeviceChoice device;
  Conditions conditions;
  std::int64_t space = 0, after_constraints = 0, legal = 0;
  std::int64_t valid = 0;     ///< legal ones that the presets let through
  std::int64_t known = 0;     ///< valid variants with a stored outcome
  std::int64_t to_build = 0;  ///< valid variants without, all of them with --force; no more than may be tried
  std::string answered_at;    ///< time of the stored answer that a search would return; empty: none
  std::string answered_by;    ///< UUID of the GPU that found it
};

/// `store` is null if there is no database yet. Throws CommandError (usage) for a space that cannot be evaluated.
[[nodiscard]] DryRun dry_run(const Problem& problem, const space::TemplateSet& templates, const DeviceChoice& device,
                             const session::SessionOptions& options, session::Store* store);

[[nodiscard]] std::string dry_run_text(const DryRun& run);
[[nodiscard]] nlohmann::json dry_run_json(const DryRun& run);

}  // namespace pgtune::tool
