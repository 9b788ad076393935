// SPDX-License-Identifier: MIT
// `pgtune completion`: a completion script for the user's shell.
#include <optional>
#include <string>
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/completion_writer.hpp"

namespace pgtune::tool {
namespace {

class CompletionCommand final : public Command {
 public:
  std::string name() const override { return "completion"; }
  std::string description() const override { return "Print a completion script for your shell"; }
  std::string examples() const override {
    return "pgtune completion bash > ~/.local/share/bash-completion/completions/pgtune\n"
           "echo 'source <(pgtune completion zsh)' >> ~/.zshrc\n"
           "pgtune completion fish > ~/.config/fish/completions/pgtune.fish";
  }

  void add_options(CommandLine& app) override {
    root_ = app.parent();
    app.add_option("shell", shell_, "Your shell")
        .option_text("bash|zsh|fish")
        .required()
        .one_of({"bash", "zsh", "fish"});
  }

  ExitCode run(Context& context) override {
    const Shell shell = shell_ == "bash" ? Shell::kBash : shell_ == "zsh" ? Shell::kZsh : Shell::kFish;
    context.terminal().print(write_completion(*root_, shell));
    return ExitCode::kDone;
  }

 private:
  std::optional<CommandLine> root_;
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace pgtune::tool
