// SPDX-License-Identifier: MIT
// What every function of the fake NVML does first: as its state says, wait, or fail.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "tests/nvml/fake_state.hpp"

namespace pgtune::gpu::test {

/// `action`'s status, or the one that the state has for the function.
template <typename Action>
int answer(const std::string& function, const Action& action) {
  const FakeState state = FakeState::from_environment();
  while (!state.find({"hold", function}).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto scripted = state.find({"status", function});
  if (scripted.empty()) return action();
  const Words& words = scripted.front();
  if (words.size() > 1) {
    state.remove({"status", function});
    if (const long long left = std::stoll(words[1]) - 1; left > 0)
      state.add("status " + function + " " + words[0] + " " + std::to_string(left));
  }
  return std::stoi(words[0]);
}

}  // namespace pgtune::gpu::test
