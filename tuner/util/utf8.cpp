// SPDX-License-Identifier: MIT
#include "tuner/util/utf8.hpp"

namespace pgtune {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool second = follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

std::string as_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t sound = 0;
  while (sound < text.size()) {
    if (const std::size_t length = utf8_length(text.substr(sound)); length != 0) {
      sound += length;
      continue;
    }
    out.append(text.substr(0, sound)).append(kReplacement);
    text.remove_prefix(sound + 1);
    sound = 0;
  }
  return out.append(text);
}

std::string excerpt(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return as_utf8(text);
  std::size_t end = 0;
  while (end < bytes) {
    const std::size_t length = utf8_length(text.substr(end));
    if (end + length > bytes) break;
    end += length == 0 ? 1 : length;
  }
  return as_utf8(text.substr(0, end)) + "...";
}

}  // namespace pgtune
