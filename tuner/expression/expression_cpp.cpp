// SPDX-License-Identifier: MIT
// Turns a compiled expression back into text: C++ that computes the same, faults included.
#include <fmt/format.h>

#include "tuner/expression/expression.hpp"
#include "tuner/expression/expression_program.hpp"

namespace pgtune::space {
namespace {

/// The functions of exported/checked.hpp.
std::string_view function_of(Op op) {
  switch (op) {
    case Op::kNegate:
      return "negative";
    case Op::kNot:
      return "inverse";
    case Op::kAbs:
      return "magnitude";
    case Op::kIsPow2:
      return "power_of_two";
    case Op::kMultiply:
      return "product";
    case Op::kDivide:
      return "quotient";
    case Op::kModulo:
      return "remainder";
    case Op::kAdd:
      return "sum";
    case Op::kSubtract:
      return "difference";
    case Op::kShiftLeft:
      return "shift_left";
    case Op::kShiftRight:
      return "shift_right";
    case Op::kLess:
      return "less";
    case Op::kLessEqual:
      return "less_equal";
    case Op::kGreater:
      return "greater";
    case Op::kGreaterEqual:
      return "greater_equal";
    case Op::kEqual:
      return "equal";
    case Op::kNotEqual:
      return "not_equal";
    case Op::kCeilDiv:
      return "ceil_div";
    case Op::kRoundUp:
      return "round_up";
    case Op::kGcd:
      return "common_divisor";
    case Op::kMin:
      return "smaller";
    case Op::kMax:
      return "larger";
    default:  // kToBool
      return "truth";
  }
}

class CppWriter {
 public:
  CppWriter(const std::vector<Instruction>& code, std::span<const std::string> names) : code_(code), names_(names) {}

  /// The value that the instructions from `begin` to `end` leave on the stack.
  std::string value(std::size_t begin, std::size_t end) {  // NOLINT(misc-no-recursion): as deep as the parser allowed
    std::vector<std::string> stack;
    const auto pop = [&] {
      std::string top = std::move(stack.back());
      stack.pop_back();
      return top;
    };
    for (std::size_t at = begin; at < end; ++at) {
      const Instruction& instruction = code_[at];
      const auto target = static_cast<std::size_t>(instruction.operand);
      switch (instruction.op) {
        case Op::kConstant:
          stack.push_back(std::to_string(instruction.operand));
          break;
        case Op::kName:
          stack.push_back(names_[target]);
          break;
        case Op::kBranch: {
          // The jump over the other value stands right before it.
          const auto after = static_cast<std::size_t>(code_[target - 1].operand);
          stack.push_back(fmt::format("(yes({}) ? {} : {})", pop(), value(at + 1, target - 1), value(target, after)));
          at = after - 1;
          break;
        }
        case Op::kAndJump:
        case Op::kOrJump:
          // The right side ends in kToBool.
          stack.push_back(fmt::format("truth(yes({}) {} yes({}))", pop(), instruction.op == Op::kAndJump ? "&&" : "||",
                                      value(at + 1, target - 1)));
          at = target - 1;
          break;
        default: {
          std::string last = pop();
          const std::string first = instruction.op >= Op::kMultiply ? pop() + ", " : "";
          stack.push_back(fmt::format("{}({}{}{})", function_of(instruction.op), can_fault(instruction.op) ? "x, " : "",
                                      first, last));
        }
      }
    }
    return stack.back();
  }

 private:
  static bool can_fault(Op op) {
    switch (op) {
      case Op::kNegate:
      case Op::kAbs:
      case Op::kMultiply:
      case Op::kDivide:
      case Op::kModulo:
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kShiftLeft:
      case Op::kShiftRight:
      case Op::kCeilDiv:
      case Op::kRoundUp:
      case Op::kGcd:
        return true;
      default:
        return false;
    }
  }

  const std::vector<Instruction>& code_;
  std::span<const std::string> names_;
};

}  // namespace

std::string Expression::cpp(std::span<const std::string> cpp_names) const {
  return CppWriter(program_->code, cpp_names).value(0, program_->code.size());
}

}  // namespace pgtune::space
