// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/clock_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <thread>

#include "tuner/gpu/nvml/nvml_library.hpp"

namespace pgtune::gpu {
namespace {

constexpr unsigned kMaxClocks = 1024;
constexpr double kHoldableShare = 0.75;
/// NVIDIA's data centre GPUs have their clocks 15 MHz apart.
constexpr int kUsualStepMhz = 15;
constexpr std::chrono::milliseconds kReadBackEvery{50};
constexpr int kReadBacks = 40;  // 2 s
constexpr std::chrono::milliseconds kRestoreEvery{200};
constexpr int kRestoreTries = 5;

/// A list of clocks from a function that fills one; empty if the function is missing or fails.
template <typename Fill>
std::vector<int> clock_list(const Fill& fill) {
  std::vector<unsigned> clocks(kMaxClocks);
  unsigned count = kMaxClocks;
  if (fill(&count, clocks.data()) != kNvmlSuccess) return {};
  clocks.resize(std::min(count, kMaxClocks));
  std::vector<int> result(clocks.begin(), clocks.end());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::optional<int> read_clock(NvmlStatus (*function)(void*, int, unsigned*), void* handle, int clock) {
  unsigned mhz = 0;
  if (function == nullptr || function(handle, clock, &mhz) != kNvmlSuccess) return std::nullopt;
  return static_cast<int>(mhz);
}

std::string nearest_text(const std::vector<int>& clocks, int wanted_mhz) {
  const auto above = std::lower_bound(clocks.begin(), clocks.end(), wanted_mhz);
  if (above == clocks.begin()) return fmt::format("the lowest is {}", clocks.front());
  if (above == clocks.end()) return fmt::format("the highest is {}", clocks.back());
  return fmt::format("the nearest are {} and {}", *std::prev(above), *above);
}

}  // namespace

std::string lock_command(const std::string& uuid, int mhz) {
  return fmt::format("sudo nvidia-smi -i {} -lgc {},{}", uuid, mhz, mhz);
}

std::string restore_command(const std::string& uuid) { return fmt::format("sudo nvidia-smi -i {} -rgc", uuid); }

std::vector<int> ClockLock::supported_mhz() const {
  const NvmlLibrary& library = *device_.library_;
  void* const handle = device_.handle_;
  if (library.supported_memory_clocks == nullptr || library.supported_graphics_clocks == nullptr) return {};
  const auto memory =
      clock_list([&](unsigned* count, unsigned* mhz) { return library.supported_memory_clocks(handle, count, mhz); });
  if (memory.empty()) return {};
  return clock_list([&](unsigned* count, unsigned* mhz) {
    return library.supported_graphics_clocks(handle, static_cast<unsigned>(memory.back()), count, mhz);
  });
}

std::optional<int> ClockLock::max_mhz() const {
  return read_clock(device_.library_->max_clock, device_.handle_, kNvmlClockSm);
}

int ClockLock::step_mhz(int mhz) const {
  const std::vector<int> clocks = supported_mhz();
  const auto at = std::lower_bound(clocks.begin(), clocks.end(), mhz);
  int step = 0;
  if (at != clocks.end() && std::next(at) != clocks.end()) step = *std::next(at) - *at;
  if (at != clocks.end() && at != clocks.begin()) step = std::max(step, *at - *std::prev(at));
  return step > 0 ? step : kUsualStepMhz;
}

Result<int> ClockLock::choose(std::optional<int> wanted_mhz) const {
  const std::vector<int> clocks = supported_mhz();
  if (wanted_mhz && (clocks.empty() || std::binary_search(clocks.begin(), clocks.end(), *wanted_mhz)))
    return *wanted_mhz;
  if (wanted_mhz) {
    return fail(ErrorKind::kUsage, fmt::format("GPU {} has no SM clock of {} MHz: {} MHz; give one it has",
                                               device_.uuid(), *wanted_mhz, nearest_text(clocks, *wanted_mhz)));
  }
  if (!clocks.empty()) {
    const auto above = std::upper_bound(clocks.begin(), clocks.end(), static_cast<int>(kHoldableShare * clocks.back()));
    return above == clocks.begin() ? clocks.front() : *std::prev(above);
  }
  if (const auto highest = max_mhz(); highest && *highest > 0) {
    return static_cast<int>(kHoldableShare * *highest) / kUsualStepMhz * kUsualStepMhz;
  }
  return fail(ErrorKind::kEnvironment,
              fmt::format("NVML lists no clocks of GPU {}; say which to lock: --lock-clocks=MHZ", device_.uuid()));
}

ClockState ClockLock::state() const {
  const NvmlLibrary& library = *device_.library_;
  return {read_clock(library.clock_info, device_.handle_, kNvmlClockSm),
          read_clock(library.applications_clock, device_.handle_, kNvmlClockGraphics)};
}

tl::unexpected<Error> ClockLock::lock_failure(int status, int mhz) const {
  const std::string& uuid = device_.uuid();
  if (status == kNvmlNoPermission) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("only an administrator may lock clocks: run pgtune as root, or have one run '{}' "
                            "before ('{}' undoes it) and leave --lock-clocks out",
                            lock_command(uuid, mhz), restore_command(uuid)));
  }
  if (status == kNvmlNotSupported)
    return fail(ErrorKind::kEnvironment, fmt::format("GPU {} cannot lock its clocks; leave --lock-clocks out", uuid));
  return fail(ErrorKind::kEnvironment,
              fmt::format("NVML does not lock GPU {} at {} MHz: {}; try '{}', or leave --lock-clocks out", uuid, mhz,
                          device_.library_->text(status), lock_command(uuid, mhz)));
}

