// SPDX-License-Identifier: MIT
#include "bench/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

extern char** environ;

namespace pgtune::bench {
namespace {

/// Parent of each process, from /proc/PID/stat.
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t end = text.rfind(')');  // the command's name may hold blanks and parentheses
    if (end == std::string::npos || end + 4 >= text.size()) continue;
    result[std::stoi(name)] = std::stoi(text.substr(end + 4));
  }
  return result;
}

std::int64_t pss_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/smaps_rollup");
  std::string word;
  while (file >> word) {
    if (word != "Pss:") continue;
    std::int64_t kib = 0;
    file >> kib;
    return kib << 10;
  }
  return 0;
}

}  // namespace

Run run(const std::vector<std::string>& arguments) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers;
  for (std::string& argument : copies) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int status = posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) throw std::runtime_error("cannot run " + arguments.front() + ": " + std::strerror(status));
  int exit_status = 0;
  while (waitpid(child, &exit_status, 0) < 0 && errno == EINTR) {
  }
  Run result;
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.exit_code = WIFEXITED(exit_status) ? WEXITSTATUS(exit_status) : 128 + WTERMSIG(exit_status);
  return result;
}

std::int64_t descendants_pss_bytes() {
  const std::map<pid_t, pid_t> tree = parents();
  std::int64_t sum = 0;
  for (const auto& [process, parent] : tree) {
    for (pid_t ancestor = parent; ancestor > 1;) {
      if (ancestor == getpid()) {
        sum += pss_bytes(process);
        break;
      }
      const auto next = tree.find(ancestor);
      ancestor = next == tree.end() ? 0 : next->second;
    }
  }
  return sum;
}

}  // namespace pgtune::bench
