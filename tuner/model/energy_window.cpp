// SPDX-License-Identifier: MIT
#include "tuner/model/energy_window.hpp"

#include <cmath>

namespace pgtune {

Result<void> EnergyWindow::validate() const { return require_possible_numbers(*this, "an energy window"); }

bool EnergyWindow::suspect() const {
  constexpr double kDisagreement = 0.05;
  if (averaged_power_w <= 0 || window_s <= 0) return false;
  return std::abs(averaged_power_w / power_w() - 1) > kDisagreement;
}

}  // namespace pgtune
