// SPDX-License-Identifier: MIT
#include "tuner/expression/expression_lexer.hpp"

#include <array>
#include <charconv>

#include "tuner/util/caret.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {
namespace {

constexpr std::array<std::string_view, 23> kSymbols{"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">", "+", "-",
                                                    "*",  "/",  "%",  "!",  "?",  ":",  "(",  ")",  ",", "&", "|"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

tl::unexpected<Error> ExpressionLexer::error(std::string_view message, std::size_t position) const {
  return fail(ErrorKind::kUsage, with_caret(message, text_, position));
}

std::size_t ExpressionLexer::end_of_word(std::size_t from) const {
  while (from < text_.size() && is_word_character(text_[from])) ++from;
  return from;
}

Result<Token> ExpressionLexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
    ++at_;
  }
  if (at_ == text_.size()) return Token{TokenKind::kEnd, {}, at_};
  const char c = text_[at_];
  if (is_digit(c)) return integer();
  if (c == '\'') return label();
  if (!is_word_character(c)) return symbol();
  const std::size_t begin = at_;
  at_ = end_of_word(begin);
  return Token{TokenKind::kName, text_.substr(begin, at_ - begin), begin};
}

Result<Token> ExpressionLexer::integer() {
  const std::size_t begin = at_;
  at_ = end_of_word(begin);
  const std::string_view word = text_.substr(begin, at_ - begin);
  const bool hexadecimal = word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  if (!hexadecimal && word.size() > 1 && word[0] == '0' && is_digit(word[1])) {
    return error("a decimal number does not start with 0 (octal is not supported)", begin);
  }
  const std::string_view digits = hexadecimal ? word.substr(2) : word;
  Token token{TokenKind::kInteger, word, begin, 0};
  const char* const digits_end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), digits_end, token.integer, hexadecimal ? 16 : 10);
  if (code == std::errc::result_out_of_range) return error("the number does not fit in 64 bits", begin);
  if (code != std::errc{} || stop != digits_end) {
    return error("not an integer: numbers are decimal or 0x hexadecimal",
                 static_cast<std::size_t>(stop - text_.data()));
  }
  return token;
}

Result<Token> ExpressionLexer::label() {
  const std::size_t begin = at_;
  const std::size_t end = end_of_word(begin + 1);
  if (end == text_.size()) return error("this label has no closing quote", begin);
  if (text_[end] != '\'') return error("a label holds letters, digits and '_' only, between single quotes", end);
  if (end == begin + 1) return error("an empty label", begin);
  at_ = end + 1;
  return Token{TokenKind::kLabel, text_.substr(begin + 1, end - begin - 1), begin, 0};
}

Result<Token> ExpressionLexer::symbol() {
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view symbol : kSymbols) {
    if (!rest.starts_with(symbol)) continue;
    if (symbol == "&" || symbol == "|") {
      return error(symbol == "&" ? "write '&&' for \"and\"" : "write '||' for \"or\"", at_);
    }
    const Token token{TokenKind::kSymbol, rest.substr(0, symbol.size()), at_, 0};
    at_ += symbol.size();
    return token;
  }
  if (rest.front() == '=') return error("write '==' to compare", at_);
  if (rest.front() == '"') return error("labels are written in single quotes, such as 'cp_async'", at_);
  if (rest.front() == '.') return error("only integers are supported", at_);
  return error("unexpected character", at_);
}

}  // namespace pgtune::space
