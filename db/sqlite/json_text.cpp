// SPDX-License-Identifier: MIT
#include "db/sqlite/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "tuner/util/utf8.hpp"

namespace pgtune::db {
namespace {

void append_ascii(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    std::array<char, sizeof "\\u0000"> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
    out += escaped.data();
  } else {
    out += c;
  }
}

template <typename Number>
void append_number(std::string& out, Number number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 1) {
      append_ascii(out, text.front());
    } else if (length == 0) {
      out += "\\ufffd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void append_json(std::string& out, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_json(out, std::string_view(*text));
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    append_number(out, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (std::isfinite(*real)) {
      append_number(out, *real);
    } else {
      out += *real > 0 ? "1e999" : "-1e999";
    }
  } else {
    out += "null";
  }
}

}  // namespace pgtune::db
