// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/csv_writer.hpp"

#include <fmt/format.h>

#include <cmath>

namespace pgtune::tool {
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
