// SPDX-License-Identifier: MIT
// `pgtune completion`: a completion script for the user's shell.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_line.hpp"
#include "tuner/model/dtype.hpp"

namespace pgtune::tool {
namespace {

enum class Shell { kBash, kZsh, kFish };

/// One command by its path ("db check"), with its options and sub-commands.
struct Node {
  std::string path;
  std::vector<const CLI::App*> commands;
  std::vector<const CLI::Option*> options;
};

void collect(const CLI::App& app, const std::string& path, std::vector<Node>& nodes) {
  Node node{path, {}, app.get_options()};
  const auto named = app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
  node.commands.assign(named.begin(), named.end());
  nodes.push_back(node);
  for (const CLI::App* command : named)
    collect(*command, path.empty() ? command->get_name() : fmt::format("{} {}", path, command->get_name()), nodes);
}

/// The completions for an option's value.
struct Value {
  bool file = false;
  std::vector<std::string> words = {};
  friend auto operator<=>(const Value&, const Value&) = default;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// From its list of allowed values, or from the placeholder in the help, such as FILE or TYPE. Nothing for a flag, and
/// for an option with an optional value.
std::optional<Value> value_of(const CLI::Option& option) {
  if (option.get_expected_min() < 1) return std::nullopt;
  const std::string text = option.get_option_text(), checked = option.get_type_name();
  if (text.find("FILE") != std::string::npos || text.find("FOLDER") != std::string::npos) return Value{true};
  const std::size_t set = checked.find('{'), end = checked.find('}');
  if (set != std::string::npos && end != std::string::npos)
    return Value{false, split(checked.substr(set + 1, end - set - 1), ',')};
  if (text == "XX") return Value{false, {"nn", "nt", "tn", "tt"}};
  Value value;
  if (text == "TYPE") {
    for (const Dtype dtype : all_dtypes()) value.words.emplace_back(to_string(dtype));
  }
  return value;
}

std::vector<std::string> words(const Node& node) {
  std::vector<std::string> result;
  for (const CLI::App* command : node.commands) result.push_back(command->get_name());
  for (const CLI::Option* option : node.options) {
    if (const auto value = option->nonpositional() ? std::nullopt : value_of(*option))
      result.insert(result.end(), value->words.begin(), value->words.end());
    for (const std::string& name : option->get_lnames()) result.push_back(fmt::format("--{}", name));
  }
  return result;
}

/// The branches of a shell's case for the word before the one being typed.
std::string value_cases(const Node& node) {
  std::map<Value, std::set<std::string>> options;
  for (const CLI::Option* option : node.options) {
    const auto value = value_of(*option);
    if (!value) continue;
    for (const std::string& name : option->get_lnames()) options[*value].insert(fmt::format("--{}", name));
    for (const std::string& name : option->get_snames()) options[*value].insert(fmt::format("-{}", name));
  }
  std::string cases;
  for (const auto& [value, names] : options) {
    if (names.empty()) continue;  // an argument without a name
    // Without completions the shell offers files, unless that is switched off.
    const std::string offer = value.file            ? "COMPREPLY=()"
                              : value.words.empty() ? "COMPREPLY=(); compopt +o default 2> /dev/null"
                                                    : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))",
                                                                  fmt::join(value.words, " "));
    cases += fmt::format("        {}) {}; return ;;\n", fmt::join(names, "|"), offer);
  }
  return cases;
}

/// `function`: the name of the shell function that completes.
std::string bash_script(const std::vector<Node>& nodes, const std::string& function) {
  std::string cases;
  for (const Node& node : nodes)
    cases += fmt::format("    '{}')\n      case \"$previous\" in\n{}      esac\n      offered='{}' ;;\n", node.path,
                         value_cases(node), fmt::join(words(node), " "));
  // Only words that are commands at their position extend the typed command. The variables must not be named path or
  // words: both are special in zsh, which runs this script too.
  std::string known;
  for (const Node& node : nodes) {
    if (!node.path.empty()) known += fmt::format("|'{}'", node.path);
  }
  return fmt::format(R"({2}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" typed='' offered='' next i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [ "${{COMP_WORDS[i]}}" = -- ]; then COMPREPLY=(); return; fi  # another program's
    next="${{typed:+$typed }}${{COMP_WORDS[i]}}"
    case "$next" in
      {0}) typed="$next" ;;
    esac
  done
  case "$typed" in
{1}  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}}
complete -o default -F {2} pgtune
)",
                     known.substr(1), cases, function);
}

std::string fish_script(const std::vector<Node>& nodes) {
  std::string script = "complete -c pgtune -f\n";
  const auto quoted = [](const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
    return out += '\'';
  };
  for (const Node& node : nodes) {
    // A command's own options are offered once every word of its path was seen.
    std::string condition =
        node.path.empty() ? "__fish_use_subcommand"
                          : fmt::format("__fish_seen_subcommand_from {}", node.path.substr(node.path.rfind(' ') + 1));
    for (const CLI::App* command : node.commands)
      script += fmt::format("complete -c pgtune -n {} -a {} -d {}\n", quoted(condition), command->get_name(),
                            quoted(command->get_description()));
    for (const CLI::Option* option : node.options) {
      for (const std::string& name : option->get_lnames())
        script += fmt::format("complete -c pgtune -n {} -l {}{} -d {}\n", quoted(condition), name,
                              option->get_expected_min() > 0 ? " -r -F" : "", quoted(option->get_description()));
    }
  }
  return script;
}

/// A script for the shell to source: completes commands, their options and file names. `root` is the whole application.
std::string write_completion(const CommandLine& root, Shell shell) {
  std::vector<Node> nodes;
  collect(root.app(), "", nodes);
  switch (shell) {
    case Shell::kBash:
      return bash_script(nodes, "_pgtune");
    case Shell::kZsh:
      // If sourced, it registers itself. As the file _pgtune on fpath, its body is the function _pgtune at the first
      // completion.
      return fmt::format(
          "#compdef pgtune\nautoload -U +X bashcompinit && bashcompinit\n{}"
          "[[ $funcstack[1] != _pgtune ]] || _bash_complete -o default -F _pgtune_words\n",
          bash_script(nodes, "_pgtune_words"));
    case Shell::kFish:
      return fish_script(nodes);
  }
  return {};
}

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
