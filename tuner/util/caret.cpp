// SPDX-License-Identifier: MIT
#include "tuner/util/caret.hpp"

#include <algorithm>
#include <vector>

namespace pgtune {
namespace {

constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShownAfter = 40;
constexpr std::string_view kEllipsis = "...";

bool is_continuation_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }
bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20U || byte == 0x7F; }

}  // namespace

std::string with_caret(std::string_view message, std::string_view text, std::size_t position) {
  std::vector<std::string_view> characters;
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && is_continuation_byte(text[end])) ++end;
    characters.push_back(text.substr(begin, end - begin));
    if (end <= position) ++column;
    begin = end;
  }
  column += position > text.size() ? 1 : 0;

  const std::size_t first = column > kShownBefore ? column - kShownBefore : 0;
  const std::size_t last = std::min(characters.size(), column + kShownAfter);
  std::string line = first > 0 ? std::string(kEllipsis) : std::string();
  const std::size_t caret_column = line.size() + column - first;
  for (std::size_t i = first; i < last; ++i) line += is_control(characters[i].front()) ? " " : characters[i];
  if (last < characters.size()) line += kEllipsis;
  return std::string(message) + "\n  " + line + "\n  " + std::string(caret_column, ' ') + "^";
}

}  // namespace pgtune
