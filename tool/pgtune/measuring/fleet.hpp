// SPDX-License-Identifier: MIT
// Several devices that work in parallel on one list of problems, each with its own thread and session.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tool/pgtune/measuring/measuring_run.hpp"

namespace pgtune::tool {

/// Shorter work was answered by the database, and does not help to predict the others' times.
inline constexpr double kMeasured_s = 1;

// Assigns problems to devices: the longest expected first, to a free device, and to another one if a device failed on
// it. Only bookkeeping, in one thread or behind the caller's lock.

class Handout {
 public:
  /// The consequence of a failure.
  enum class AfterFailure {
    kElsewhere,     ///< the problem waits for another device
    kGivenUp,       ///< the problem failed on two working devices, so it is at fault
    kDeviceIsOut,   ///< the device failed on two problems in a row, and gets no more
    kNoDeviceLeft,  ///< the problem waits, and no device is left for it
  };

  /// `expected_s`: for each problem; equal ones keep the list's order. Problems in `begun` come after all others;
  /// empty: there are none.
  Handout(const std::vector<double>& expected_s, std::size_t devices, const std::vector<bool>& begun = {});

  /// The next problem for a free device; nothing if all waiting ones have failed on it.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t device);
  /// The device is free again, its problem is over.
  void done(std::size_t device, std::size_t problem);
  /// The device is free again, but failed, for a cause that is not clearly the problem's.
  [[nodiscard]] AfterFailure failed(std::size_t device, std::size_t problem);
  /// The device gets no more problems; its current one, if any, waits for another.
  void leave(std::size_t device);

  [[nodiscard]] bool is_out(std::size_t device) const { return devices_[device].out; }
  /// Devices that are not.
  [[nodiscard]] std::size_t devices_left() const;
  /// Nothing is in work, and the remaining devices can do none of the waiting problems.
  [[nodiscard]] bool is_over() const;

 private:
  struct Problem {
    bool waits = true;
    std::set<std::size_t> failed_on = {};
  };
  struct Device {
    bool out = false;
    std::optional<std::size_t> problem = {};  ///< in work
    std::set<std::size_t> suspects = {};      ///< consecutive failures that may be its own fault
  };

  [[nodiscard]] bool may_take(std::size_t device, std::size_t problem) const;
  [[nodiscard]] bool is_at_fault(std::size_t problem) const;
  [[nodiscard]] bool any_may_take(std::size_t problem) const;

  std::vector<std::size_t> order_;  ///< of the problems
  std::vector<Problem> problems_;
  std::vector<Device> devices_;
};

/// Measures each problem on the next free device, the longest expected first and those in `begun` last, until a signal
/// arrives. Shows results in the order of the problems. If a device fails on a problem, the reason is reported and the
/// problem moves to another device; a device that fails twice in a row gets no more. Unmeasured problems are reported
/// at the end, noted in `results`, and make the exit code kEnvironment. A usage error concerns only its problem. Other
/// exceptions of `work` are thrown once all devices have stopped.
[[nodiscard]] ExitCode measure_side_by_side(const std::vector<std::unique_ptr<MeasuringRun>>& devices,
                                            const std::vector<Problem>& problems, const std::vector<bool>& begun,
                                            Terminal& terminal, ResultDocument& results, const Work& work);

}  // namespace pgtune::tool
