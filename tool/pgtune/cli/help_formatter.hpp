// SPDX-License-Identifier: MIT
// Help in 80 columns: CLI11's layout with descriptions broken into lines.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pgtune::tool {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(27); }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* app) const override;

 private:
  [[nodiscard]] std::string entry(const std::string& left, const std::string& description) const;
};

/// "Examples:" and the command lines, one a line, indented: the end of a command's help.
[[nodiscard]] std::string examples_footer(const std::string& lines);

}  // namespace pgtune::tool
