// SPDX-License-Identifier: MIT
// A text table in at most 80 columns.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pgtune::tool {

inline constexpr std::size_t kTextWidth = 80;

enum class Align { kLeft, kRight };
/// How cells are broken into lines if a table is too wide: not at all, like wrap_text(), or also after '_'.
enum class Wrap { kNone, kWords, kNames };

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    /// The first of several such columns shrinks first, and none below its longest word.
    Wrap wrap = Wrap::kNone;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// A separate line above the next rows, for what they have in common.
  void add_section(std::string title) { sections_[rows_.size()] = std::move(title); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Title line and rows, with two blanks between columns, or one if they would not fit, without trailing blanks; each
  /// line ends in a newline. `indent` blanks before each line.
  [[nodiscard]] std::string text(std::size_t width = kTextWidth, std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::map<std::size_t, std::string> sections_;  ///< by the row below
};

/// `text` broken into lines of at most `width` columns, after ',' (or any of `after`) or at blanks; a longer word is
/// cut.
[[nodiscard]] std::vector<std::string> wrap_text(const std::string& text, std::size_t width,
                                                 std::string_view after = ",");

/// "label text", with further lines under the text; empty if there is no text.
[[nodiscard]] std::string fact(const char* label, const std::string& text);
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
