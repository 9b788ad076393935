// SPDX-License-Identifier: MIT
// Threads that do not receive the process's signals.
#pragma once

#include <functional>
#include <thread>

namespace pgtune {

/// Starts a thread with every signal blocked, so that signals interrupt the waits of other threads.
[[nodiscard]] std::thread start_without_signals(const std::function<void()>& body);

}  // namespace pgtune
