// SPDX-License-Identifier: MIT
// Help in 80 columns: CLI11's layout with descriptions broken into lines, and --help with the first options alone.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace pgtune::tool {

class HelpFormatter : public CLI::Formatter {
 public:
  /// --help shows the options that `first` names, such as "--shape", or all where it is empty; --help-all shows all.
  explicit HelpFormatter(std::vector<std::string> first = {}) : first_(std::move(first)) { column_width(27); }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* app) const override;

 private:
  [[nodiscard]] std::string groups(const CLI::App* app, bool all) const;
  [[nodiscard]] bool is_shown(const CLI::App* app, const CLI::Option* option, bool all) const;
  [[nodiscard]] std::string entry(const std::string& left, const std::string& description) const;

  std::vector<std::string> first_;
};

/// "Examples:" and the command lines, one per line, indented: the end of a command's help.
[[nodiscard]] std::string examples_footer(const std::string& lines);

}  // namespace pgtune::tool
