// SPDX-License-Identifier: MIT
// The model that searches ask: trained on what the recordings of this build and the user's database hold.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "tool/pgtune/cli/context.hpp"
#include "tuner/search/predictor.hpp"

namespace pgtune::tool {

/// Gives the model when it is first asked, in whatever thread, and the same again after that; null where there is
/// nothing to learn from. It is kept in the cache folder, by what it was trained on, so that it is fitted once for each
/// state of the database; a damaged or unwritable cache only costs time. `database` need not exist. `context` outlives
/// it.
[[nodiscard]] std::function<std::shared_ptr<const search::Predictor>()> trained_model(
    Context& context, const std::filesystem::path& database);

}  // namespace pgtune::tool
