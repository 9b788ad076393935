// SPDX-License-Identifier: MIT
// A ladder: named variants in the order in which they are to be understood, as data (ladder/ladders/*.json); and for
// one problem on one device, which variant each rung is, or why it is none.
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
  std::string change;             ///< against the rung before, one line
  std::string lesson;             ///< what that is to teach, one line
  std::string template_selector;  ///< as Catalogue::load takes it; empty: the best variant that is stored
  std::string variant;            ///< parameters over the template's defaults, "BM=64,BN=64"

  [[nodiscard]] bool stored_best() const { return template_selector.empty(); }
};

struct Ladder {
  std::string name, description;
  std::string operation;
  std::optional<Dtype> dtype;     ///< absent only of an operation: it is for every dtype that it has
  std::vector<LadderRung> rungs;  ///< at least one, no two of a name
};

/// `origin`: how errors (usage) call the text; they name the rung and the field.
[[nodiscard]] Result<Ladder> parse_ladder(std::string_view text, const std::string& origin);

/// The JSON of one of ladder/ladders. Throws CommandError (usage) with the names there are.
[[nodiscard]] std::string_view built_in_ladder(const std::string& name);

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
