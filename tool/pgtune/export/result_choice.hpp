// SPDX-License-Identifier: MIT
// Which of the stored results an export takes.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// A result measured here beats a recorded one, then the newer wins: newer is who has the higher session number,
/// because a clock may have been set back.
[[nodiscard]] bool is_better(const StoredResult& a, const StoredResult& b);

/// Whether what was tuned on one GPU counts for the other in an export: their device_class() is the same but for the
/// driver's branch, which a kernel outlives.
[[nodiscard]] bool same_device_class(const DeviceInfo& a, const DeviceInfo& b);

/// The best result of each problem on each class of device, in the order given.
[[nodiscard]] std::vector<StoredResult> best_of_each_problem(const std::vector<StoredResult>& results);

/// Takes out the results of classes that a program cannot tell from another one here, because the CUDA driver says
/// nothing of power limits: the class of the best result stays. Returns a sentence for each class that went.
[[nodiscard]] std::vector<std::string> drop_look_alikes(std::vector<StoredResult>& results);

}  // namespace pgtune::tool
