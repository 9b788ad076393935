// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/gpu_wait.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>
#include <variant>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

constexpr std::chrono::milliseconds kLookAtLock{200};

std::string holder_text(const GpuLock::Holder& holder) {
  return holder.pid ? fmt::format("another pgtune (process {})", *holder.pid) : std::string("another pgtune");
}

}  // namespace

std::optional<GpuLock> lock_gpu(Context& context, const std::string& uuid, const std::string& name, bool wait,
                                const std::function<bool()>& give_up) {
  for (bool told = false;;) {
    auto taken = value_or_throw(GpuLock::take(context.paths().locks, uuid));
    if (auto* const lock = std::get_if<GpuLock>(&taken)) return std::move(*lock);
    const std::string who = holder_text(std::get<GpuLock::Holder>(taken));
    if (!wait)
      throw CommandError(ErrorKind::kEnvironment,
                         fmt::format("{} is measuring on {}, and two at once spoil each other's times. Run this with "
                                     "--wait, or choose another GPU with --device.",
                                     who, name));
    if (!std::exchange(told, true))
      context.terminal().note(fmt::format("{} is busy: waiting for {} to end", name, who));
    if (give_up()) return std::nullopt;
    std::this_thread::sleep_for(kLookAtLock);
  }
}

}  // namespace pgtune::tool
