// SPDX-License-Identifier: MIT
// `pgtune man`: the manual page, as it is installed.
#include <optional>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/man_writer.hpp"

namespace pgtune::tool {
namespace {

class ManCommand final : public Command {
 public:
  std::string name() const override { return "man"; }
  std::string description() const override { return "Print the manual page, for man and mandoc"; }
  std::string examples() const override {
    return "pgtune man | man -l -\n"
           "pgtune man > ~/.local/share/man/man1/pgtune.1";
  }
  void add_options(CommandLine& app) override { root_ = app.parent(); }
  ExitCode run(Context& context) override {
    context.terminal().print(write_man_page(*root_));
    return ExitCode::kDone;
  }

 private:
  std::optional<CommandLine> root_;
};

}  // namespace

std::unique_ptr<Command> make_man_command() { return std::make_unique<ManCommand>(); }

}  // namespace pgtune::tool
