// SPDX-License-Identifier: MIT
// The model that searches ask: trained on what the recordings of this build and the user's database hold.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "tool/pgtune/cli/context.hpp"
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

}  // namespace pgtune::tool
