// SPDX-License-Identifier: MIT
// What pgtune and every exported header know alike of losses.
#pragma once

namespace pgtune_export {

/// Limits::largest_loss unless a program says otherwise: what a family may lose at most, by its aims.
constexpr double kLargestLoss = 0.05;

}  // namespace pgtune_export
