// SPDX-License-Identifier: MIT
// A command's options, with CLI11 hidden. Compiling CLI11's header takes three seconds per file, so only
// command_line.cpp, program.cpp and code that walks over all options include it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pgtune::tool {

/// One option or positional argument. A handle: copies refer to the same option, and it must not outlive its command
/// line.
class Option {
 public:
  Option() = default;  ///< no option; never given
  explicit Option(CLI::Option& option) : option_(&option) {}

  // Each returns the option itself, so that calls chain.
  Option option_text(const std::string& text);  ///< stands for the value in the help, such as FILE
  Option group(const std::string& title);       ///< heading in the help
  Option description(const std::string& text);  ///< instead of the one it was added with
  Option required();
  Option one_of(const std::vector<std::string>& values);
  Option complete_with(const std::vector<std::string_view>& values);  ///< in shells, where the command checks the value
  Option value_optional();                                            ///< "--name" alone is allowed, and "--name=value"
  Option one_value_each();  ///< for a repeatable option: takes one value, not the words after it

  [[nodiscard]] bool given() const;
  [[nodiscard]] std::string name() const;  ///< as typed, such as "--shape"
  /// The words as given, one for each use: "--budget=60s", "--force". Empty if not given.
  [[nodiscard]] std::vector<std::string> words() const;

 private:
  CLI::Option* option_ = nullptr;
};

/// A command's options and sub-commands. A handle like Option.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(&app) {}

  /// `target` must outlive the parse. Numbers are taken as text and read with common_options.hpp.
  Option add_option(const std::string& names, std::string& target, const std::string& description);
  /// Repeatable, each time with any number of values.
  Option add_option(const std::string& names, std::vector<std::string>& target, const std::string& description);
  Option add_flag(const std::string& names, bool& target, const std::string& description);

  [[nodiscard]] std::vector<Option> options() const;           ///< all so far, the help's aside
  [[nodiscard]] Option option(const std::string& name) const;  ///< that was added before, such as "--db"
  void remove_option(const std::string& name);

  CommandLine add_command(const std::string& name, const std::string& description);
  void require_command();                       ///< one of its commands must be given
  void add_examples(const std::string& lines);  ///< whole command lines, one a line: the end of its help
  /// --help shows these of the options that were added, as typed, and --help-all the others too.
  void show_first(const std::vector<std::string>& names);
  [[nodiscard]] bool parsed() const;         ///< whether the user gave this command
  [[nodiscard]] CommandLine parent() const;  ///< of a command that add_command() made
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace pgtune::tool
