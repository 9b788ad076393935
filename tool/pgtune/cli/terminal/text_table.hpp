// SPDX-License-Identifier: MIT
// Text tables and wrapped text, in 80 columns or a terminal's width.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"

namespace pgtune::tool {

inline constexpr std::size_t kTextWidth = 80;

enum class Align { kLeft, kRight };
/// How cells are broken into lines if a table is too wide: not at all, or like wrap_text().
enum class Wrap { kNone, kWords };

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    /// The first of several such columns shrinks first, and none below its longest word.
    Wrap wrap = Wrap::kNone;
    /// Columns from 1 on are left out in this order, before cells are broken, and a last line names them; 0: never.
    int left_out = 0;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column.
  void add_row(std::vector<std::string> cells, Style style = Style::kPlain) {
    rows_.push_back({std::move(cells), style});
  }
  /// A separate line above the next rows, for what they have in common.
  void add_section(std::string title) { sections_[rows_.size()] = std::move(title); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Title line and rows, with two blanks between columns, or one if they would not fit, without trailing blanks; each
  /// line ends in a newline. `indent` blanks before each line.
  [[nodiscard]] std::string text(std::size_t width = kTextWidth, std::size_t indent = 0) const;
  /// The same in the width of the terminal at standard output, with a bold title line and each row in its style.
  [[nodiscard]] std::string text(const Terminal& terminal) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  struct Layout {
    std::vector<std::size_t> shown, widths;  ///< columns, and the width of each of them
    std::size_t gap = 0;
  };
  using Styled = std::function<std::string(Style, const std::string&)>;

  [[nodiscard]] Layout layout(std::size_t width, std::size_t indent) const;
  [[nodiscard]] std::string rendered(std::size_t width, std::size_t indent, const Styled& styled) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::map<std::size_t, std::string> sections_;  ///< by the row below
};

/// `text` broken into lines of at most `width` columns, after ',' or at blanks; a longer word is cut.
[[nodiscard]] std::vector<std::string> wrap_text(const std::string& text, std::size_t width);
/// The same in one string, of lines of kTextWidth that end in a newline each.
[[nodiscard]] std::string text_lines(const std::string& text);
/// Columns of running text: 80, or fewer in a narrower terminal.
[[nodiscard]] std::size_t text_width(const Terminal& terminal);
/// Prints it in lines of text_width().
void print_wrapped(Terminal& terminal, const std::string& text, Style style = Style::kPlain);

/// "label text", with further lines under the text; empty if there is no text.
[[nodiscard]] std::string fact(const char* label, const std::string& text, std::size_t width = kTextWidth);
/// The same without its last newline, for Terminal::note().
[[nodiscard]] std::string fact_note(const char* label, const std::string& text);

// Tables as CSV: a header line, then one line per row, quoted by RFC 4180. Lines end in a newline alone, as other tools
// on this system expect.

/// The shortest decimal text that reads back as `value`; empty without a value or if it is not finite.
[[nodiscard]] std::string csv_number(std::optional<double> value);

class CsvWriter {
 public:
  /// `columns`: names with their SI unit, such as "time_s".
  explicit CsvWriter(const std::vector<std::string>& columns);
  /// One cell per column.
  void add_row(const std::vector<std::string>& cells);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace pgtune::tool
