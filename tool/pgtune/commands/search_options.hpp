// SPDX-License-Identifier: MIT
// The options of `pgtune search`, for commands that start searches elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tool/pgtune/cli/command.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

/// The options of a search.
struct SearchRequest {
  std::vector<Problem> problems;
  session::SessionOptions session;
  std::size_t jobs = 0;  ///< compile workers; 0: one per core
};

/// The search command for commands that add its options to theirs.
class SearchOptions : public Command {
 public:
  /// Throws the CommandError (usage) that a search with these options would throw before it looks for a device.
  [[nodiscard]] virtual SearchRequest request(Context& context) const = 0;
};

[[nodiscard]] std::unique_ptr<SearchOptions> make_search_options();

}  // namespace pgtune::tool
