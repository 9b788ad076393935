// SPDX-License-Identifier: MIT
#include "tests/gpu/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace pgtune::gpu {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  return ends;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto input = make_pipe(), output = make_pipe(), errors = make_pipe();
  std::vector<std::string> command{PGTUNE_WORKER_PATH};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);

  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  for (const int fd : {input[0], output[1], errors[1]}) ::close(fd);
  input_ = input[1];
  output_ = output[0];
  errors_ = errors[0];
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_input();
  ::close(output_);
  ::close(errors_);
}

bool WorkerProcess::send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::write(input_, bytes.data() + sent, bytes.size() - sent);
    if (count < 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

void WorkerProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void WorkerProcess::await_idle() const {
  const std::string file = "/proc/" + std::to_string(pid_) + "/status";
  const auto idle = [&] {
    int unread = 0;
    if (input_ >= 0 && ::ioctl(input_, FIONREAD, &unread) != 0) unread = 0;
    std::ifstream status(file);
    std::string state, pending;
    for (std::string name, rest; status >> name; std::getline(status, rest)) {
      if (name == "State:") status >> state;
      if (name == "ShdPnd:") status >> pending;
    }
    return state == "Z" || (state == "S" && unread == 0 && pending.find_first_not_of('0') == std::string::npos);
  };
  while (!idle()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::optional<std::string> WorkerProcess::read_line() {
  while (true) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(output_, chunk.data(), chunk.size());
    if (count <= 0) return std::nullopt;
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

std::string WorkerProcess::read_errors() {
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t count = 0; (count = ::read(errors_, chunk.data(), chunk.size())) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(count));
  return text;
}

int WorkerProcess::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace pgtune::gpu
