// SPDX-License-Identifier: MIT
// A ladder: named variants in the order in which they are to be understood. Data only, configs/ladders/*.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"
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
  std::string operation;          ///< empty: GEMM
  std::optional<Dtype> dtype;     ///< absent only of an operation: it is for every dtype that it has
  std::vector<LadderRung> rungs;  ///< at least one, no two of a name
};

/// `origin`: how errors (usage) call the text; they name the rung and the field.
[[nodiscard]] Result<Ladder> parse_ladder(std::string_view text, const std::string& origin);

}  // namespace pgtune::tool
