// SPDX-License-Identifier: MIT
// The baseline's clock on one GPU beside how many others of the machine were at work.
#pragma once

namespace pgtune {

struct ClockBeside {
  int group = 0;  ///< samples of one problem, stage and algorithm: only their clocks compare
  int busy = 0;   ///< other GPUs that had a problem in hand, before the sample and after it
  double sm_clock_hz = 0;
};

}  // namespace pgtune
