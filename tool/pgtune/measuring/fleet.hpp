// SPDX-License-Identifier: MIT
// Several devices at work side by side, each in a thread of its own and with its own session, over one list of
// problems.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tool/pgtune/measuring/measuring_run.hpp"

namespace pgtune::tool {

// Which problem goes to which device: the longest expected first, to the device that is free, and again to another
// where a device failed on it. Pure bookkeeping, in one thread or behind the caller's lock.

class Handout {
 public:
  /// What follows from a failure.
  enum class AfterFailure {
    kElsewhere,     ///< the problem waits for another device
    kGivenUp,       ///< the problem failed on two devices that work: it is at fault, and not they
    kDeviceIsOut,   ///< the device failed on two problems in a row, and gets no more
    kNoDeviceLeft,  ///< the problem waits, and no device is left for it
  };

  /// `expected_s`: of each problem; of equal ones the first in the list comes first. Problems that `begun`
  /// names come after all others, however long they take; empty: there are none.
  Handout(const std::vector<double>& expected_s, std::size_t devices, const std::vector<bool>& begun = {});

  /// The next problem of a free device; nothing where none waits that it has not failed on already.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t device);
  /// The device is free again, its problem is over.
  void done(std::size_t device, std::size_t problem);
  /// The device is free again, but could not do it, for a cause that is not plainly the problem's.
  [[nodiscard]] AfterFailure failed(std::size_t device, std::size_t problem);
  /// The device gets no more; the problem it has, if any, waits for another.
  void leave(std::size_t device);

  [[nodiscard]] bool is_out(std::size_t device) const { return devices_[device].out; }
  /// Devices that are not.
  [[nodiscard]] std::size_t devices_left() const;
  /// Nothing is in work, and nothing that waits can be done by the devices that are left.
  [[nodiscard]] bool is_over() const;

 private:
  struct Problem {
    bool waits = true;
    std::set<std::size_t> failed_on = {};
  };
  struct Device {
    bool out = false;
    std::optional<std::size_t> problem = {};  ///< in work
    std::set<std::size_t> suspects = {};      ///< problems it failed on in a row, that may be its own fault
  };

  [[nodiscard]] bool may_take(std::size_t device, std::size_t problem) const;
  [[nodiscard]] bool is_at_fault(std::size_t problem) const;
  [[nodiscard]] bool any_may_take(std::size_t problem) const;

  std::vector<std::size_t> order_;  ///< of the problems
  std::vector<Problem> problems_;
  std::vector<Device> devices_;
};

/// Has each problem measured by whichever device is free, the longest expected first, until a signal comes; those
/// that `begun` names after all others. Results are shown in the order of the problems. A problem on which a device
/// fails goes to another one, the reason is told; a device that fails on two in a row gets no more. What
/// nobody could measure is told at the end, noted in `results`, and makes the end kEnvironment. A usage error is the
/// problem's alone. Throws what else `work` throws, once all devices have stopped.
[[nodiscard]] ExitCode measure_side_by_side(const std::vector<std::unique_ptr<MeasuringRun>>& devices,
                                            const std::vector<Problem>& problems, const std::vector<bool>& begun,
                                            Terminal& terminal, ResultDocument& results, const Work& work);

}  // namespace pgtune::tool
