// SPDX-License-Identifier: MIT
// Whether a search is answered already. Searches, dry runs and searches that would rather not look for the GPU all ask
// here, so that they agree.
#pragma once

#include <optional>

#include "tuner/session/session.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::session {

/// What is stored of the board at hand, else, unless `this_board` is asked for, of another one of its class. Throws
/// what the store throws.
[[nodiscard]] std::optional<Answer> stored_answer(Store& store, const StoreKey& key, bool this_board);

/// Whether a whole final ended a search that expected to have missed less than the margin of ties, or than
/// `acceptable_miss` (search::is_enough()): where one ends by itself.
[[nodiscard]] bool has_enough(const Answer& answer, double acceptable_miss = 0);

/// The stored answer that a search under `options` returns instead of measuring; nothing where it would measure. One of
/// the board at hand is preferred to one of another board of its class, which with options.this_board is none. The
/// answer must be complete, or a whole final over as many variants as a trial budget names, or, with
/// options.budget.acceptable_miss, have enough; by the same objective; with energy where that is wanted.
/// None answers with options.force, or with options.retry_failed where it left something to retry. Throws what the
/// store throws.
[[nodiscard]] std::optional<Answer> answered_already(Store& store, const StoreKey& key, const SessionOptions& options);

/// Whether a search under `options` goes on with trials that earlier ones of the same left; false where it is answered
/// already, or would measure all anew. Throws what the store throws.
[[nodiscard]] bool is_begun(Store& store, const StoreKey& key, const SessionOptions& options);

/// The result of a search that `answer` made unnecessary.
[[nodiscard]] SearchResult result_from_store(Answer answer);

}  // namespace pgtune::session
