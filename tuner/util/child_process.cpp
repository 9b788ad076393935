// SPDX-License-Identifier: MIT
#include "tuner/util/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

namespace pgtune {
namespace {

constexpr std::size_t kErrorTailBytes = 4096;
constexpr std::size_t kReadBytes = 64U << 10U;
constexpr int kReadsPerPump = 16;
/// Between closing its output and exiting, a child unmaps the GPU, which takes a while.
constexpr std::chrono::milliseconds kExitPatience{3000};
/// A killed child can hang in the driver for some seconds; after that it is left to init.
constexpr std::chrono::milliseconds kKillPatience{10000};

/// poll(2) counts milliseconds in an int; callers loop.
constexpr std::chrono::milliseconds kLongestWait{60'000};

struct Pipe {
  FileDescriptor read, write;
};

/// If pgtune was started without standard descriptors, a pipe could get their numbers and be overwritten in the child.
FileDescriptor above_standard(int fd) {
  FileDescriptor given(fd);
  return fd > STDERR_FILENO ? std::move(given) : FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{above_standard(ends[0]), above_standard(ends[1])};
}

/// A socket pair and not a pipe, because MSG_NOSIGNAL prevents SIGPIPE when writing to a dead child.
std::optional<Pipe> make_input_pipe() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  return Pipe{above_standard(ends[0]), above_standard(ends[1])};
}

void set_nonblocking(const FileDescriptor& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

/// Runs in the child between fork and exec: async-signal-safe calls only. Reports errno through `failure`.
[[noreturn]] void become(char* const* arguments, pid_t parent, int input, int output, int errors, int failure) {
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  // Crashes are expected here; writing the core of a process with a CUDA context takes seconds.
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before prctl
  if (::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(errors, STDERR_FILENO) >= 0)
    ::execv(arguments[0], arguments);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

tl::unexpected<Error> cannot_start(const std::string& path, int error) {
  return fail(ErrorKind::kEnvironment, fmt::format("cannot start {}: {}", path, std::strerror(error)));
}

/// True while there may be more to read; closes `fd` at its end.
bool read_some(FileDescriptor& fd, std::string& into) {
  const std::size_t before = into.size();
  into.resize(before + kReadBytes);
  const ssize_t count = ::read(fd.get(), into.data() + before, kReadBytes);
  const int error = errno;
  into.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count > 0) return true;
  if (count < 0 && error == EINTR) return true;
  if (count == 0 || error != EAGAIN) fd.close();
  return false;
}

std::string signal_text(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("killed by signal {} (SIG{})", signal, name)
                         : fmt::format("killed by signal {}", signal);
}

}  // namespace

bool wait_ready(std::vector<pollfd>& fds, SteadyClock::time_point until) {
  // Rounded up: waking just before the deadline would cause a busy loop.
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now()).count();
  const int timeout_ms = static_cast<int>(std::clamp<std::int64_t>(wait, 0, kLongestWait.count()));
  return ::poll(fds.data(), fds.size(), timeout_ms) >= 0 || errno != EINTR;
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& command,
                                                          std::size_t max_line_bytes) {
  auto input = make_input_pipe();
  auto output = make_pipe();
  auto errors = make_pipe();
  auto failure = make_pipe();
  if (!input || !output || !errors || !failure) return cannot_start(command.at(0), errno);

  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return cannot_start(command[0], errno);
  if (pid == 0)
    become(arguments.data(), parent, input->read.get(), output->write.get(), errors->write.get(), failure->write.get());

  failure->write.close();
  int exec_error = 0;
  ssize_t count = 0;
  do {
    count = ::read(failure->read.get(), &exec_error, sizeof exec_error);  // closed by exec: nothing to read
  } while (count < 0 && errno == EINTR);
  set_nonblocking(output->read);
  set_nonblocking(errors->read);
  std::unique_ptr<ChildProcess> child(
      new ChildProcess(pid, std::move(input->write), std::move(output->read), std::move(errors->read), max_line_bytes));
  if (count > 0) return cannot_start(command[0], exec_error);
  return child;
}

ChildProcess::ChildProcess(pid_t pid, FileDescriptor input, FileDescriptor output, FileDescriptor errors,
                           std::size_t max_line_bytes)
    : pid_(pid),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)),
      max_line_bytes_(max_line_bytes) {}

ChildProcess::~ChildProcess() {
  kill();
  reap(kKillPatience);
}

void ChildProcess::send(std::string_view bytes) {
  if (!input_.is_open()) return;
  unsent_ += bytes;
  flush_input();
}

