// SPDX-License-Identifier: MIT
#include "tool/pgtune/page/browser.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {

void open_in_browser(const std::filesystem::path& file) {
  const char* const chosen = std::getenv("BROWSER");
  const std::string program = chosen != nullptr && *chosen != '\0' ? chosen : "xdg-open";
  std::string path = std::filesystem::absolute(file).string(), name = program;
  char* const arguments[] = {name.data(), path.data(), nullptr};
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  // In a session of its own, so that it outlives the terminal, and silent.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw CommandError(ErrorKind::kEnvironment,
                       fmt::format("no browser can be started here ('{}' cannot be run). The page is written: open {} "
                                   "in one, or set BROWSER.",
                                   program, path));
}

}  // namespace pgtune::tool
