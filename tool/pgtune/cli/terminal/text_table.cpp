// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pgtune::tool {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestWrap = 12;
/// A longer word may be cut, to leave room for others.
constexpr std::size_t kLongestWord = 32;

/// Terminal columns of a UTF-8 text (one per code point: enough for "±" and similar characters).
std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t own = display_width(text);
  const std::string fill(width > own ? width - own : 0, ' ');
  return align == Align::kLeft ? text + fill : fill + text;
}

/// The width of the longest part that wrap_text() does not break.
std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0, length = 0;
  for (const char c : text) {
    length = c == ' ' ? 0 : length + 1;
    longest = std::max(longest, length);
    if (c == ',') length = 0;
  }
  return longest;
}

}  // namespace

std::vector<std::string> wrap_text(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > width) {
    const std::size_t blank = rest.find_last_of(' ', width);
    const std::size_t comma = width > 0 ? rest.rfind(',', width - 1) : std::string::npos;
    std::size_t cut = width;
    if (blank != std::string::npos && blank > 0) cut = blank;
    if (comma != std::string::npos && (blank == std::string::npos || comma + 1 > blank)) cut = comma + 1;
    lines.push_back(rest.substr(0, cut));
    rest.erase(0, cut);
    rest.erase(0, rest.find_first_not_of(' '));
  }
  lines.push_back(rest);
  return lines;
}

std::size_t text_width(const Terminal& terminal) { return std::min(kTextWidth, terminal.output_width()); }

void print_wrapped(Terminal& terminal, const std::string& text, Style style) {
  for (const std::string& line : wrap_text(text, text_width(terminal)))
    terminal.print(terminal.styled(style, line) + '\n');
}

TextTable::Layout TextTable::layout(std::size_t width, std::size_t indent) const {
  Layout out;
  out.gap = kGap;
  std::vector<std::size_t> widths;
  std::vector<std::pair<int, std::size_t>> to_leave_out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const Row& row : rows_) widest = std::max(widest, display_width(row.cells[c]));
    widths.push_back(widest);
    out.shown.push_back(c);
    if (columns_[c].left_out > 0) to_leave_out.emplace_back(columns_[c].left_out, c);
  }
  const auto total = [&](std::size_t gap) {
    std::size_t sum = indent + gap * (out.shown.size() - 1);
    for (const std::size_t c : out.shown) sum += widths[c];
    return sum;
  };
  std::sort(to_leave_out.begin(), to_leave_out.end());
  for (const auto& [turn, c] : to_leave_out) {
    if (total(1) <= width) break;
    out.shown.erase(std::find(out.shown.begin(), out.shown.end(), c));
  }
  for (const std::size_t c : out.shown) {
    // A gap of one blank is better than a broken cell only where columns may be left out: those hold names.
    const std::size_t least_total = total(to_leave_out.empty() ? kGap : 1);
    if (columns_[c].wrap == Wrap::kNone || least_total <= width) continue;
    const std::size_t excess = least_total - width;
    std::size_t least = std::max(kNarrowestWrap, display_width(columns_[c].title));
    for (const Row& row : rows_) least = std::max(least, std::min(longest_word(row.cells[c]), kLongestWord));
    widths[c] = widths[c] > excess + least ? widths[c] - excess : std::min(widths[c], least);
  }
  if (total(kGap) > width) out.gap = 1;
  for (const std::size_t c : out.shown) out.widths.push_back(widths[c]);
  return out;
}

std::string TextTable::rendered(std::size_t width, std::size_t indent, const Styled& styled) const {
  const Layout layout = this->layout(width, indent);
  std::string out;
  const auto append_line = [&](Style style, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += styled(style, line) + '\n';
  };
  const auto append_row = [&](const std::vector<std::string>& cells, Style style) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (std::size_t i = 0; i < layout.shown.size(); ++i) {
      const std::size_t c = layout.shown[i];
      const bool wraps = columns_[c].wrap != Wrap::kNone;
      lines.push_back(wraps ? wrap_text(cells[c], layout.widths[i]) : std::vector{cells[c]});
      height = std::max(height, lines.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line(indent, ' ');
      for (std::size_t i = 0; i < layout.shown.size(); ++i) {
        if (i > 0) line += std::string(layout.gap, ' ');
        line += padded(l < lines[i].size() ? lines[i][l] : "", layout.widths[i], columns_[layout.shown[i]].align);
      }
      append_line(style, std::move(line));
    }
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  append_row(titles, Style::kBold);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (const auto section = sections_.find(r); section != sections_.end())
      append_line(Style::kPlain, std::string(indent, ' ') + section->second);
    append_row(rows_[r].cells, rows_[r].style);
  }
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (std::find(layout.shown.begin(), layout.shown.end(), c) == layout.shown.end()) missing.push_back(titles[c]);
  }
  if (!missing.empty())
    append_line(Style::kPlain,
                fmt::format("{:{}}no room in {} columns: {}", "", indent, width, fmt::join(missing, ", ")));
  return out;
}

std::string TextTable::text(std::size_t width, std::size_t indent) const {
  return rendered(width, indent, [](Style, const std::string& line) { return line; });
}

std::string TextTable::text(const Terminal& terminal) const {
  return rendered(terminal.output_width(), 0,
                  [&](Style style, const std::string& line) { return terminal.styled(style, line); });
}

std::string text_lines(const std::string& text) {
  return fmt::format("{}\n", fmt::join(wrap_text(text, kTextWidth), "\n"));
}

std::string fact(const char* label, const std::string& text, std::size_t width) {
  constexpr std::size_t kLabelWidth = 10;
  if (text.empty()) return {};
  std::string out;
  for (const std::string& line : wrap_text(text, width - kLabelWidth)) {
    out += fmt::format("{:<{}}{}\n", label, kLabelWidth, line);
    label = "";
  }
  return out;
}

std::string fact_note(const char* label, const std::string& text) {
  std::string out = fact(label, text);
  if (!out.empty()) out.pop_back();
  return out;
}

namespace {

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string csv_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

CsvWriter::CsvWriter(const std::vector<std::string>& columns) { add_row(columns); }

void CsvWriter::add_row(const std::vector<std::string>& cells) {
  for (std::size_t c = 0; c < cells.size(); ++c) text_ += (c > 0 ? "," : "") + csv_cell(cells[c]);
  text_ += '\n';
}

}  // namespace pgtune::tool
