// SPDX-License-Identifier: MIT
// What a program sees of exported operations beside each one's own sizes and operands.
#pragma once

#include "exported/types.hpp"

namespace pgtune_export {

/// Sizes that an operation was tuned for, and what is known of their kernel.
struct TunedSizes {
  const std::int64_t* sizes;  ///< in the order of the operation's Sizes
  int variant;
  int device_class;
  double time_s;
  double speed;                         ///< in GB/s or TFLOP/s, as pgtune tells it
  double ratio, ratio_low, ratio_high;  ///< the baseline's best time over its own, with the 95 % interval
  const char* origin;                   ///< board, driver, date and template version it was measured with
};

}  // namespace pgtune_export
