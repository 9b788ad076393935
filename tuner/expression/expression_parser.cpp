// SPDX-License-Identifier: MIT
#include "tuner/expression/expression_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tuner/expression/expression.hpp"
#include "tuner/util/caret.hpp"
#include "tuner/util/identifier.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::space {
namespace {

struct BinaryOperator {
  std::string_view symbol;
  int precedence;
  Op op;
};
constexpr int kEqualityPrecedence = 3;
constexpr int kRelationPrecedence = 4;
constexpr std::array kBinaryOperators{
    BinaryOperator{"||", 1, Op::kOrJump},    BinaryOperator{"&&", 2, Op::kAndJump},
    BinaryOperator{"==", 3, Op::kEqual},     BinaryOperator{"!=", 3, Op::kNotEqual},
    BinaryOperator{"<", 4, Op::kLess},       BinaryOperator{"<=", 4, Op::kLessEqual},
    BinaryOperator{">", 4, Op::kGreater},    BinaryOperator{">=", 4, Op::kGreaterEqual},
    BinaryOperator{"<<", 5, Op::kShiftLeft}, BinaryOperator{">>", 5, Op::kShiftRight},
    BinaryOperator{"+", 6, Op::kAdd},        BinaryOperator{"-", 6, Op::kSubtract},
    BinaryOperator{"*", 7, Op::kMultiply},   BinaryOperator{"/", 7, Op::kDivide},
    BinaryOperator{"%", 7, Op::kModulo},
};

struct Function {
  std::string_view name;
  std::size_t least_arguments, most_arguments;
  Op op;
};
constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
constexpr std::array kFunctions{
    Function{"ceil_div", 2, 2, Op::kCeilDiv}, Function{"round_up", 2, 2, Op::kRoundUp},
    Function{"min", 2, kAnyNumber, Op::kMin}, Function{"max", 2, kAnyNumber, Op::kMax},
    Function{"gcd", 2, 2, Op::kGcd},          Function{"abs", 1, 1, Op::kAbs},
    Function{"is_pow2", 1, 1, Op::kIsPow2},
};

const BinaryOperator* find_operator(const Token& token) {
  const auto* const found = std::find_if(kBinaryOperators.begin(), kBinaryOperators.end(),
                                         [&](const BinaryOperator& entry) { return token.is(entry.symbol); });
  return found == kBinaryOperators.end() ? nullptr : found;
}

bool is_comparison(int precedence) { return precedence == kEqualityPrecedence || precedence == kRelationPrecedence; }

}  // namespace

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Function& function : kFunctions) out.emplace_back(function.name);
    return out;
  }();
  return names;
}

ExpressionParser::ExpressionParser(std::string_view text) : lexer_(text) { program_.text = text; }

Result<ExpressionProgram> ExpressionParser::parse() {
  bool parsed = advance();
  if (parsed && token_.kind == TokenKind::kEnd) parsed = error("the expression is empty", token_.position);
  parsed = parsed && expression();
  if (parsed && token_.kind != TokenKind::kEnd) parsed = error("expected an operator here", token_.position);
  if (!parsed) return tl::unexpected<Error>(std::move(*error_));
  return std::move(program_);
}

bool ExpressionParser::error(std::string_view message, std::size_t position) {
  error_ = Error{ErrorKind::kUsage, with_caret(message, program_.text, position), {}};
  return false;
}

bool ExpressionParser::advance() {
  auto token = lexer_.next();
  if (!token) {
    error_ = std::move(token.error());
    return false;
  }
  token_ = *token;
  return true;
}

bool ExpressionParser::expect(std::string_view symbol, std::string_view message) {
  return token_.is(symbol) ? advance() : error(message, token_.position);
}

bool ExpressionParser::enter() {
  if (++depth_ <= Expression::kMaxDepth) return true;
  return error(fmt::format("nested more than {} deep; split it into derived values", Expression::kMaxDepth),
               token_.position);
}

void ExpressionParser::emit(Op op, std::size_t position, std::int64_t operand) {
  program_.code.push_back({op, static_cast<std::uint32_t>(position), operand});
  if (op >= Op::kMultiply || op == Op::kBranch || op == Op::kAndJump || op == Op::kOrJump) --stack_;
}

bool ExpressionParser::push(Op op, std::size_t position, std::int64_t operand) {
  if (++stack_ > ExpressionProgram::kMaxStack) {
    return error("too many pending operations; split it into derived values", position);
  }
  program_.most_values = std::max(program_.most_values, stack_);
  emit(op, position, operand);
  return true;
}

void ExpressionParser::land(std::size_t jump) {
  program_.code[jump].operand = static_cast<std::int64_t>(program_.code.size());
}

bool ExpressionParser::expression() {
  if (!enter() || !binary(1)) return false;
  if (token_.is("?") && !conditional()) return false;
  --depth_;
  return true;
}

