// SPDX-License-Identifier: MIT
// Standard output and standard error as people see them: colour or not, terminal or not, how wide.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/paths.hpp"

namespace pgtune::tool {

enum class ColorMode { kAuto, kAlways, kNever };

enum class Style { kPlain, kBold, kGood, kBad, kDim };

/// Whether a stream gets colour: --color decides; with auto, NO_COLOR (non-empty) and TERM=dumb say no,
/// CLICOLOR_FORCE and FORCE_COLOR say yes, else a terminal does.
[[nodiscard]] bool wants_color(ColorMode mode, bool is_terminal, const Environment& environment);

/// `text` with every control character but line breaks, tabs and colours, and every byte that is no UTF-8, replaced: a
/// recording or a template from elsewhere must not steer the terminal. All that goes to standard error is made so; data
/// on standard output where that is a terminal: in files and pipes it stays as it is.
[[nodiscard]] std::string harmless(std::string_view text);

enum class Verbosity { kQuiet, kNormal, kVerbose };

/// What is written may come from several threads; options are set before there are any.
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

  /// Lines that stay at the end of standard error and are redrawn in place, each no wider than error_width() - 1; only
  /// where that is a terminal. Whatever else is written takes them away until they are shown again.
  void show_live(const std::vector<std::string>& lines);
  void hide_live();

  /// `text` in a style where standard output takes colour, else as it is.
  [[nodiscard]] std::string styled(Style style, std::string_view text) const;

  [[nodiscard]] bool error_is_terminal() const { return error_is_terminal_; }
  /// Columns of the terminal at standard error now; 80 where it has no width.
  [[nodiscard]] std::size_t error_width() const;
  /// Its lines; 24 where it has no height.
  [[nodiscard]] std::size_t error_height() const;

  /// Flushes standard output; false when data was lost (full disk, closed file). A reader that went away is no loss.
  [[nodiscard]] bool flush();

 private:
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
