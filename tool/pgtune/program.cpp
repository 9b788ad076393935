// SPDX-License-Identifier: MIT
#include "tool/pgtune/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tool/pgtune/cli/build_facts.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/help_formatter.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/version.hpp"
#include "tool/pgtune/commands/commands.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::tool {
namespace {

using Commands = std::vector<std::pair<CLI::App*, std::unique_ptr<Command>>>;

constexpr const char* kMainExamples =
    "Examples:\n"
    "  pgtune search --shape 4096x4096x4096\n"
    "  pgtune search --shape 1000x1000x1000 --layout tn --budget 60s --json\n"
    "\n"
    "'pgtune COMMAND --help' tells more about a command.\n"
    "Exit codes: 0 done, 1 nothing valid found, 2 usage, 3 environment (GPU, driver,\n"
    "worker), 4 database, 5 stopped early with a partial result (where --budget\n"
    "ends a search, that is 0), 130/143 signals.";

/// The commands that options are typed after: `app` itself, or the commands it has.
std::vector<CLI::App*> leaves(CLI::App& app) {
  const auto subs = app.get_subcommands([](const CLI::App*) { return true; });
  return subs.empty() ? std::vector<CLI::App*>{&app} : subs;
}

Commands add_commands(CLI::App& app, std::string& color, Rooms& rooms) {
  Commands commands;
  for (auto& command : make_commands(rooms)) {
    CLI::App* sub = app.add_subcommand(command->name(), command->description());
    sub->group("Commands");
    CommandLine line(*sub);
    line.add_examples(command->examples());
    command->add_options(line);
    for (CLI::App* leaf : leaves(*sub))
      CommandLine(*leaf)
          .add_option("--color", color, "auto (default), always or never")
          .option_text("WHEN")
          .complete_with({"auto", "always", "never"})
          .group(kOutputGroup);
    commands.emplace_back(sub, std::move(command));
  }
  return commands;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

/// The command that was being parsed when parsing failed: the innermost one that was named.
const CLI::App& innermost(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.back());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string sentence(std::string text) {
  if (!text.ends_with('.') && !text.ends_with('?')) text += '.';
  return text;
}

std::string unknown_word_message(const CLI::App& app, const std::string& word) {
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option '{}' of '{}'{}", name, full_name(app), suggestion(name, option_names(app)));
  }
  const auto names = command_names(app);
  if (names.empty()) {
    const bool shape = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    return fmt::format("unexpected argument '{}' of '{}'{}", word, full_name(app),
                       shape ? fmt::format("; did you mean '--shape {}'?", word) : "");
  }
  return fmt::format("unknown command '{}'{}", word, suggestion(word, names));
}

std::string usage_message(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = innermost(root);
  std::vector<std::string> extras = root.remaining(true);
  std::erase(extras, "--");  // what ends the options is no unknown one
  std::string cause;
  if (!extras.empty()) {
    cause = unknown_word_message(app, extras.front());
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !command_names(app).empty()) {
    cause = fmt::format("no command given to '{}'{}", full_name(app), suggestion("", command_names(app)));
  } else {
    cause = error.what();
    const std::string option = cause.substr(0, cause.find_first_of(": "));
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && cause.find(" required ") != std::string::npos)
      cause = option + (cause.find("At Most") != std::string::npos ? " is given more than once" : " needs a value");
    if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) cause = option + " goes with --version";
  }
  return fmt::format("{} See '{} --help'.", sentence(std::move(cause)), full_name(app));
}

/// The message for an unknown word in a command's position; nothing if there is none.
std::optional<std::string> unknown_command(const CLI::App& app) {
  if (command_names(app).empty()) return std::nullopt;
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty() && !extras.front().starts_with("-"))
    return fmt::format("{} See '{} --help'.", sentence(unknown_word_message(app, extras.front())), full_name(app));
  const auto named = app.get_subcommands();
  return named.empty() ? std::nullopt : unknown_command(*named.back());
}

