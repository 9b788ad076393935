// SPDX-License-Identifier: MIT
// What an Expression compiles to: postfix instructions for a small stack machine. Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pgtune::space {

enum class Op : std::uint8_t {
  kConstant,  ///< push operand
  kName,      ///< push the value of names[operand]
  kJump,      ///< go to instruction `operand`
  kBranch,    ///< pop; go to `operand` if it was zero
  kAndJump,   ///< if the top is zero go to `operand`, else pop
  kOrJump,    ///< if the top is not zero make it 1 and go to `operand`, else pop
  kToBool,    // from here on one operand, replaced by the result
  kNegate,
  kNot,
  kAbs,
  kIsPow2,
  kMultiply,  // from here on two operands, replaced by the result
  kDivide,
  kModulo,
  kAdd,
  kSubtract,
  kShiftLeft,
  kShiftRight,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kCeilDiv,
  kRoundUp,
  kGcd,
  kMin,
  kMax,
};

/// Whether its operand is the place of an instruction.
[[nodiscard]] constexpr bool is_jump(Op op) { return op >= Op::kJump && op <= Op::kOrJump; }

struct Instruction {
  Op op = Op::kConstant;
  std::uint32_t position = 0;  ///< byte offset in the text, for the caret
  std::int64_t operand = 0;
};

/// A name that is compared by == or != with a label.
struct LabelComparison {
  std::string name, label;
  std::size_t position = 0;  ///< of the label in the text
};

struct ExpressionProgram {
  /// Values on the stack at once. Nesting is limited to Expression::kMaxDepth and each level can leave one operand
  /// waiting per precedence, so programs that need more are refused as too deep.
  static constexpr std::size_t kMaxStack = 256;

  std::string text;
  std::vector<std::string> names;
  std::vector<std::size_t> name_positions;
  std::vector<LabelComparison> label_comparisons;
  std::vector<Instruction> code;
  std::size_t most_values = 0;  ///< on the stack at once
};

}  // namespace pgtune::space
