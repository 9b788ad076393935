// SPDX-License-Identifier: MIT
// A ladder: named variants in teaching order, as data (ladder/ladders/*.json). For one problem on one device, each rung
// is a variant, or has a reason why it is none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/space/template_set.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

struct LadderRung {
  std::string name;
  std::string change;             ///< compared with the rung before, one line
  std::string lesson;             ///< what the rung teaches, one line
  std::string template_selector;  ///< as Catalogue::load takes it; empty: the best variant that is stored
  std::string variant;            ///< parameters over the template's defaults, "BM=64,BN=64"

  [[nodiscard]] bool stored_best() const { return template_selector.empty(); }
};

struct Ladder {
  std::string name, description;
  std::string operation;
  std::optional<Dtype> dtype;     ///< absent only for an operation's ladder that covers all its dtypes
  std::vector<LadderRung> rungs;  ///< at least one; names are unique
};

/// `origin`: the text's name in errors (usage), which also name the rung and the field.
[[nodiscard]] Result<Ladder> parse_ladder(std::string_view text, const std::string& origin);

/// The ladder that is taken for an operation: nullptr is GEMM. Throws CommandError (usage) if it has none.
[[nodiscard]] std::string default_ladder(const LoadedOperation* operation);

/// The JSON of one of ladder/ladders. Throws CommandError (usage), which lists the names.
[[nodiscard]] std::string_view built_in_ladder(const std::string& name);

struct PlannedRung {
  LadderRung rung;
  std::optional<Variant> variant;  ///< legal for the problem
  std::string absent;              ///< why there is no variant
};

struct LadderPlan {
  std::string name, description;
  space::TemplateSet templates;  ///< the templates of the rungs and of searches
  std::vector<PlannedRung> rungs;
};

/// The best variant stored for a search over `searched`, if any, and its time per launch.
struct StoredBest {
  Variant variant;
  double time_s = 0;
};
using FindBest = std::function<std::optional<StoredBest>(const space::TemplateSet& searched)>;

/// `selector`: a built-in ladder's name, or a file's path; templates named by path in it are relative to it.
/// `operation`: the problem's, null for GEMM. Throws CommandError (usage): no such ladder, an error in it, an operation
/// or dtype other than the problem's. Without `find_best` no stored answer is used.
[[nodiscard]] LadderPlan plan_ladder(const Context& context, const std::string& selector, const Problem& problem,
                                     const LoadedOperation* operation, const DeviceInfo& device,
                                     const FindBest& find_best);

}  // namespace pgtune::tool
