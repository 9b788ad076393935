// SPDX-License-Identifier: MIT
// One sub-command of pgtune: a class in an unnamed namespace of commands/<name>_command.cpp and a
// make_<name>_command(), with a line in commands.cpp.
#pragma once

#include <memory>
#include <string>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/context.hpp"

namespace pgtune::tool {

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  /// One line for the list of commands.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Shown indented under "Examples:" in the command's help: whole command lines, one per line, at most 78 columns.
  [[nodiscard]] virtual std::string examples() const = 0;

  /// Adds options (or sub-commands) to this command's `app`. Options bind to members of the command. Numbers are text
  /// that common_options.hpp parses, because CLI11 accepts some wrong ones.
  virtual void add_options(CommandLine& app) = 0;

  /// Runs after a successful parse. Throws CommandError or db::Error; prints data to standard output and everything
  /// else through context.terminal().
  [[nodiscard]] virtual ExitCode run(Context& context) = 0;
};

}  // namespace pgtune::tool
