// SPDX-License-Identifier: MIT
#include "tool/worker/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace pgtune::worker {
namespace {

tl::unexpected<Error> system_failure(std::string_view action) {
  return fail(ErrorKind::kEnvironment, fmt::format("cannot {}: {}", action, std::generic_category().message(errno)));
}

}  // namespace

Result<int> take_over_stdout() {
  const int replies = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (replies < 0) return system_failure("duplicate standard output");
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return system_failure("redirect standard output to standard error");
  return replies;
}

Result<FileDescriptor> open_input(const std::string& path) {
  if (path.empty()) return FileDescriptor();
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return system_failure("read the requests in " + path);
  return file;
}

Result<void> tie_to_parent() {
  const pid_t parent = ::getppid();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return system_failure("ask for a signal at the parent's end");
  // A parent that died before the call above sends no signal. One that died before getppid() shows as end of input.
  if (::getppid() != parent) return fail(ErrorKind::kEnvironment, "the parent process has ended");
  if (::signal(SIGINT, SIG_IGN) == SIG_ERR) return system_failure("ignore SIGINT");
  return {};
}

}  // namespace pgtune::worker
