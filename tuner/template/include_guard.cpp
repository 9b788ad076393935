// SPDX-License-Identifier: MIT
// Finds includes that leave the folders that a template may read.
#include <algorithm>
#include <array>

#include "tuner/template/template_source.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {
namespace {

constexpr std::string_view kBlanks = " \t\v\f\r";
constexpr std::size_t kMaxShownBytes = 80;

/// Joins lines that end in a backslash, so that a directive is one line.
std::string spliced(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  while (true) {
    const std::size_t backslash = source.find('\\');
    out += source.substr(0, backslash);
    if (backslash == std::string_view::npos) return out;
    source.remove_prefix(backslash + 1);
    const std::size_t next = source.find_first_not_of(kBlanks);
    if (next != std::string_view::npos && source[next] == '\n') {
      source.remove_prefix(next + 1);
    } else {
      out += '\\';
    }
  }
}

/// Drops blanks and comments; an unfinished comment is the rest of the line.
void skip_to_token(std::string_view& text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (!text.starts_with("/*")) return;
    const std::size_t end = text.find("*/", 2);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  if (text.size() > word.size() && is_word_character(text[word.size()])) return false;
  text.remove_prefix(word.size());
  return true;
}

/// `rest` follows "#include".
bool is_plain(std::string_view rest) {
  skip_to_token(rest);
  if (rest.empty() || (rest.front() != '"' && rest.front() != '<')) return false;
  const char closing = rest.front() == '"' ? '"' : '>';
  const std::size_t end = rest.find(closing, 1);
  // An unterminated name is none, to the compiler as well.
  return end == std::string_view::npos || stays_below(rest.substr(1, end - 1));
}

/// Every '#' (or its digraph) is checked, anywhere in the text.
bool is_allowed(std::string_view line, std::size_t after_sign) {
  std::string_view rest = line.substr(after_sign);
  skip_to_token(rest);
  constexpr std::array<std::string_view, 4> kDirectives{"include", "include_next", "import", "embed"};
  const bool includes = std::any_of(kDirectives.begin(), kDirectives.end(),
                                    [&rest](std::string_view directive) { return take_word(rest, directive); });
  return !includes || is_plain(rest);
}

}  // namespace

bool stays_below(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find_first_of("\\\0", 0, 2) != std::string_view::npos) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

std::optional<std::string> forbidden_include(std::string_view source) {
  const std::string text = spliced(source);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    // find_first_of() would call memchr() for every character of all headers, whenever a template is loaded.
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] != '#' && line[at] != '%') continue;
      const std::string_view here = line.substr(at);
      const std::size_t sign = here.starts_with('#') ? 1 : here.starts_with("%:") ? 2 : 0;
      if (sign > 0 && !is_allowed(line, at + sign)) return std::string(here.substr(0, kMaxShownBytes));
    }
  }
  return std::nullopt;
}

}  // namespace pgtune::space
