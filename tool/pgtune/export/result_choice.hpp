// SPDX-License-Identifier: MIT
// Chooses the stored results for an export.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// A result measured here wins over a recorded one; then the newer wins, by session number, because a clock may have
/// been set back.
[[nodiscard]] bool is_better(const StoredResult& a, const StoredResult& b);

/// Whether results of one GPU count for the other in an export: their device_class() may differ only in the driver's
/// branch, as kernels work with later drivers.
[[nodiscard]] bool same_device_class(const DeviceInfo& a, const DeviceInfo& b);

/// The best result of each problem on each class of device, in the order given.
[[nodiscard]] std::vector<StoredResult> best_of_each_problem(const std::vector<StoredResult>& results);

/// Removes the results of classes that a program cannot distinguish from another one here, because the CUDA driver does
/// not report power limits. The class of the best result stays. Returns a sentence for each removed class.
[[nodiscard]] std::vector<std::string> drop_look_alikes(std::vector<StoredResult>& results);

}  // namespace pgtune::tool
