// SPDX-License-Identifier: MIT
#include "tuner/util/quiet_thread.hpp"

#include <csignal>

namespace pgtune {

std::thread start_without_signals(const std::function<void()>& body) {
  // Inherited from here: blocked from its first instruction on.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(body);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace pgtune
