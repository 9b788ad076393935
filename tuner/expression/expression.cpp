// SPDX-License-Identifier: MIT
// Evaluates compiled expressions.
#include "tuner/expression/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/expression/arithmetic.hpp"
#include "tuner/expression/expression_parser.hpp"
#include "tuner/expression/expression_program.hpp"
#include "tuner/util/caret.hpp"

namespace pgtune::space {

Result<Expression> Expression::parse(std::string_view text) {
  if (text.size() > kMaxLength) {
    return fail(ErrorKind::kUsage, with_caret(fmt::format("the expression has {} characters, the limit is {}; split it "
                                                          "into derived values",
                                                          text.size(), kMaxLength),
                                              text, kMaxLength));
  }
  TRY_ASSIGN(auto program, ExpressionParser(text).parse());
  return Expression(std::make_shared<const ExpressionProgram>(std::move(program)));
}

Expression::Expression(std::shared_ptr<const ExpressionProgram> program) : program_(std::move(program)) {}

const std::vector<std::string>& Expression::names() const { return program_->names; }
std::size_t Expression::name_position(std::size_t index) const { return program_->name_positions[index]; }
const std::string& Expression::text() const { return program_->text; }

Result<Expression> Expression::inlined(const std::map<std::string, Expression>& definitions) const {
  ExpressionProgram out;
  out.text = text();
  const auto index_of = [&](const std::string& name, std::size_t position) {
    const auto found = std::find(out.names.begin(), out.names.end(), name);
    if (found == out.names.end()) {
      out.names.push_back(name);
      out.name_positions.push_back(position);
      return static_cast<std::int64_t>(out.names.size() - 1);
    }
    return static_cast<std::int64_t>(found - out.names.begin());
  };
  const std::vector<Instruction>& code = program_->code;
  const auto with_too_much = [this](std::size_t position) {
    return fail(ErrorKind::kUsage,
                with_caret("too long with the values that it uses; use simpler ones", text(), position));
  };
  std::vector<std::size_t> moved;  // where each instruction has gone
  std::size_t most_inside = 0;
  for (const Instruction& instruction : code) {
    moved.push_back(out.code.size());
    if (instruction.op != Op::kName) {
      out.code.push_back(instruction);
      continue;
    }
    const std::string& name = names()[static_cast<std::size_t>(instruction.operand)];
    const auto definition = definitions.find(name);
    if (definition == definitions.end()) {
      out.code.push_back({Op::kName, instruction.position, index_of(name, instruction.position)});
      continue;
    }
    const ExpressionProgram& inside = *definition->second.program_;
    if (out.code.size() + inside.code.size() > kMaxLength) return with_too_much(instruction.position);
    const auto begin = static_cast<std::int64_t>(out.code.size());
    for (const Instruction& part : inside.code) {
      Instruction copy{part.op, instruction.position, part.operand};
      if (part.op == Op::kName)
        copy.operand = index_of(inside.names[static_cast<std::size_t>(part.operand)], instruction.position);
      if (is_jump(part.op)) copy.operand += begin;
      out.code.push_back(copy);
    }
    most_inside = std::max(most_inside, inside.most_values);
  }
  moved.push_back(out.code.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (is_jump(code[i].op))
      out.code[moved[i]].operand = static_cast<std::int64_t>(moved[static_cast<std::size_t>(code[i].operand)]);
  }
  out.most_values = program_->most_values + most_inside;
  if (out.most_values > ExpressionProgram::kMaxStack) return with_too_much(0);
  return Expression(std::make_shared<const ExpressionProgram>(std::move(out)));
}

template <typename Load>
Result<std::int64_t> Expression::run(const Load& load) const {
  std::array<std::int64_t, ExpressionProgram::kMaxStack> stack;  // left uninitialised: the parser bounded its use
  std::size_t size = 0;
  const std::vector<Instruction>& code = program_->code;
  for (std::size_t at = 0; at < code.size();) {
    const Instruction& instruction = code[at++];
    Fault fault = Fault::kNone;
    switch (instruction.op) {
      case Op::kConstant:
        stack[size++] = instruction.operand;
        break;
      case Op::kName: {
        const std::optional<std::int64_t> value = load(static_cast<std::size_t>(instruction.operand));
        if (!value) {
          const std::string& name = names()[static_cast<std::size_t>(instruction.operand)];
          return fail(ErrorKind::kUsage,
                      with_caret(fmt::format("unknown name '{}'", name), text(), instruction.position));
        }
        stack[size++] = *value;
        break;
      }
      case Op::kJump:
        at = static_cast<std::size_t>(instruction.operand);
        break;
      case Op::kBranch:
        if (stack[--size] == 0) at = static_cast<std::size_t>(instruction.operand);
        break;
      case Op::kAndJump:
      case Op::kOrJump:
        if ((stack[size - 1] != 0) == (instruction.op == Op::kOrJump)) {
          stack[size - 1] = instruction.op == Op::kOrJump ? 1 : 0;
          at = static_cast<std::size_t>(instruction.operand);
        } else {
          --size;
        }
        break;
      default:
        if (instruction.op < Op::kMultiply) {
          fault = apply_unary(instruction.op, stack[size - 1], stack[size - 1]);
        } else {
          --size;
          fault = apply_binary(instruction.op, stack[size - 1], stack[size], stack[size - 1]);
        }
    }
    if (fault != Fault::kNone) {
      return fail(ErrorKind::kUsage, with_caret(describe(fault), text(), instruction.position));
    }
  }
  return stack[0];
}

Result<std::int64_t> Expression::evaluate(const Scope& scope) const {
  return run([&](std::size_t name) { return scope.value(program_->names[name]); });
}

Result<std::int64_t> Expression::evaluate(std::span<const std::int64_t> values,
                                          std::span<const std::uint32_t> slots) const {
  return run([&](std::size_t name) { return std::optional<std::int64_t>(values[slots[name]]); });
}

}  // namespace pgtune::space
