// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/clock_session.hpp"

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/clock_guard.hpp"

namespace pgtune::tool {
namespace {

/// False where the clocks may still be locked.
bool release(Context& context, ClockGuard& guard) {
  const auto released = guard.release();
  if (!released) context.terminal().error(released.error().text());
  return released.has_value();
}

}  // namespace

ExitCode with_clocks(Context& context, const DeviceChoice& choice, const std::optional<LockRequest>& request,
                     const std::function<ExitCode(const LockedClock&)>& work) {
  if (!request) return work({});
  ClockGuard guard = value_or_throw(ClockGuard::lock(context.paths().worker.string(), choice.info.uuid, request->mhz));
  ExitCode code = ExitCode::kDone;
  try {
    code = work({guard.locked_hz(), guard.note(), [&guard] {
                   if (guard.holds()) return;
                   throw CommandError(ErrorKind::kEnvironment,
                                      "the guard that holds the GPU's clocks is gone, so they are not locked any more. "
                                      "Run the command again.");
                 }});
  } catch (...) {
    (void)release(context, guard);
    throw;
  }
  return release(context, guard) ? code : worse(code, ExitCode::kEnvironment);
}

}  // namespace pgtune::tool
