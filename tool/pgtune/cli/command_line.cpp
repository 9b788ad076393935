// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "tool/pgtune/cli/help_formatter.hpp"

namespace pgtune::tool {

Option Option::option_text(const std::string& text) {
  option_->option_text(text);
  return *this;
}

Option Option::group(const std::string& title) {
  option_->group(title);
  return *this;
}

Option Option::description(const std::string& text) {
  option_->description(text);
  return *this;
}

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option Option::complete_with(const std::vector<std::string_view>& values) {
  option_->type_name(fmt::format("{{{}}}", fmt::join(values, ",")));
  return *this;
}

Option Option::value_optional() {
  option_->expected(0, 1);
  return *this;
}

Option Option::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

bool Option::given() const { return option_ != nullptr && option_->count() > 0; }

std::string Option::name() const { return option_->get_name(); }

std::vector<std::string> Option::words() const {
  if (!given()) return {};
  if (option_->get_expected_max() == 0) return {name()};
  const CLI::results_t& values = option_->results();
  std::vector<std::string> words;
  for (const std::string& value : values) words.push_back(value.empty() ? name() : name() + "=" + value);
  if (words.empty()) words.push_back(name());
  return words;
}

Option CommandLine::add_option(const std::string& names, std::string& target, const std::string& description) {
  return Option(*app_->add_option(names, target, description));
}

Option CommandLine::add_option(const std::string& names, std::vector<std::string>& target,
                               const std::string& description) {
  return Option(*app_->add_option(names, target, description));
}

Option CommandLine::add_flag(const std::string& names, bool& target, const std::string& description) {
  return Option(*app_->add_flag(names, target, description));
}

std::vector<Option> CommandLine::options() const {
  std::vector<Option> options;
  for (CLI::Option* option : app_->get_options()) {
    if (option != app_->get_help_ptr() && option != app_->get_help_all_ptr()) options.emplace_back(*option);
  }
  return options;
}

Option CommandLine::option(const std::string& name) const { return Option(*app_->get_option(name)); }

void CommandLine::remove_option(const std::string& name) { app_->remove_option(app_->get_option(name)); }

CommandLine CommandLine::add_command(const std::string& name, const std::string& description) {
  return CommandLine(*app_->add_subcommand(name, description));
}

void CommandLine::require_command() { app_->require_subcommand(1); }

void CommandLine::add_examples(const std::string& lines) { app_->footer(examples_footer(lines)); }

void CommandLine::show_first(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const std::string& name : names) known.push_back(app_->get_option(name)->get_name());
  app_->formatter(std::make_shared<HelpFormatter>(std::move(known)));
}

bool CommandLine::parsed() const { return app_->parsed(); }

CommandLine CommandLine::parent() const { return CommandLine(*app_->get_parent()); }

}  // namespace pgtune::tool
