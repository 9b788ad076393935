// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/search_outcome.hpp"

namespace pgtune::tool {

ExitCode exit_code(const session::SearchResult& result, std::optional<ExitCode> signal) {
  if (result.interrupted) return signal.value_or(ExitCode::kInterrupted);
  if (result.gave_up) return ExitCode::kPartial;
  return result.answer ? ExitCode::kDone : ExitCode::kNothingValid;
}

}  // namespace pgtune::tool
