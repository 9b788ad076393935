// SPDX-License-Identifier: MIT
#include "tests/tool/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace pgtune::tool::test {
namespace {

struct Ends {
  int read = -1, write = -1;
};

void require(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

Ends make_pipe() {
  std::array<int, 2> ends{};
  require(pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
  return {ends[0], ends[1]};
}

Ends make_terminal(unsigned short columns) {
  Ends ends;
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 24;
  require(openpty(&ends.read, &ends.write, nullptr, nullptr, &size) == 0, "openpty");
  fcntl(ends.read, F_SETFD, FD_CLOEXEC);
  fcntl(ends.write, F_SETFD, FD_CLOEXEC);
  return ends;
}

void limit(int resource, long value) {
  if (value < 0) return;
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

[[noreturn]] void become(const Launch& launch, char** arguments, char** environment, int out, int err) {
  limit(RLIMIT_FSIZE, launch.file_size_limit);
  if (launch.file_size_limit >= 0) std::signal(SIGXFSZ, SIG_IGN);  // a write beyond fails, as on a full disk
  // Opened before: nobody may not reach the program where root keeps it, such as below /root.
  const int program = open(launch.program, O_RDONLY | O_CLOEXEC);
  constexpr id_t kNobody = 65534;
  if (launch.unprivileged && geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(127);
  const int in = open("/dev/null", O_RDONLY);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  limit(RLIMIT_NPROC, launch.process_limit);
  limit(RLIMIT_NOFILE, launch.descriptor_limit);
  fexecve(program, arguments, environment);
  _exit(127);
}

/// Appends what is there; false at the end. A terminal whose other side closed reads as EIO.
bool drain(int fd, std::string& into) {
  std::array<char, 4096> chunk{};
  const ssize_t count = read(fd, chunk.data(), chunk.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  into.append(chunk.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace

Process::Process(const Launch& launch) {
  std::vector<std::string> words{"pgtune"};
  words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
  std::vector<std::string> settings;
  for (const auto& [name, value] : launch.environment) settings.emplace_back(name).append("=").append(value);
  for (char** own = environ; *own != nullptr; ++own) {
    if (std::string_view(*own).starts_with("PGTUNE_MUTANT")) settings.emplace_back(*own);  // of scripts/mutate
  }
  std::vector<char*> arguments, environment;
  for (std::string& word : words) arguments.push_back(word.data());
  for (std::string& setting : settings) environment.push_back(setting.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);

  Ends out = launch.output_columns > 0 ? make_terminal(launch.output_columns) : make_pipe();
  const Ends err = launch.terminal ? make_terminal(80) : make_pipe();
  if (!launch.output_file.empty()) {
    close(out.write);
    out.write = open(launch.output_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    require(out.write >= 0, "open");
  }
  pid_ = fork();
  require(pid_ >= 0, "fork");
  if (pid_ == 0) become(launch, arguments.data(), environment.data(), out.write, err.write);
  close(out.write);
  close(err.write);
  out_ = out.read;
  err_ = err.read;
}

Process::~Process() {
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

void Process::signal(int number) const { kill(pid_, number); }

bool Process::has_ended() const {
  siginfo_t ended{};
  return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid_;
}

bool Process::await_message(const std::string& text) {
  while (messages_.find(text) == std::string::npos) {
    if (!drain(err_, messages_)) return false;
  }
  return true;
}

Finished Process::wait() {
  Finished finished;
  finished.err = messages_;
  std::array<pollfd, 2> fds{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
    if (fds[0].revents != 0 && !drain(out_, finished.out)) fds[0].fd = -1;
    if (fds[1].revents != 0 && !drain(err_, finished.err)) fds[1].fd = -1;
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

Finished run(const Launch& launch) { return Process(launch).wait(); }

std::string why_no_terminal() {
  try {
    const Ends ends = make_terminal(80);
    close(ends.read);
    close(ends.write);
    return {};
  } catch (const std::system_error& error) {
    return std::string("there is no pseudo-terminal here: ") + error.what();
  }
}

}  // namespace pgtune::tool::test
