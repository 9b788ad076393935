// SPDX-License-Identifier: MIT
#include "preload/program/program_run.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace pgtune::tool {
namespace {

std::atomic<pid_t> running{0};

void pass_on(int signal) {
  if (const pid_t child = running.load(); child > 0) kill(child, signal);
}

/// What a signal does while the program runs; undone at the end.
class SignalAction {
 public:
  SignalAction(int signal, void (*action)(int)) : signal_(signal) {
    struct sigaction wanted {};
    wanted.sa_handler = action;
    wanted.sa_flags = SA_RESTART;
    sigaction(signal, &wanted, &before_);
  }
  SignalAction(const SignalAction&) = delete;
  SignalAction& operator=(const SignalAction&) = delete;
  ~SignalAction() { sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ {};
};

std::vector<std::string> with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!more.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<int> run_program(const std::vector<std::string>& command,
                        const std::map<std::string, std::string>& environment) {
  const SignalAction interrupt(SIGINT, SIG_IGN), quit(SIGQUIT, SIG_IGN), terminate(SIGTERM, pass_on),
      hang_up(SIGHUP, pass_on);
  std::vector<std::string> arguments = command, variables = with(environment);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) sigaddset(&usual, signal);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command.front().c_str(), nullptr, &attributes, pointers_to(arguments).data(),
                                  pointers_to(variables).data());
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    return fail(ErrorKind::kEnvironment, fmt::format("cannot run '{}': {}. Give a program, after '--'.",
                                                     command.front(), std::strerror(failed)));
  running = child;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  constexpr int kSignalled = 128;
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace pgtune::tool
