// SPDX-License-Identifier: MIT
// A list of searches as text: a line for each as it ends, and a summary of all.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/result_json.hpp"

namespace pgtune::tool {

class ResultList {
 public:
  /// `problems`: the whole list. Columns that `width` has no room for are left out; a problem's name is never cut.
  ResultList(const std::vector<Problem>& problems, std::size_t width);

  /// The line of one more, below the columns' titles where it is the first. With the geometric mean so far.
  [[nodiscard]] std::string line(const SearchOutcome& outcome, const Terminal& terminal);
  /// Wins, ties and losses; geometric mean, median and the least ratio with its problem. Empty without a ratio.
  [[nodiscard]] std::string summary() const;

 private:
  struct Column {
    const char* title;
    std::size_t width;
    bool shown = true;
  };
  [[nodiscard]] std::string row(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  bool begun_ = false;
  std::map<std::string, std::size_t> verdicts_;
  std::vector<double> ratios_;
  std::string slowest_;  ///< the problem of the least ratio
};

}  // namespace pgtune::tool
