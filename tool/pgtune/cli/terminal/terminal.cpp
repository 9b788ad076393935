// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/util/utf8.hpp"

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
    case Style::kUnclear:
      return "\033[33m";
  }
  return "";
}

std::string wrapped(bool color, Style style, std::string_view text) {
  if (!color || style == Style::kPlain) return std::string(text);
  return std::string(sgr(style)) + std::string(text) + "\033[0m";
}

constexpr unsigned short kUsualWidth = 80, kUsualHeight = 24;

/// Of the terminal at a descriptor; a side that it does not know is the usual one.
winsize size_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) size = {};
  if (size.ws_col == 0) size.ws_col = kUsualWidth;
  if (size.ws_row == 0) size.ws_row = kUsualHeight;
  return size;
}

/// Length of pgtune's own kind of escape sequence at the start of `text`, "ESC [ digits m"; 0 where there is none.
std::size_t color_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789", 2);
  return end == std::string_view::npos || text[end] != 'm' ? 0 : end + 1;
}

}  // namespace

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t color = color_length(text);
    const std::size_t taken = color > 0 ? color : utf8_length(text);
    const auto c = static_cast<unsigned char>(text.front());
    const bool c0 = color == 0 && (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'));
    const bool c1 = taken == 2 && c == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    out += taken == 0 || c0 || c1 ? std::string_view("?") : text.substr(0, taken);
    text.remove_prefix(std::max<std::size_t>(taken, 1));
  }
  return out;
}

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
  const std::string shown = output_is_terminal_ ? harmless(text) : std::string(text);
  const std::lock_guard lock(writing_);
  take_live_away();
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() && errno != EPIPE) output_failed_ = true;
}

void Terminal::note(std::string_view line) {
  if (verbosity_ == Verbosity::kQuiet) return;
  write_error_line(fitted(harmless(line)));
}

void Terminal::detail(std::string_view line) {
  if (verbosity_ == Verbosity::kVerbose) note(line);
}

void Terminal::error(std::string_view message) {
  constexpr std::string_view kName = "pgtune:";
  const std::string text = fitted(fmt::format("{} {}", kName, harmless(message)));
  write_error_line(wrapped(error_color_, Style::kBad, kName) + text.substr(kName.size()));
}

std::string Terminal::fitted(const std::string& text) const {
  if (!error_is_terminal_) return text;
  const std::size_t width = std::max<std::size_t>(error_width(), 20);
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (begin > 0) out += '\n';
    out += line.size() > width ? fmt::format("{}", fmt::join(wrap_text(line, width - 2), "\n  ")) : line;
    begin = end + 1;
  }
  return out;
}

void Terminal::write_error_line(const std::string& line) {
  const std::lock_guard lock(writing_);
  take_live_away();
  // Both streams may go to one file, which must keep their order.
  static_cast<void>(flush());
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Terminal::show_live(const std::vector<std::string>& lines) {
  if (!error_is_terminal_ || lines.empty()) return;
  const std::lock_guard lock(writing_);
  std::string text;
  for (std::size_t up = 1; up < live_lines_; ++up) text += "\033[A";
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "\n\r" : "\r") + harmless(lines[i]) + "\033[K";
  if (live_lines_ > lines.size()) text += "\033[J";
  live_lines_ = lines.size();
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

void Terminal::hide_live() {
  const std::lock_guard lock(writing_);
  take_live_away();
}

void Terminal::take_live_away() {
  if (live_lines_ == 0) return;
  std::string text;
  for (; live_lines_ > 1; --live_lines_) text += "\r\033[K\033[A";
  live_lines_ = 0;
  std::fputs((text + "\r\033[K").c_str(), stderr);
  std::fflush(stderr);
}

std::string Terminal::styled(Style style, std::string_view text) const { return wrapped(output_color_, style, text); }

std::size_t Terminal::output_width() const {
  return std::clamp<std::size_t>(output_is_terminal_ ? size_of(STDOUT_FILENO).ws_col : kUsualWidth, 60, 200);
}

std::size_t Terminal::error_width() const { return error_is_terminal_ ? size_of(STDERR_FILENO).ws_col : kUsualWidth; }

std::size_t Terminal::error_height() const { return error_is_terminal_ ? size_of(STDERR_FILENO).ws_row : kUsualHeight; }

bool Terminal::flush() {
  if (std::fflush(stdout) != 0 && errno != EPIPE) output_failed_ = true;
  return !output_failed_;
}

}  // namespace pgtune::tool
