// SPDX-License-Identifier: MIT
// The model that searches ask: trained on what the recordings of this build and the user's database hold.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/queries/records.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// Gives a model when it is first asked, in whatever thread, and the same again after that; null where there is nothing
/// to learn from.
using ModelSource = std::function<std::shared_ptr<const search::Predictor>()>;

/// Templates that a command has at hand: what was measured with a user's own teaches a model only beside its JSON.
using OwnTemplates = std::vector<space::TemplateSet>;

/// Of the times of variants, trained on everything. Models are kept in the cache folder, by what they were trained on,
/// so that each is fitted once for each state of the database; a damaged or unwritable cache only costs time.
/// `database` need not exist. `context` outlives it. Who shows Predictor::loss() asks for five folds.
[[nodiscard]] ModelSource trained_model(Context& context, const std::filesystem::path& database, OwnTemplates templates,
                                        search::Validation validation = search::Validation::kHoldout);
/// The same for searches: of the database only what searched_before() says.
[[nodiscard]] session::PredictorSource trained_model_before(Context& context, const std::filesystem::path& database,
                                                            OwnTemplates templates);
/// As trained_model(), of the clocks of settled samples, for session::expected_settled_times().
[[nodiscard]] ModelSource trained_settled_clocks(Context& context, const std::filesystem::path& database,
                                                 OwnTemplates templates);

// The variant to take for a problem without a search.

struct Guess {
  Variant variant;
  search::Predictor::Loss loss;  ///< what such guesses lost on problems that the model was not trained on
  bool seen_device = false;      ///< a search on such a GPU is among what the model was trained on
  bool seen_template = false;    ///< and one with the variant's template
  std::size_t variants = 0;      ///< among which it is: all that are legal
};

/// What the model expects to be the fastest; nothing where no variant is legal. Throws CommandError: an expression of a
/// template that fails.
[[nodiscard]] std::optional<Guess> guess_variant(const search::Predictor& model, const space::TemplateSet& templates,
                                                 const Problem& problem, const DeviceInfo& device);

/// "2.5 % slower than the best (median), 9.8 % or more in one of ten": of `loss` with tables.
[[nodiscard]] std::string loss_text(const search::Predictor::Loss& loss);

// Which searches of a database teach the search of a problem, so that it goes on as it began after an interruption.

/// Of `searches` those that had ended when the problem was first searched on a device of the class
/// (DeviceClass::text()), or have by now where it was not yet; in the order given. Of many the newest few are left out,
/// so that their number takes few values and a model is fitted anew after a third to a half more, not after every
/// search, which waits for the fit before its first variant.
[[nodiscard]] std::vector<db::SessionRow> searched_before(std::vector<db::SessionRow> searches,
                                                          const std::string& problem_key,
                                                          const std::string& device_class);

}  // namespace pgtune::tool
