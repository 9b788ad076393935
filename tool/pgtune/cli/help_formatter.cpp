// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/help_formatter.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "tool/pgtune/cli/terminal/text_table.hpp"

namespace pgtune::tool {

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string help = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
                     groups(app, mode == CLI::AppFormatMode::All) + make_subcommands(app, CLI::AppFormatMode::Normal) +
                     '\n' + make_footer(app);
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

bool HelpFormatter::is_shown(const CLI::App* app, const CLI::Option* option, bool all) const {
  if (option == app->get_help_all_ptr()) return !first_.empty();
  return all || first_.empty() || option == app->get_help_ptr() ||
         std::find(first_.begin(), first_.end(), option->get_name()) != first_.end();
}

std::string HelpFormatter::groups(const CLI::App* app, bool all) const {
  std::string out;
  std::size_t left_out = 0;
  for (const std::string& group : app->get_groups()) {
    auto options = app->get_options(
        [&](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
    left_out += std::erase_if(options, [&](const CLI::Option* option) { return !is_shown(app, option, all); });
    if (!options.empty()) out += make_group(group, false, std::move(options));
  }
  if (!all && !first_.empty()) out += "\n" + std::to_string(left_out) + " more options: --help-all\n";
  return out;
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
