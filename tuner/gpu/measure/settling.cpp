// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/settling.hpp"

#include <cmath>

namespace pgtune::gpu {

bool has_settled(std::span<const SettlingPoint> points, const SettlingRule& rule) {
  if (points.empty()) return false;
  const double now_s = points.back().end_s;
  if (now_s >= rule.most_s) return true;
  if (now_s < rule.least_s) return false;
  double early_sum_s = 0, late_sum_s = 0;
  int early = 0, late = 0;
  for (const SettlingPoint& point : points) {
    const double age_s = now_s - point.end_s;
    if (age_s < rule.window_s / 2) {
      late_sum_s += point.per_launch_s;
      ++late;
    } else if (age_s < rule.window_s) {
      early_sum_s += point.per_launch_s;
      ++early;
    }
  }
  if (early == 0 || late == 0) return false;
  return std::abs(late_sum_s / late / (early_sum_s / early) - 1) <= rule.steady;
}

}  // namespace pgtune::gpu
