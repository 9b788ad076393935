// SPDX-License-Identifier: MIT
// A pgtune-worker under test, spoken to over raw pipes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace pgtune::gpu {

class WorkerProcess {
 public:
  explicit WorkerProcess(const std::vector<std::string>& arguments);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// False when the worker does not read any more.
  bool send(const std::string& bytes);
  void close_input();
  /// Returns when the worker has read all that was sent, has taken every signal, and waits or has ended.
  void await_idle() const;
  /// The next line of standard output; nothing at its end.
  [[nodiscard]] std::optional<std::string> read_line();
  /// All of standard error; call once the worker has ended or is about to.
  [[nodiscard]] std::string read_errors();
  /// Waits for the end; the exit status, or minus the signal's number.
  [[nodiscard]] int wait();

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, errors_ = -1;
  std::string buffer_;
};

}  // namespace pgtune::gpu
