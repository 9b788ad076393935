// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/completion_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <vector>

namespace pgtune::tool {
namespace {

/// One command by its path ("db check"), with what may follow it.
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

std::vector<std::string> words(const Node& node) {
  std::vector<std::string> result;
  for (const CLI::App* command : node.commands) result.push_back(command->get_name());
  for (const CLI::Option* option : node.options) {
    for (const std::string& name : option->get_lnames()) result.push_back(fmt::format("--{}", name));
  }
  return result;
}

/// `function`: the name of the shell function that completes.
std::string bash_script(const std::vector<Node>& nodes, const std::string& function) {
  std::string cases;
  for (const Node& node : nodes)
    cases += fmt::format("    '{}') offered='{}' ;;\n", node.path, fmt::join(words(node), " "));
  // The commands typed so far grow only by words that are commands where they stand. The variables must not be called
  // path or words: both are special in zsh, which runs this script too.
  std::string known;
  for (const Node& node : nodes) {
    if (!node.path.empty()) known += fmt::format("|'{}'", node.path);
  }
  return fmt::format(R"({2}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" typed='' offered='' next i
  for ((i = 1; i < COMP_CWORD; ++i)); do
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

}  // namespace

std::string write_completion(const CommandLine& root, Shell shell) {
  std::vector<Node> nodes;
  collect(root.app(), "", nodes);
  switch (shell) {
    case Shell::kBash:
      return bash_script(nodes, "_pgtune");
    case Shell::kZsh:
      // Sourced, it registers itself. As the file _pgtune on fpath it is, at the first completion, the function
      // _pgtune.
      return fmt::format(
          "#compdef pgtune\nautoload -U +X bashcompinit && bashcompinit\n{}"
          "[[ $funcstack[1] != _pgtune ]] || _bash_complete -o default -F _pgtune_words\n",
          bash_script(nodes, "_pgtune_words"));
    case Shell::kFish:
      return fish_script(nodes);
  }
  return {};
}

}  // namespace pgtune::tool
