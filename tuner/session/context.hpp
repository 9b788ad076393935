// SPDX-License-Identifier: MIT
// What every step of a session works with. References live as long as the session.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "tuner/device/device.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

class Quarantine;

struct SessionContext {
  Problem problem;  ///< once the device is prepared, with what was counted in its data
  space::TemplateSet templates;
  device::Device& device;
  Store& store;
  const SessionOptions& options;
  const std::atomic<bool>& stop;
  const Clock& clock;
  double start_s = 0;                ///< of the search, by `clock`
  Quarantine* quarantine = nullptr;  ///< nothing: whatever is asked for is run

  [[nodiscard]] double elapsed_s() const { return clock.now_s() - start_s; }
  /// Seconds left of the time budget, or nothing where there is none.
  [[nodiscard]] std::optional<double> time_left_s() const {
    if (!options.budget.seconds) return std::nullopt;
    return *options.budget.seconds - elapsed_s();
  }
};

/// Puts what was being done before the message of an error.
template <typename T>
[[nodiscard]] Result<T> doing(std::string what, Result<T> result) {
  if (!result) result.error().context.push_back(std::move(what));
  return result;
}

}  // namespace pgtune::session
