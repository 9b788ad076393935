// SPDX-License-Identifier: MIT
// One child process with pipes for lines in both directions. The end of its standard error is kept as the reason of its
// death.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/file_descriptor.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

using SteadyClock = std::chrono::steady_clock;

/// Waits until one of `fds` is ready or `until` (at most a minute). False when a signal arrived first.
[[nodiscard]] bool wait_ready(std::vector<pollfd>& fds, SteadyClock::time_point until);

/// Only start (until exec), death_reason and the destructor (until the child is reaped, at most some seconds) block.
/// The child has its own process group, so that Ctrl-C at the terminal does not reach it. The kernel kills it when the
/// thread that started it ends, so start it from a thread that lives as long as the child is needed.
class ChildProcess {
 public:
  /// `command[0]` is a path; nothing is looked up in PATH. A line of output longer than `max_line_bytes` is an
  /// overflow. Errors (environment): no such program, no more processes or descriptors.
  [[nodiscard]] static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& command,
                                                                   std::size_t max_line_bytes);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Queues bytes for the child's standard input; pump() sends the part that the pipe does not accept now.
  void send(std::string_view bytes);
  /// Closes the child's standard input. Queued bytes are dropped.
  void close_input() { input_.close(); }
  /// Moves whatever can be moved now, both ways.
  void pump();
  /// Adds the descriptors that poll(2) should wait for before the next pump().
  void add_poll_fds(std::vector<pollfd>& fds) const;

  /// The next complete line of standard output without its newline, if there is one.
  [[nodiscard]] std::optional<std::string> next_line();
  /// Whether more than max_line_bytes wait for next_line(); nothing more is read then.
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  /// Standard output has ended: the child has exited or is about to.
  [[nodiscard]] bool ended() const { return !output_.is_open(); }

  void kill();
  /// Waits for the end of a child whose output has ended (killing it if it lingers) and returns its cause: "killed by
  /// signal 11 (SIGSEGV)", "exited with 3: <last line of standard error, or the first error of a compiler>".
  [[nodiscard]] std::string death_reason();
  /// Whether it exited with 0. Known after death_reason().
  [[nodiscard]] bool succeeded() const;
  /// Whether SIGKILL, SIGTERM, SIGINT, SIGHUP or SIGQUIT from outside ended the child, for example from the kernel's
  /// memory killer or a user. Known after death_reason().
  [[nodiscard]] bool killed_from_outside() const;
  /// True once a killed child is reaped; does not wait.
  [[nodiscard]] bool gone() { return reap(std::chrono::milliseconds(0)); }

 private:
  ChildProcess(pid_t pid, FileDescriptor input, FileDescriptor output, FileDescriptor errors,
               std::size_t max_line_bytes);

  void flush_input();
  void read_output();
  void read_errors();
  bool reap(std::chrono::milliseconds patience);
  [[nodiscard]] std::string telling_error_line() const;

  pid_t pid_;
  FileDescriptor input_, output_, errors_;
  std::size_t max_line_bytes_;
  std::string unsent_;
  std::size_t sent_ = 0;  ///< of unsent_
  std::string received_;
  std::size_t taken_ = 0;    ///< of received_: lines handed out
  std::size_t scanned_ = 0;  ///< of received_: searched for a newline
  std::string error_tail_;
  bool overflowed_ = false, killed_ = false;
  std::optional<int> status_;  ///< of waitpid, once reaped
};

/// Runs a child to its end, with its output handed on line by line, and returns death_reason(). At `until`, when `stop`
/// is set or where a line is too long, its process group is killed.
[[nodiscard]] std::string run_to_end(ChildProcess& child, SteadyClock::time_point until,
                                     const std::function<void(const std::string&)>& on_line = {},
                                     const std::atomic<bool>* stop = nullptr);

/// Waits for the child's next line. A signal to this process does not end the wait. Errors (environment), with the
/// child named `who`: it ended (with the cause), exceeded its limit without ending the line, or wrote nothing for
/// `patience`.
[[nodiscard]] Result<std::string> wait_for_line(ChildProcess& child, const std::string& who,
                                                std::chrono::seconds patience);

}  // namespace pgtune
