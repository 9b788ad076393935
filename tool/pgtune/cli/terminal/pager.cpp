// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/pager.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

namespace pgtune::tool {
namespace {

/// This process's environment, with LESS=FRX where there is no LESS.
std::vector<char*> pager_environment(const Environment& environment, std::string& less) {
  std::vector<char*> out;
  for (char** entry = environ; *entry != nullptr; ++entry) out.push_back(*entry);
  if (!environment("LESS")) out.push_back(less.data());
  out.push_back(nullptr);
  return out;
}

/// Runs a shell's command with `input` as its standard input; 0 where it cannot be started.
pid_t start(const std::string& command, int input, const Environment& environment) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGPIPE}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  std::string shell = "sh", option = "-c", words = command, less = "LESS=FRX";
  const std::array<char*, 4> arguments{shell.data(), option.data(), words.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(),
                                 pager_environment(environment, less).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed == 0 ? child : 0;
}

/// Whether the shell finds a program, so that output is not lost to one that is not there.
bool is_installed(const std::string& program, const Environment& environment) {
  std::string path = environment("PATH").value_or("/usr/bin:/bin");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (access((path.substr(begin, end - begin) + "/" + program).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

Pager::Pager(const Terminal& terminal) {
  if (!terminal.output_is_terminal()) return;
  const Environment& environment = terminal.environment();
  if (environment("TERM").value_or("dumb") == "dumb") return;
  const std::string command = environment("PAGER").value_or(is_installed("less", environment) ? "less" : "");
  if (command.empty() || command == "cat") return;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  pager_ = start(command, ends[0], environment);
  close(ends[0]);
  if (pager_ != 0) {
    std::fflush(stdout);
    terminal_fd_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    dup2(ends[1], STDOUT_FILENO);
    std::signal(SIGINT, SIG_IGN);
  }
  close(ends[1]);
}

Pager::~Pager() {
  if (pager_ == 0) return;
  std::fflush(stdout);
  dup2(terminal_fd_, STDOUT_FILENO);  // the pipe's last end: the pager sees the end of its input
  close(terminal_fd_);
  while (waitpid(pager_, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace pgtune::tool
