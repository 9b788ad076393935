// SPDX-License-Identifier: MIT
// Where the progress of one device's work is shown.
#pragma once

#include <chrono>

#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

/// How often a line on a terminal is redrawn, and how long a file may stay without one.
inline constexpr std::chrono::milliseconds kRedrawInterval{200};
inline constexpr std::chrono::seconds kSparseInterval{30};

class ProgressView {
 public:
  virtual ~ProgressView() = default;

  virtual void update(const session::Progress& progress) = 0;
  /// The problem is over: takes away what is shown of it.
  virtual void clear() = 0;
};

}  // namespace pgtune::tool
