// SPDX-License-Identifier: MIT
#include "tool/worker/guard.hpp"

#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "tool/worker/parent_watch.hpp"
#include "tuner/gpu/nvml/clock_lock.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::worker {
namespace {

using nlohmann::json;

constexpr protocol::RequestId kLock = 1, kRestore = 2;

Result<gpu::ClockLock> open_lock(const std::string& uuid) {
  const Result<gpu::Nvml> nvml = gpu::Nvml::open();
  if (!nvml) return fail(nvml.error(), "clocks are locked through NVML, the driver's library");
  return nvml->device(uuid).map([](gpu::NvmlDevice device) { return gpu::ClockLock(std::move(device)); });
}

json clock_json(const std::optional<int>& mhz) { return mhz ? json(*mhz) : json(); }

/// A parent that is gone does not read its answer; that is no error here, because the clocks come first.
void answer(LineChannel& channel, protocol::RequestId id, Result<json> body) {
  std::ignore = channel.write_line(protocol::encode(protocol::Reply{id, std::move(body), false}));
}

Result<void> restore(const gpu::ClockLock& lock, LineChannel& channel) {
  const Result<void> restored = lock.restore();
  answer(channel, kRestore, restored.map([&] { return json{{"sm_mhz", clock_json(lock.state().sm_mhz)}}; }));
  return restored;
}

Result<gpu::LockedClock> lock_clocks(const gpu::ClockLock& lock, const WorkerOptions& options, ParentWatch& watch) {
  return lock.choose(options.lock_mhz).and_then([&](int mhz) {
    return lock.lock(mhz, [&](std::chrono::milliseconds time) { return !watch.wait(time); });
  });
}

}  // namespace

Result<void> guard_clocks(const WorkerOptions& options, LineChannel& channel) {
  Result<ParentWatch> watch = ParentWatch::start();
  if (!watch) return tl::unexpected(std::move(watch.error()));
  const Result<gpu::ClockLock> lock = open_lock(options.gpu);
  if (watch->wait(std::chrono::milliseconds(0))) return {};  // nobody wants the lock any more
  const Result<gpu::LockedClock> locked =
      lock.and_then([&](const gpu::ClockLock& opened) { return lock_clocks(opened, options, *watch); });
  if (!locked) {
    answer(channel, kLock, tl::unexpected(locked.error()));
    return tl::unexpected(locked.error());
  }
  answer(channel, kLock,
         json{{"locked_mhz", locked->mhz},
              {"verified", locked->verified},
              {"sm_mhz", clock_json(locked->after.sm_mhz)},
              {"before",
               {{"sm_mhz", clock_json(locked->before.sm_mhz)},
                {"applications_mhz", clock_json(locked->before.applications_mhz)}}}});
  std::ignore = watch->wait(std::nullopt);
  return restore(*lock, channel);
}

Result<void> restore_clocks(const WorkerOptions& options, LineChannel& channel) {
  const Result<gpu::ClockLock> lock = open_lock(options.gpu);
  if (lock) return restore(*lock, channel);
  answer(channel, kRestore, tl::unexpected(lock.error()));
  return tl::unexpected(lock.error());
}

}  // namespace pgtune::worker
