// SPDX-License-Identifier: MIT
// Runs the real pgtune as a child and keeps what it wrote, for tests of the command line.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace pgtune::tool::test {

struct Finished {
  int exit_code = -1;  ///< 128 + signal where a signal ended it
  std::string out, err;
};

struct Launch {
  const char* program = PGTUNE_PROGRAM;
  std::vector<std::string> arguments;              ///< after the program's name
  std::map<std::string, std::string> environment;  ///< all of it but what scripts/mutate sets
  bool terminal = false;                           ///< standard error is a pseudo-terminal of 80 columns
  unsigned short output_columns = 0;               ///< width of the terminal at standard output; 0: a pipe
  std::string output_file;                         ///< standard output goes here instead of Finished::out
  bool unprivileged = false;                       ///< as nobody where the tests run as root
  long file_size_limit = -1;                       ///< bytes a file may grow to (RLIMIT_FSIZE), -1: no limit
  long descriptor_limit = -1;                      ///< open files (RLIMIT_NOFILE), -1: as here
  long process_limit = -1;                         ///< processes of the user (RLIMIT_NPROC), -1: as here
};

class Process {
 public:
  explicit Process(const Launch& launch);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills the child where it still runs.
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Whether it has ended, though nothing has waited for it yet.
  [[nodiscard]] bool has_ended() const;
  /// Reads standard error until it has `text`; false where it ends without.
  [[nodiscard]] bool await_message(const std::string& text);
  /// Reads both streams to their ends and waits.
  [[nodiscard]] Finished wait();

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string messages_;  ///< read from err_ so far
};

[[nodiscard]] Finished run(const Launch& launch);

/// Why this system has no pseudo-terminal for Launch::terminal (a chroot may have none); empty where it has.
[[nodiscard]] std::string why_no_terminal();

}  // namespace pgtune::tool::test
