// SPDX-License-Identifier: MIT
// What kernels gained under a program, from runs of it without and with them.
#pragma once

#include <string>
#include <vector>

#include "preload/program/ledgers.hpp"

namespace pgtune::tool {

struct Compared {
  std::vector<double> without_s, with_s;  ///< wall time of the program's runs; neither is empty
  RecordedGemms without, with;            ///< of one run that was traced, and of all that were served
};

enum class Gain { kFaster, kSlower, kNothing };
/// Faster or slower only if all runs of one side are faster than all of the other.
[[nodiscard]] Gain gain_of(const Compared& compared);

/// `tf32`: see preload::arithmetic_of().
[[nodiscard]] std::string compare_text(const Compared& compared, bool tf32);

}  // namespace pgtune::tool
