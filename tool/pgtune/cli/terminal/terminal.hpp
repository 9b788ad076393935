// SPDX-License-Identifier: MIT
// Standard output and standard error: colour, terminal or not, width.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/paths.hpp"

namespace pgtune::tool {

enum class ColorMode { kAuto, kAlways, kNever };

/// Good is green, bad red, and what is not clear yellow.
enum class Style { kPlain, kBold, kGood, kBad, kUnclear };

/// Whether a stream gets colour: --color decides. With auto, NO_COLOR (non-empty) and TERM=dumb disable it,
/// CLICOLOR_FORCE and FORCE_COLOR enable it, and otherwise terminals get it.
[[nodiscard]] bool wants_color(ColorMode mode, bool is_terminal, const Environment& environment);

/// `text` with replacements for invalid UTF-8 and for control characters other than line breaks, tabs and colours: an
/// untrusted recording or template must not control the terminal. Applies to everything on standard error, and to
/// standard output if it is a terminal; files and pipes get unchanged data.
[[nodiscard]] std::string harmless(std::string_view text);

enum class Verbosity { kQuiet, kNormal, kVerbose };

/// Several threads may write; options are set before threads start.
class Terminal {
 public:
  explicit Terminal(Environment environment);

  /// Called once options are known.
  void set_color(ColorMode mode);
  void set_verbosity(Verbosity verbosity) { verbosity_ = verbosity; }
  [[nodiscard]] Verbosity verbosity() const { return verbosity_; }

  /// Data, to standard output as it is.
  void print(std::string_view text);
  /// A line on standard error for the user to read; dropped with --quiet.
  void note(std::string_view line);
  /// A line on standard error with -v only.
  void detail(std::string_view line);
  /// "pgtune: message" on standard error, always.
  void error(std::string_view message);

  /// Lines at the end of standard error that are redrawn in place, each no wider than error_width() - 1; only on a
  /// terminal. Other output removes them until they are shown again.
  void show_live(const std::vector<std::string>& lines);
  void hide_live();

  /// `text` in a style if standard output has colour, else unchanged.
  [[nodiscard]] std::string styled(Style style, std::string_view text) const;

  /// Columns that data may take: those of the terminal at standard output, from 60 to 200; 80 where that is none.
  [[nodiscard]] std::size_t output_width() const;

  [[nodiscard]] bool error_is_terminal() const { return error_is_terminal_; }
  /// Columns of the terminal at standard error now; 80 if unknown.
  [[nodiscard]] std::size_t error_width() const;
  /// Its lines; 24 if unknown.
  [[nodiscard]] std::size_t error_height() const;

  /// Flushes standard output; false when data was lost (full disk, closed file). A closed reader is no loss.
  [[nodiscard]] bool flush();

 private:
  /// Lines no wider than the terminal at standard error, what continues one indented; unchanged where that is none.
  [[nodiscard]] std::string fitted(const std::string& text) const;
  void write_error_line(const std::string& line);
  void take_live_away();

  Environment environment_;
  bool output_is_terminal_, error_is_terminal_;
  bool output_color_, error_color_;
  bool output_failed_ = false;
  Verbosity verbosity_ = Verbosity::kNormal;
  std::mutex writing_;
  std::size_t live_lines_ = 0;  ///< drawn now
};

}  // namespace pgtune::tool