void ChildProcess::flush_input() {
  while (sent_ < unsent_.size()) {
    const ssize_t count =
        ::send(input_.get(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      input_.close();  // the child is gone; the end of its output tells the rest
      break;
    }
  }
  unsent_.clear();
  sent_ = 0;
}

void ChildProcess::pump() {
  if (input_.is_open()) flush_input();
  if (output_.is_open()) read_output();
  if (errors_.is_open()) read_errors();
}

void ChildProcess::read_output() {
  while (!overflowed_ && read_some(output_, received_)) overflowed_ = received_.size() - taken_ > max_line_bytes_;
}

void ChildProcess::read_errors() {
  // A child that writes endlessly must not keep its parent here.
  for (int reads = 0; reads < kReadsPerPump && read_some(errors_, error_tail_); ++reads) {
    if (error_tail_.size() > kErrorTailBytes) error_tail_.erase(0, error_tail_.size() - kErrorTailBytes);
  }
}

void ChildProcess::add_poll_fds(std::vector<pollfd>& fds) const {
  if (input_.is_open() && sent_ < unsent_.size()) fds.push_back({input_.get(), POLLOUT, 0});
  if (output_.is_open() && !overflowed_) fds.push_back({output_.get(), POLLIN, 0});
  if (errors_.is_open()) fds.push_back({errors_.get(), POLLIN, 0});
}

std::optional<std::string> ChildProcess::next_line() {
  scanned_ = std::max(scanned_, taken_);
  const std::size_t newline = received_.find('\n', scanned_);
  scanned_ = newline == std::string::npos ? received_.size() : newline + 1;
  if (newline == std::string::npos) {
    received_.erase(0, taken_);
    scanned_ -= taken_;
    taken_ = 0;
    return std::nullopt;
  }
  std::string line = received_.substr(taken_, newline - taken_);
  taken_ = newline + 1;
  return line;
}

void ChildProcess::kill() {
  if (status_) return;
  killed_ = true;
  ::kill(pid_, SIGKILL);
}

bool ChildProcess::reap(std::chrono::milliseconds patience) {
  const auto deadline = SteadyClock::now() + patience;
  while (!status_) {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_) {
      status_ = status;
    } else if ((got < 0 && errno != EINTR) || SteadyClock::now() >= deadline) {
      return false;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return true;
}

std::string ChildProcess::death_reason() {
  if (!reap(kExitPatience)) {
    kill();
    if (!reap(kKillPatience)) return "did not end when killed";
    return "closed its output without exiting";
  }
  if (errors_.is_open()) read_errors();
  const std::string line = telling_error_line();
  std::string reason =
      WIFSIGNALED(*status_) ? signal_text(WTERMSIG(*status_)) : fmt::format("exited with {}", WEXITSTATUS(*status_));
  if (!line.empty()) reason += ": " + line;
  return reason;
}

bool ChildProcess::succeeded() const { return status_ && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0; }

bool ChildProcess::killed_from_outside() const {
  if (killed_ || !status_ || !WIFSIGNALED(*status_)) return false;
  constexpr std::array kSentByOthers{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  const int signal = WTERMSIG(*status_);
  return std::any_of(kSentByOthers.begin(), kSentByOthers.end(), [signal](int other) { return other == signal; });
}

std::string ChildProcess::telling_error_line() const {
  constexpr std::string_view kBlank = " \t\r\n";
  // A compiler's first error, because its last lines only point at the source.
  std::size_t at = error_tail_.find(" error: ");
  if (at == std::string::npos) at = error_tail_.find_last_not_of(kBlank);
  if (at == std::string::npos) return {};
  const std::size_t newline = error_tail_.find_last_of('\n', at);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  const std::string line = error_tail_.substr(begin, error_tail_.find('\n', at) - begin);
  return line.substr(0, line.find_last_not_of(kBlank) + 1);
}

std::string run_to_end(ChildProcess& child, SteadyClock::time_point until,
                       const std::function<void(const std::string&)>& on_line, const std::atomic<bool>* stop) {
  while (!child.ended()) {
    if ((stop != nullptr && *stop) || child.overflowed() || SteadyClock::now() >= until) {
      ::kill(-child.pid(), SIGKILL);  // its group: the programs, too, that it started
      break;
    }
    std::vector<pollfd> fds;
    child.add_poll_fds(fds);
    // A signal, or a second without output, only causes another poll.
    static_cast<void>(wait_ready(fds, std::min(until, SteadyClock::now() + std::chrono::seconds(1))));
    child.pump();
    while (const auto line = child.next_line()) {
      if (on_line) on_line(*line);
    }
  }
  return child.death_reason();
}

Result<std::string> wait_for_line(ChildProcess& child, const std::string& who, std::chrono::seconds patience) {
  const auto failure = [&](const std::string& how) {
    return fail(ErrorKind::kEnvironment, fmt::format("{} {}", who, how));
  };
  const SteadyClock::time_point until = SteadyClock::now() + patience;
  for (;;) {
    child.pump();
    if (auto line = child.next_line()) return std::move(*line);
    if (child.overflowed()) return failure("does not end its answer");
    if (child.ended()) return failure(child.death_reason());
    if (SteadyClock::now() >= until) return failure(fmt::format("gave no answer within {} s", patience.count()));
    std::vector<pollfd> fds;
    child.add_poll_fds(fds);
    // A signal only causes another poll; the wait ends after `patience`.
    static_cast<void>(wait_ready(fds, until));
  }
}

}  // namespace pgtune
