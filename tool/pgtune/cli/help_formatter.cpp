// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/help_formatter.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "tool/pgtune/cli/terminal/text_table.hpp"

namespace pgtune::tool {

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
  for (std::size_t gap = 0; (gap = help.find("\n\n\n", gap)) != std::string::npos;) help.erase(gap, 1);
  return help;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = "\nUsage: " + name;
  if (!app->get_subcommands([](const CLI::App*) { return true; }).empty()) usage += " COMMAND";
  usage += " [options]";
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) usage.append(" ").append(make_option_usage(option));
  }
  return usage + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* app) const {
  return entry(app->get_name(), app->get_description());
}

std::string HelpFormatter::entry(const std::string& left, const std::string& description) const {
  const std::size_t indent = get_column_width();
  std::string out = "  " + left;
  if (out.size() + 2 > indent) {
    out += '\n' + std::string(indent, ' ');
  } else {
    out.resize(indent, ' ');
  }
  bool first = true;
  for (const std::string& line : wrap_text(description, kTextWidth - indent)) {
    if (!first) out += '\n' + std::string(indent, ' ');
    out += line;
    first = false;
  }
  return out + '\n';
}

std::string examples_footer(const std::string& lines) {
  std::istringstream stream(lines);
  std::string footer = "Examples:";
  for (std::string line; std::getline(stream, line);)
    footer += "\n  " + line.substr(std::min(line.find_first_not_of(' '), line.size()));
  return footer;
}

}  // namespace pgtune::tool
