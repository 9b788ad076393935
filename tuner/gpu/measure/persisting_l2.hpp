// SPDX-License-Identifier: MIT
// L2 set aside for launchables that ask for persisting lines.
#pragma once

namespace pgtune::gpu {

/// Sets L2 aside for persisting lines while it lives: a limit of this process's context, which no other process sees.
/// Where the device refuses, launches run without.
class PersistingL2 {
 public:
  PersistingL2();
  ~PersistingL2();
  PersistingL2(const PersistingL2&) = delete;
  PersistingL2& operator=(const PersistingL2&) = delete;
};

}  // namespace pgtune::gpu