bool ExpressionParser::conditional() {
  const std::size_t branch = program_.code.size();
  emit(Op::kBranch, token_.position);
  if (!advance() || !expression()) return false;
  const std::size_t jump = program_.code.size();
  emit(Op::kJump, token_.position);
  land(branch);
  --stack_;  // only one of the two values is ever there
  if (!expect(":", "expected ':' of the conditional 'a ? b : c'") || !expression()) return false;
  land(jump);
  return true;
}

bool ExpressionParser::binary(int lowest_precedence) {
  const std::size_t left = program_.code.size();
  if (!unary()) return false;
  int previous = 0;
  for (const BinaryOperator* found = find_operator(token_); found != nullptr && found->precedence >= lowest_precedence;
       found = find_operator(token_)) {
    const std::size_t position = token_.position;
    if (found->precedence == previous && is_comparison(previous)) {
      return error("comparisons do not chain: write a < b && b < c, or use parentheses", position);
    }
    previous = found->precedence;
    if (!advance()) return false;
    if (found->op == Op::kAndJump || found->op == Op::kOrJump) {
      if (!logical(found->op, position, found->precedence + 1)) return false;
      continue;
    }
    const std::size_t right = program_.code.size();
    if (!binary(found->precedence + 1)) return false;
    if (found->precedence == kEqualityPrecedence) note_comparison(left, right);
    emit(found->op, position);
  }
  return true;
}

void ExpressionParser::note_comparison(std::size_t left, std::size_t right) {
  if (right - left != 1 || program_.code.size() - right != 1) return;
  const Instruction *name = &program_.code[left], *label = &program_.code[right];
  if (name->op != Op::kName) std::swap(name, label);
  if (name->op != Op::kName || label->op != Op::kConstant || program_.text[label->position] != '\'') return;
  const std::size_t begin = label->position + std::size_t{1};
  program_.label_comparisons.push_back({program_.names[static_cast<std::size_t>(name->operand)],
                                        program_.text.substr(begin, program_.text.find('\'', begin) - begin),
                                        label->position});
}

bool ExpressionParser::logical(Op jump_op, std::size_t position, int operand_precedence) {
  const std::size_t jump = program_.code.size();
  emit(jump_op, position);
  if (!binary(operand_precedence)) return false;
  emit(Op::kToBool, position);
  land(jump);
  return true;
}

bool ExpressionParser::unary() {
  if (!token_.is("-") && !token_.is("!") && !token_.is("+")) return primary();
  if (token_.is("+")) return error("there is no unary '+'; leave it out", token_.position);
  const Op op = token_.is("-") ? Op::kNegate : Op::kNot;
  const std::size_t position = token_.position;
  if (!enter() || !advance() || !unary()) return false;
  --depth_;
  emit(op, position);
  return true;
}

bool ExpressionParser::primary() {
  const Token token = token_;
  switch (token.kind) {
    case TokenKind::kInteger:
      return push(Op::kConstant, token.position, token.integer) && advance();
    case TokenKind::kLabel:
      return push(Op::kConstant, token.position, label_value(token.text)) && advance();
    case TokenKind::kName:
      if (!advance()) return false;
      return token_.is("(") ? call(token) : push(Op::kName, token.position, name_index(token));
    case TokenKind::kEnd:
      return error("the expression ends where a value is expected", token.position);
    case TokenKind::kSymbol:
      break;
  }
  if (!token.is("(")) return error("expected a number, name, label or '(' here", token.position);
  return advance() && expression() && expect(")", "expected ')'");
}

bool ExpressionParser::call(const Token& name) {
  const auto* const function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                            [&](const Function& entry) { return entry.name == name.text; });
  if (function == kFunctions.end()) {
    return error(fmt::format("unknown function '{}'{}", name.text, suggestion(name.text, function_names())),
                 name.position);
  }
  if (!advance()) return false;
  std::size_t arguments = 0;
  while (!token_.is(")")) {
    if (arguments > 0 && !expect(",", "expected ',' or ')'")) return false;
    if (!expression()) return false;
    if (++arguments >= 2) emit(function->op, name.position);  // min and max fold from the left
    if (arguments > function->most_arguments) break;
  }
  if (arguments < function->least_arguments || arguments > function->most_arguments) {
    return error(
        fmt::format("{} takes {}{} argument{}", name.text, function->most_arguments == kAnyNumber ? "at least " : "",
                    function->least_arguments, function->least_arguments == 1 ? "" : "s"),
        name.position);
  }
  if (function->most_arguments == 1) emit(function->op, name.position);
  return advance();
}

std::int64_t ExpressionParser::name_index(const Token& name) {
  const auto found = std::find(program_.names.begin(), program_.names.end(), name.text);
  const auto index = found - program_.names.begin();
  if (found == program_.names.end()) {
    program_.names.emplace_back(name.text);
    program_.name_positions.push_back(name.position);
  }
  return index;
}

}  // namespace pgtune::space
