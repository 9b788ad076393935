// SPDX-License-Identifier: MIT
// Precedence climbing from tokens to postfix instructions. Private to this room.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/expression/expression_lexer.hpp"
#include "tuner/expression/expression_program.hpp"

namespace pgtune::space {

/// Names of the functions expressions may call.
[[nodiscard]] const std::vector<std::string>& function_names();

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text);
  /// Call once.
  [[nodiscard]] Result<ExpressionProgram> parse();

 private:
  // Each returns false after setting error_.
  [[nodiscard]] bool advance();
  [[nodiscard]] bool expect(std::string_view symbol, std::string_view message);
  [[nodiscard]] bool expression();
  [[nodiscard]] bool conditional();
  [[nodiscard]] bool binary(int lowest_precedence);
  [[nodiscard]] bool logical(Op jump, std::size_t position, int operand_precedence);
  [[nodiscard]] bool unary();
  [[nodiscard]] bool primary();
  [[nodiscard]] bool call(const Token& name);
  [[nodiscard]] bool enter();
  [[nodiscard]] bool push(Op op, std::size_t position, std::int64_t operand);
  [[nodiscard]] bool error(std::string_view message, std::size_t position);

  void emit(Op op, std::size_t position, std::int64_t operand = 0);
  void land(std::size_t jump);
  /// Of the operands that begin at `left` and `right`.
  void note_comparison(std::size_t left, std::size_t right);
  [[nodiscard]] std::int64_t name_index(const Token& name);

  ExpressionProgram program_;
  ExpressionLexer lexer_;
  Token token_;
  std::optional<Error> error_;
  int depth_ = 0;
  std::size_t stack_ = 0;
};

}  // namespace pgtune::space
