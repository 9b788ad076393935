// SPDX-License-Identifier: MIT
// Cuts an expression's text into tokens. Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune::space {

enum class TokenKind { kEnd, kInteger, kLabel, kName, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  ///< as written; without the quotes for kLabel
  std::size_t position = 0;
  std::int64_t integer = 0;  ///< kInteger

  [[nodiscard]] bool is(std::string_view symbol) const { return kind == TokenKind::kSymbol && text == symbol; }
};

class ExpressionLexer {
 public:
  explicit ExpressionLexer(std::string_view text) : text_(text) {}
  /// The next token; kEnd at the end, again and again. Errors carry the caret.
  [[nodiscard]] Result<Token> next();

 private:
  [[nodiscard]] Result<Token> integer();
  [[nodiscard]] Result<Token> label();
  [[nodiscard]] Result<Token> symbol();
  [[nodiscard]] tl::unexpected<Error> error(std::string_view message, std::size_t position) const;
  [[nodiscard]] std::size_t end_of_word(std::size_t from) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace pgtune::space
