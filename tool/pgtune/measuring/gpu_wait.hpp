// SPDX-License-Identifier: MIT
// The lock of a GPU for a command, which tells its user who has it and may wait.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/measuring/gpu_lock.hpp"

namespace pgtune::tool {

/// Takes the lock of the GPU `uuid`, in messages `name`. Where another process has it, waits with `wait` until
/// `give_up` says that it is not worth it any more, which gives nothing; else throws CommandError (environment).
[[nodiscard]] std::optional<GpuLock> lock_gpu(Context& context, const std::string& uuid, const std::string& name,
                                              bool wait, const std::function<bool()>& give_up);

}  // namespace pgtune::tool
