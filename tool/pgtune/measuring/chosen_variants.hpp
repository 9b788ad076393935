// SPDX-License-Identifier: MIT
// The variants that `pgtune bench` is asked for, with what is stored of them.
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

/// The word for the best of what is stored.
constexpr std::string_view kBest = "best";

struct ChosenVariants {
  /// What is stored; of those without a final their screening's time and no ratio.
  std::vector<session::RankedVariant> stored;
  std::vector<Variant> fresh;  ///< named by a whole key, and nothing is stored of them

  /// Both, each variant once.
  [[nodiscard]] std::vector<Variant> all() const;
};

/// Whether every word is the whole key of a variant of `templates`, so that nothing need be stored to know what is
/// meant.
[[nodiscard]] bool all_named(const std::vector<std::string>& wanted, const space::TemplateSet& templates);

/// What `wanted` names: kBest, keys, or ids where templates share keys. What is not stored must be a whole key: each
/// parameter with a value, in the template's order, of one template alone. `stored` is the problem's answer, `trials`
/// all that was tried, by Variant::id(). Throws CommandError (usage) for a word that is neither, with the nearest key.
[[nodiscard]] ChosenVariants chosen_variants(const std::vector<std::string>& wanted,
                                             const space::TemplateSet& templates,
                                             const std::optional<session::Answer>& stored,
                                             const std::map<std::string, session::StoredTrial>& trials,
                                             const Problem& problem);

}  // namespace pgtune::tool
