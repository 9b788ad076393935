// SPDX-License-Identifier: MIT
// Lines in and out over two descriptors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune::worker {

class LineChannel {
 public:
  /// Does not own the descriptors. Lines longer than `max_line_bytes` are an error of the sender.
  LineChannel(int input, int output, std::size_t max_line_bytes)
      : input_(input), output_(output), max_line_bytes_(max_line_bytes) {}

  /// The next line without its newline; waits for it. Nothing at the end of input (an unfinished last line is dropped:
  /// its sender died while writing). Errors: a line that is too long, a failing read.
  [[nodiscard]] Result<std::optional<std::string>> read_line();

  /// Writes the line and a newline. Errors: the reader has closed.
  [[nodiscard]] Result<void> write_line(std::string_view line);

 private:
  int input_;
  int output_;
  std::size_t max_line_bytes_;
  std::string buffer_;        ///< read but not yet returned
  std::size_t searched_ = 0;  ///< bytes of buffer_ known to hold no newline
};

}  // namespace pgtune::worker
