// SPDX-License-Identifier: MIT
// pgtune-worker: everything of pgtune that touches CUDA, as a child process that may crash, hang or be killed.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tool/worker/line_channel.hpp"
#include "tool/worker/options.hpp"
#include "tool/worker/roles.hpp"
#include "tuner/protocol/codec.hpp"
#include "tuner/util/file_descriptor.hpp"

namespace pgtune::worker {
namespace {

// As pgtune's own exit codes.
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr int kExitEnvironment = 3;

tl::unexpected<Error> system_failure(std::string_view action) {
  return fail(ErrorKind::kEnvironment, fmt::format("cannot {}: {}", action, std::generic_category().message(errno)));
}

/// Moves standard output to a private descriptor, which it returns, and points descriptor 1 at standard error: nothing
/// a library prints can then get between the replies. Call before any library does.
Result<int> take_over_stdout() {
  const int replies = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (replies < 0) return system_failure("duplicate standard output");
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return system_failure("redirect standard output to standard error");
  return replies;
}

/// The file of requests, or nothing open where `path` is empty. Errors (environment): it cannot be read.
Result<FileDescriptor> open_input(const std::string& path) {
  if (path.empty()) return FileDescriptor();
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return system_failure("read the requests in " + path);
  return file;
}

/// Dies with the parent (SIGKILL, also in the middle of a compile or a kernel) and leaves Ctrl-C to it: a terminal
/// sends SIGINT to the whole process group, and the parent may want to finish what is in flight. Errors (environment):
/// the parent is gone already, or the kernel refuses.
Result<void> tie_to_parent() {
  const pid_t parent = ::getppid();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return system_failure("ask for a signal at the parent's end");
  // A parent that died before the call above sends no signal. One that died before getppid() shows as end of input.
  if (::getppid() != parent) return fail(ErrorKind::kEnvironment, "the parent process has ended");
  if (::signal(SIGINT, SIG_IGN) == SIG_ERR) return system_failure("ignore SIGINT");
  return {};
}

Result<void> run(const std::vector<std::string>& arguments) {
  const RoomRoles of_rooms = rooms();
  std::vector<std::string> room_roles;
  for (const auto& [name, serve_role] : of_rooms) room_roles.push_back(name);
  const Result<WorkerOptions> options = parse_options(arguments, room_roles);
  if (!options) return tl::unexpected(options.error());
  if (options->role == Role::kHelp) {
    fmt::print("{}", kUsage);
    return {};
  }
  const Result<int> replies = take_over_stdout();
  if (!replies) return tl::unexpected(replies.error());
  const Result<FileDescriptor> input = open_input(options->input);
  if (!input) return tl::unexpected(input.error());
  LineChannel channel(input->is_open() ? input->get() : STDIN_FILENO, *replies, protocol::kMaxLineBytes);
  // The guard has to outlive its parent; every other role ends with it.
  if (options->role == Role::kGuard)
    return options->restore ? restore_clocks(*options, channel) : guard_clocks(*options, channel);
  if (options->role == Role::kList) return channel.write_line(list_gpus_line());
  if (options->role == Role::kLimits) return channel.write_line(limits_line(options->gpu));
  if (options->role == Role::kProcesses) return channel.write_line(processes_line(options->gpu));

  // A file of requests ends by itself, and a profiler in between may start this process from a thread that ends first.
  if (!input->is_open()) {
    if (auto tied = tie_to_parent(); !tied) return tied;
  }
  if (options->role == Role::kDoctor) return channel.write_line(doctor_line(options->gpu));
  if (options->role == Role::kConsumer) return serve_consumer(*options, channel);
  if (options->role == Role::kOfRoom) return of_rooms.at(options->role_name)(*options, channel);
  if (options->role == Role::kMeasure) return serve_measure(*options, channel);
  return serve_compile(*options, channel);
}

int exit_code(ErrorKind kind) {
  if (kind == ErrorKind::kUsage) return kExitUsage;
  return kind == ErrorKind::kEnvironment ? kExitEnvironment : kExitFailure;
}

}  // namespace
}  // namespace pgtune::worker

int main(int argc, char** argv) try {
  const pgtune::Result<void> result = pgtune::worker::run({argv + 1, argv + argc});
  if (result) return 0;
  fmt::print(stderr, "pgtune-worker: {}\n", result.error().text());
  return pgtune::worker::exit_code(result.error().kind);
} catch (const std::exception& exception) {
  std::fprintf(stderr, "pgtune-worker: %s\n", exception.what());
  return pgtune::worker::kExitFailure;
}
