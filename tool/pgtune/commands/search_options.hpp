// SPDX-License-Identifier: MIT
// The options of `pgtune search`, for commands that start searches elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tool/pgtune/cli/command.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

/// What a search was asked for.
struct SearchRequest {
  std::vector<Problem> problems;
  session::SessionOptions session;
  std::size_t jobs = 0;  ///< compile workers; 0: one a core
};

/// The search command to those that add its options to theirs.
class SearchOptions : public Command {
 public:
  /// Throws CommandError (usage) wherever a search would that was asked for the same, before it looks for a device.
  [[nodiscard]] virtual SearchRequest request(Context& context) const = 0;
};

[[nodiscard]] std::unique_ptr<SearchOptions> make_search_options();

}  // namespace pgtune::tool
