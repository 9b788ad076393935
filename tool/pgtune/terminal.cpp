// SPDX-License-Identifier: MIT
#include "tool/pgtune/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace pgtune::tool {
namespace {

std::string_view sgr(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\033[1m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBad:
      return "\033[31m";
    case Style::kDim:
      return "\033[2m";
  }
  return "";
}

std::string wrapped(bool color, Style style, std::string_view text) {
  if (!color || style == Style::kPlain) return std::string(text);
  return std::string(sgr(style)) + std::string(text) + "\033[0m";
}

}  // namespace

bool wants_color(ColorMode mode, bool is_terminal, const Environment& environment) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  if (environment("NO_COLOR")) return false;
  if (const auto term = environment("TERM"); term && *term == "dumb") return false;
  for (const char* name : {"CLICOLOR_FORCE", "FORCE_COLOR"}) {
    if (const auto value = environment(name); value && *value != "0") return true;
  }
  return is_terminal;
}

Terminal::Terminal(Environment environment)
    : environment_(std::move(environment)),
      output_is_terminal_(isatty(STDOUT_FILENO) == 1),
      error_is_terminal_(isatty(STDERR_FILENO) == 1) {
  set_color(ColorMode::kAuto);
}

void Terminal::set_color(ColorMode mode) {
  output_color_ = wants_color(mode, output_is_terminal_, environment_);
  error_color_ = wants_color(mode, error_is_terminal_, environment_);
}

void Terminal::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && errno != EPIPE) output_failed_ = true;
}

void Terminal::note(std::string_view line) {
  if (verbosity_ == Verbosity::kQuiet) return;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void Terminal::detail(std::string_view line) {
  if (verbosity_ == Verbosity::kVerbose) note(line);
}

void Terminal::error(std::string_view message) {
  const std::string name = wrapped(error_color_, Style::kBad, "pgtune:");
  std::fprintf(stderr, "%s %.*s\n", name.c_str(), static_cast<int>(message.size()), message.data());
}

std::string Terminal::styled(Style style, std::string_view text) const { return wrapped(output_color_, style, text); }

std::size_t Terminal::error_width() const {
  winsize size{};
  if (error_is_terminal_ && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool Terminal::flush() {
  if (std::fflush(stdout) != 0 && errno != EPIPE) output_failed_ = true;
  return !output_failed_;
}

}  // namespace pgtune::tool