Result<LockedClock> ClockLock::lock(int mhz, const Pause& pause) const {
  const NvmlLibrary& library = *device_.library_;
  if (library.set_locked_clocks == nullptr || library.reset_locked_clocks == nullptr)
    return lock_failure(kNvmlNotSupported, mhz);
  LockedClock locked{mhz, false, state(), {}};
  const auto wanted = static_cast<unsigned>(mhz);
  if (const NvmlStatus status = library.set_locked_clocks(device_.handle_, wanted, wanted); status != kNvmlSuccess)
    return lock_failure(status, mhz);

  const int tolerance_mhz = step_mhz(mhz);
  for (int i = 0; i < kReadBacks; ++i) {
    locked.after = state();
    locked.verified = locked.after.sm_mhz && std::abs(*locked.after.sm_mhz - mhz) <= tolerance_mhz;
    if (locked.verified || !locked.after.sm_mhz || !pause(kReadBackEvery)) return locked;
  }
  if (*locked.after.sm_mhz < mhz) return locked;
  const Error ineffective{ErrorKind::kEnvironment,
                          fmt::format("the driver took the lock of GPU {} at {} MHz, but its SM clock stays at {} MHz; "
                                      "leave --lock-clocks out",
                                      device_.uuid(), mhz, *locked.after.sm_mhz),
                          {}};
  TRY(restore());
  return tl::unexpected(ineffective);
}

Result<void> ClockLock::restore() const {
  const NvmlLibrary& library = *device_.library_;
  NvmlStatus status = kNvmlNotSupported;
  for (int i = 0; i < kRestoreTries && library.reset_locked_clocks != nullptr; ++i) {
    status = library.reset_locked_clocks(device_.handle_);
    if (status == kNvmlSuccess) return {};
    if (status == kNvmlNoPermission || status == kNvmlNotSupported) break;
    std::this_thread::sleep_for(kRestoreEvery);
  }
  return fail(ErrorKind::kEnvironment,
              fmt::format("the clocks of GPU {} could not be given back: {}. They may still be locked: run '{}'",
                          device_.uuid(), library.text(status), restore_command(device_.uuid())));
}

}  // namespace pgtune::gpu
