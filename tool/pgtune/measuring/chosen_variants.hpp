// SPDX-License-Identifier: MIT
// The requested variants of `pgtune bench`, with their stored results.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/session/answer.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// The word for the stored best.
constexpr std::string_view kBest = "best";

struct ChosenVariants {
  /// Stored results; those without a final have the screening's time and no ratio.
  std::vector<session::RankedVariant> stored;
  std::vector<Variant> fresh;  ///< named by a whole key, without stored results

  /// Both, each variant once.
  [[nodiscard]] std::vector<Variant> all() const;
};

/// Whether every word is the whole key of a variant of `templates`, so that no stored results are needed to identify
/// it.
[[nodiscard]] bool all_named(const std::vector<std::string>& wanted, const space::TemplateSet& templates);

/// The variants that `wanted` names: kBest, keys, or ids if templates share keys. A variant without stored results
/// needs a whole key: each parameter with a value, in the template's order, of one template alone. `stored` is the
/// problem's answer, `trials` all trials, by Variant::id(). Throws CommandError (usage) for any other word, with the
/// nearest key.
[[nodiscard]] ChosenVariants chosen_variants(const std::vector<std::string>& wanted,
                                             const space::TemplateSet& templates,
                                             const std::optional<session::Answer>& stored,
                                             const std::map<std::string, session::StoredTrial>& trials,
                                             const Problem& problem);

}  // namespace pgtune::tool
