// SPDX-License-Identifier: MIT
// A ladder for one problem on one device: which variant each rung is, or why it is none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/ladder/ladder_file.hpp"
#include "tuner/model/records.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct PlannedRung {
  LadderRung rung;
  std::optional<Variant> variant;  ///< legal for the problem
  std::string absent;              ///< why there is no variant
};

struct LadderPlan {
  std::string name, description;
  space::TemplateSet templates;  ///< those of the rungs and those that searches take
  std::vector<PlannedRung> rungs;
};

/// The best variant stored for a search over `searched`, if there is one, and its time per launch.
struct StoredBest {
  Variant variant;
  double time_s = 0;
};
using FindBest = std::function<std::optional<StoredBest>(const space::TemplateSet& searched)>;

/// `selector`: a built-in ladder's name, or a file's path; templates named by path in it are relative to it.
/// `operation`: the problem's, null for GEMM. Throws CommandError (usage): no such ladder, what is wrong with it, an
/// operation or dtype other than the problem's. Without `find_best` nothing that is stored takes part.
[[nodiscard]] LadderPlan plan_ladder(const Context& context, const std::string& selector, const Problem& problem,
                                     const LoadedOperation* operation, const DeviceInfo& device,
                                     const FindBest& find_best);

}  // namespace pgtune::tool
