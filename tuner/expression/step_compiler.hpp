// SPDX-License-Identifier: MIT
// From expressions to the instructions of a step program. Private to tuner/expression.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/expression/expression_program.hpp"
#include "tuner/expression/expression_tree.hpp"
#include "tuner/expression/step_program.hpp"

namespace pgtune::space {

class StepCompiler {
 public:
  /// Values that wait at a time: an expression's stack held as many.
  static constexpr std::uint32_t kTemporaries = ExpressionProgram::kMaxStack;

  /// Codes of instructions: those of Op for what computes, then these.
  static constexpr std::uint8_t kFirstOwn = 64;
  enum Own : std::uint8_t { kPass = kFirstOwn, kReject, kMove, kGo, kGoIfZero, kGoIfNotZero, kGoUnless };
  static constexpr std::uint8_t code_of(Op op) { return static_cast<std::uint8_t>(op); }
  /// Goes to its target unless the comparison holds.
  static constexpr std::uint8_t go_unless(Op comparison) {
    return static_cast<std::uint8_t>(kGoUnless + code_of(comparison) - code_of(Op::kLess));
  }
  static constexpr Op comparison_of(std::uint8_t code) {
    return static_cast<Op>(code - kGoUnless + code_of(Op::kLess));
  }
  static constexpr bool is_jump(std::uint8_t code) { return code >= kGo; }

  StepCompiler(StepMemory& memory, std::vector<StepProgram::Instruction>& code) : memory_(memory), code_(code) {}

  void add(const StepProgram::Step& step);
  /// Ends the program.
  void finish();

 private:
  using Jumps = std::vector<std::size_t>;  ///< instructions whose target is not known yet

  /// The place of a node's value, computed where need be into a temporary from `temporary` on.
  std::uint32_t value(std::uint32_t node, std::uint32_t temporary);
  void value_into(std::uint32_t node, std::uint32_t place, std::uint32_t temporary);
  /// Jumps if the node is true, that is not zero, or if it is false; goes on otherwise.
  void go_if(bool is_true, std::uint32_t node, std::uint32_t temporary, Jumps& jumps);
  std::size_t emit(std::uint8_t op, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t target = 0);
  void land(const Jumps& jumps);

  StepMemory& memory_;
  std::vector<StepProgram::Instruction>& code_;
  const ExpressionTree* tree_ = nullptr;
  Jumps rejections_;
};

}  // namespace pgtune::space
