// SPDX-License-Identifier: MIT
// For a child that has to outlive its parent by a moment: notices the parent's end, and what asks this process to end,
// without dying of either.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "tuner/util/file_descriptor.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::worker {

class ParentWatch {
 public:
  /// Takes this process out of the parent's session where the kernel lets it (the leader of a process group, which
  /// pgtune makes its children, stays: its group gets no Ctrl-C either), keeps the kernel from killing it with the
  /// parent, and takes over SIGINT, SIGTERM, SIGHUP and SIGQUIT. Call once, before anything that must be undone.
  /// Errors (environment): the kernel refuses.
  [[nodiscard]] static Result<ParentWatch> start();

  /// Waits until it is time to end, or for `patience` (without one: for ever); true when it is time. That is the end of
  /// standard input, which comes with the parent's however it ends; SIGTERM, SIGHUP or SIGQUIT; and SIGINT, but only
  /// once the parent is gone: a Ctrl-C is the parent's to answer.
  [[nodiscard]] bool wait(std::optional<std::chrono::milliseconds> patience);

 private:
  ParentWatch(FileDescriptor signals, pid_t parent) : signals_(std::move(signals)), parent_(parent) {}
  [[nodiscard]] bool input_ended();
  [[nodiscard]] bool told_to_end();

  FileDescriptor signals_;  ///< signalfd(2)
  pid_t parent_;
  bool ended_ = false;
};

}  // namespace pgtune::worker
