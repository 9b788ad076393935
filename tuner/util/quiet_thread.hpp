// SPDX-License-Identifier: MIT
// Threads that leave the process' signals to others.
#pragma once

#include <functional>
#include <thread>

namespace pgtune {

/// A thread with every signal blocked: signals go to the threads whose waits they are to end.
[[nodiscard]] std::thread start_without_signals(const std::function<void()>& body);

}  // namespace pgtune
