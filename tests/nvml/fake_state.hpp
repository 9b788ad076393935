// SPDX-License-Identifier: MIT
// The state of the pretended GPU: a text file that the fake library's processes and the tests share. It is named by
// PGTUNE_FAKE_NVML_STATE, which the test makes; without it the GPU is as below and nothing is remembered.
//
// One setting a line, words between blanks; what is missing has the value given here.
//   sm_mhz 345             the SM clock while nothing is locked
//   locked_mhz             absent: not locked. Written by the fake itself
//   shows_lock 1           0: the SM clock does not follow the lock
//   clocks 345 1980 15     lowest and highest supported SM clock, and the step between two
//   temperature 41         degrees
//   power_limit_mw 650500  enforced
//   mig_mode 0             1: divided into instances
//   energy_mj 5000         the counter; energy_period_ms 0: when not 0 it moves by 1000 every so many ms
//   field ID VALUE         a field of nvmlDeviceGetFieldValues; those that are not named are not supported
//   process PID BYTES      a process on the GPU, any number of them; BYTES -1: not available
//   status FUNCTION CODE [TIMES]   what a function returns instead of doing anything; TIMES: so often only
//   hold FUNCTION          a function waits, before it does anything, until this line is removed
// A line "called PID FUNCTION ARGUMENTS" is added for each call that would change the GPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pgtune::gpu::test {

using Words = std::vector<std::string>;

class FakeState {
 public:
  explicit FakeState(std::string path) : path_(std::move(path)) {}
  /// That of PGTUNE_FAKE_NVML_STATE.
  [[nodiscard]] static FakeState from_environment();

  /// Lines that begin with these words, without them.
  [[nodiscard]] std::vector<Words> find(const Words& beginning) const;
  /// The number after the word, else `otherwise`.
  [[nodiscard]] long long number(const std::string& word, long long otherwise) const;
  void add(const std::string& line) const;
  void remove(const Words& beginning) const;
  /// remove() and add() at once.
  void replace(const Words& beginning, const std::string& line) const;

  /// For tests: MHz, while locked.
  [[nodiscard]] std::optional<long long> locked_mhz() const;
  /// For tests: "nvmlDeviceSetGpuLockedClocks 1485 1485", in order, without the process.
  [[nodiscard]] std::vector<std::string> calls() const;

 private:
  /// Reads all lines, lets `change` change them, and writes them where it returns true; nobody else does meanwhile.
  void with_lines(const std::function<bool(std::vector<Words>&)>& change) const;

  std::string path_;
};

}  // namespace pgtune::gpu::test
