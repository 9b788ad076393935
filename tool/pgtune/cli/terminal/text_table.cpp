// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// wrap_text()'s `after`.
std::string_view broken_after(Wrap wrap) { return wrap == Wrap::kNames ? ",_" : ","; }

/// The width of the longest part that wrap_text() does not break.
std::size_t longest_word(const std::string& text, std::string_view after) {
  std::size_t longest = 0, length = 0;
  for (const char c : text) {
    length = c == ' ' ? 0 : length + 1;
    longest = std::max(longest, length);
    if (after.find(c) != std::string_view::npos) length = 0;
  }
  return longest;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::vector<std::string> wrap_text(const std::string& text, std::size_t width, std::string_view after) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > width) {
    const std::size_t blank = rest.find_last_of(' ', width);
    const std::size_t comma = width > 0 ? rest.find_last_of(after, width - 1) : std::string::npos;
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

std::string TextTable::text(std::size_t width, std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[c]));
    widths.push_back(widest);
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::size_t total = std::accumulate(widths.begin(), widths.end(), indent + kGap * (columns_.size() - 1));
    if (columns_[c].wrap == Wrap::kNone || total <= width) continue;
    const std::size_t excess = total - width;
    std::size_t least = std::max(kNarrowestWrap, display_width(columns_[c].title));
    for (const auto& row : rows_)
      least = std::max(least, std::min(longest_word(row[c], broken_after(columns_[c].wrap)), kLongestWord));
    widths[c] = widths[c] > excess + least ? widths[c] - excess : std::min(widths[c], least);
  }
  const std::size_t cells_width = std::accumulate(widths.begin(), widths.end(), indent);
  const std::size_t gap = cells_width + kGap * (columns_.size() - 1) > width ? 1 : kGap;

  std::string out;
  const auto append_row = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const Wrap wrap = columns_[c].wrap;
      lines.push_back(wrap == Wrap::kNone ? std::vector{cells[c]} : wrap_text(cells[c], widths[c], broken_after(wrap)));
      height = std::max(height, lines.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line(indent, ' ');
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if (c > 0) line += std::string(gap, ' ');
        line += padded(l < lines[c].size() ? lines[c][l] : "", widths[c], columns_[c].align);
      }
      append_line(out, std::move(line));
    }
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  append_row(titles);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (const auto section = sections_.find(r); section != sections_.end())
      append_line(out, std::string(indent, ' ') + section->second);
    append_row(rows_[r]);
  }
  return out;
}

std::string fact(const char* label, const std::string& text) {
  constexpr std::size_t kLabelWidth = 10;
  if (text.empty()) return {};
  std::string out;
  for (const std::string& line : wrap_text(text, kTextWidth - kLabelWidth)) {
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