/// The message for an option that was given an empty value, as from an unset variable of the shell.
std::optional<std::string> empty_value(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_expected_min() == 0 || !option->nonpositional()) continue;
    const CLI::results_t& values = option->results();
    if (std::find(values.begin(), values.end(), "") != values.end())
      return fmt::format("{} has an empty value. Give one, or leave the option out.", option->get_name());
  }
  const auto named = app.get_subcommands();
  return named.empty() ? std::nullopt : empty_value(*named.back());
}

ColorMode parse_color(const std::string& text) {
  static const std::map<std::string, ColorMode> modes{
      {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};
  const auto found = modes.find(text);
  if (found == modes.end())
    throw CommandError(ErrorKind::kUsage, fmt::format("unknown --color '{}'. Give auto, always or never.", text));
  return found->second;
}

/// Runs the command and turns exceptions into a message and an exit code.
ExitCode guarded(Terminal& terminal, const std::function<ExitCode()>& action) {
  try {
    return action();
  } catch (const CommandError& error) {
    terminal.error(error.what());
    return exit_code(error.kind());
  } catch (const db::Error& error) {
    terminal.error(error.what());
    return ExitCode::kDatabase;
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().empty() ? "the present folder" : error.path1().string();
    terminal.error(
        fmt::format("cannot use {}: {}. Check that it is there, and its permissions.", path, error.code().message()));
    return ExitCode::kEnvironment;
  } catch (const std::bad_alloc&) {
    terminal.error("out of memory. Free some memory, or use fewer --jobs.");
    return ExitCode::kEnvironment;
  } catch (const std::exception& error) {
    terminal.error(fmt::format("internal error: {}. Please report it with the command line.", error.what()));
    return ExitCode::kInternal;
  }
}

std::string joined(int argc, char** argv) {
  std::string text = "pgtune";
  for (int i = 1; i < argc; ++i) text += " " + shown_word(argv[i]);
  return text;
}

ExitCode parse_and_run(int argc, char** argv, Terminal& terminal, Rooms& rooms) {
  CLI::App app(
      "pgtune finds the fastest GEMM kernel for a shape on the GPU in front of it,\n"
      "proves that it is right and how fast it is, and remembers it.",
      "pgtune");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(kMainExamples);
  app.set_help_all_flag("--help-all", "Print all options of a command and exit");
  bool verbose = false;
  CLI::Option* const version = app.set_version_flag(
      "--version", [&verbose] { return fmt::format("pgtune {}{}", kVersion, verbose ? "\n" + build_facts() : ""); },
      "Print the version and exit");
  app.add_flag("--verbose", verbose, "With --version: also commit, compiler, schemas and templates")
      ->trigger_on_parse()
      ->needs(version);
  app.require_subcommand(1);
  std::string color = "auto";
  const Commands commands = add_commands(app, color, rooms);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help or --version: of what there is
    if (const auto unknown = unknown_command(app)) {
      terminal.error(*unknown);
      return ExitCode::kUsage;
    }
    std::ostringstream text;
    app.exit(done, text, text);
    terminal.print(text.str());
    return ExitCode::kDone;
  } catch (const CLI::ParseError& error) {
    terminal.error(usage_message(app, error));
    return ExitCode::kUsage;
  }
  if (const auto empty = empty_value(app)) {
    terminal.error(*empty);
    return ExitCode::kUsage;
  }
  terminal.set_color(parse_color(color));
  db::ColumnChecks checks = record_checks();
  checks.merge(rooms.record_checks);
  Context context(Paths::find(process_environment, own_executable()), terminal, joined(argc, argv), std::move(checks));
  for (const auto& [sub, command] : commands) {
    if (sub->parsed()) return command->run(context);
  }
  return ExitCode::kUsage;
}

}  // namespace

int run_command_line(int argc, char** argv, Rooms rooms) {
  Terminal terminal(process_environment);
  ExitCode code = guarded(terminal, [&] { return parse_and_run(argc, argv, terminal, rooms); });
  if (!terminal.flush()) {
    terminal.error("cannot write to standard output: data was lost. Free some space or give another place.");
    if (code == ExitCode::kDone) code = ExitCode::kEnvironment;
  }
  return static_cast<int>(code);
}

}  // namespace pgtune::tool
