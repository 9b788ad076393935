// SPDX-License-Identifier: MIT
#include "tuner/device/child_answer.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace pgtune::device {

Result<std::string> wait_for_line(ChildProcess& child, const std::string& who, std::chrono::seconds patience) {
  const auto failure = [&](const std::string& how) {
    return fail(ErrorKind::kEnvironment, fmt::format("{} {}", who, how));
  };
  const Clock::time_point until = Clock::now() + patience;
  for (;;) {
    child.pump();
    if (auto line = child.next_line()) return std::move(*line);
    if (child.overflowed()) return failure("does not end its answer");
    if (child.ended()) return failure(child.death_reason());
    if (Clock::now() >= until) return failure(fmt::format("gave no answer within {} s", patience.count()));
    std::vector<pollfd> fds;
    child.add_poll_fds(fds);
    // A signal only means another look; the wait ends with the patience.
    static_cast<void>(wait_ready(fds, until));
  }
}

}  // namespace pgtune::device
