// SPDX-License-Identifier: MIT
// The searches' model, trained on the recordings of this build and on the user's database.
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

/// Gives a model when it is first asked, and the same again after that; null where there is nothing to learn from.
using ModelSource = std::function<std::shared_ptr<const search::Predictor>()>;

/// A command's own templates: measurements with a user's template can train a model only together with its JSON.
using OwnTemplates = std::vector<space::TemplateSet>;

/// Of the times of variants, trained on everything; waits for the fit. Models are kept in the cache folder, by what
/// they were trained on, so that each is fitted once for each state of the database; those of the recordings alone ship
/// fitted. A damaged or unwritable cache only costs time. `database` need not exist. `context` outlives it. Who shows
/// Predictor::loss() asks for five folds. For one thread.
[[nodiscard]] ModelSource trained_model(Context& context, const std::filesystem::path& database, OwnTemplates templates,
                                        search::Validation validation = search::Validation::kHoldout);
/// The same for searches, in whatever thread, which wait for no fit: of the database what searched_before() says, and
/// while that is being fitted fewer of them, or the recordings alone. The last copy of the source ends once all fits
/// have ended.
[[nodiscard]] session::PredictorSource trained_model_before(Context& context, const std::filesystem::path& database,
                                                            OwnTemplates templates);
/// Likewise of the clocks of settled samples, for session::expected_settled_times().
[[nodiscard]] ModelSource trained_settled_clocks(Context& context, const std::filesystem::path& database,
                                                 OwnTemplates templates);

// A variant for a problem without a search.

struct Guess {
  Variant variant;
  search::Predictor::Loss loss;  ///< what such guesses lost on the nearest problems that the model was not trained on
  bool seen_device = false;      ///< a search on such a GPU is among what the model was trained on
  bool seen_template = false;    ///< and one with the variant's template
  std::size_t variants = 0;      ///< among which it is: all that are legal
};

/// The variant that the model predicts to be the fastest; nothing if no variant is legal. Throws CommandError: an
/// expression of a template that fails.
[[nodiscard]] std::optional<Guess> guess_variant(const search::Predictor& model, const space::TemplateSet& templates,
                                                 const Problem& problem, const DeviceInfo& device);

/// "2.5 % slower than the best (median), 9.8 % or more in one of ten": of `loss` with tables.
[[nodiscard]] std::string loss_text(const search::Predictor::Loss& loss);

// Selects the searches of a database that train the model of a problem's search, such that an interrupted search
// continues with the same model.

/// Of `searches` those that had ended when the problem was first searched on a device of the class
/// (DeviceClass::text()), or have by now where it was not yet; in the order given. Of many the newest few are left out,
/// so that their number takes few values and a model is fitted anew after a third to a half more, not after every
/// search.
[[nodiscard]] std::vector<db::SessionRow> searched_before(std::vector<db::SessionRow> searches,
                                                          const std::string& problem_key,
                                                          const std::string& device_class);

}  // namespace pgtune::tool
