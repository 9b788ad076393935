// SPDX-License-Identifier: MIT
#include "tool/worker/line_channel.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace pgtune::worker {

Result<std::optional<std::string>> LineChannel::read_line() {
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (std::min(end, buffer_.size()) > max_line_bytes_)
      return fail(ErrorKind::kInternal, fmt::format("a request line is longer than {} bytes", max_line_bytes_));
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = buffer_.size();

    std::array<char, 1 << 16> chunk;
    const ssize_t count = ::read(input_, chunk.data(), chunk.size());
    if (count == 0) return std::nullopt;
    if (count > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return fail(ErrorKind::kInternal, "cannot read requests: " + std::generic_category().message(errno));
    }
  }
}

Result<void> LineChannel::write_line(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(output_, rest.data(), rest.size());
    if (count > 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return fail(ErrorKind::kInternal, "cannot write a reply: " + std::generic_category().message(errno));
    }
  }
  return {};
}

}  // namespace pgtune::worker
