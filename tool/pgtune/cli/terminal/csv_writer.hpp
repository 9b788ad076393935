// SPDX-License-Identifier: MIT
// Tables as CSV: a header line, then one line a row, quoted as RFC 4180 says. Lines end in a newline alone, as other
// tools on this system expect.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pgtune::tool {

/// The shortest decimal text that reads back as `value`; nothing for no value and for what is not finite.
[[nodiscard]] std::string csv_number(std::optional<double> value);

class CsvWriter {
 public:
  /// `columns`: names with their SI unit, such as "time_s".
  explicit CsvWriter(const std::vector<std::string>& columns);
  /// One cell a column.
  void add_row(const std::vector<std::string>& cells);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace pgtune::tool
