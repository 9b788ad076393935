// SPDX-License-Identifier: MIT
#include "tuner/expression/step_compiler.hpp"

#include <utility>

namespace pgtune::space {
namespace {

bool is_comparison(Op op) { return op >= Op::kLess && op <= Op::kNotEqual; }

Op opposite(Op comparison) {
  switch (comparison) {
    case Op::kLess:
      return Op::kGreaterEqual;
    case Op::kLessEqual:
      return Op::kGreater;
    case Op::kGreater:
      return Op::kLessEqual;
    case Op::kGreaterEqual:
      return Op::kLess;
    case Op::kEqual:
      return Op::kNotEqual;
    default:
      return Op::kEqual;
  }
}

}  // namespace

void StepCompiler::add(const StepProgram::Step& step) {
  const ExpressionTree tree(step.expression.program(), step.places, memory_.known());
  tree_ = &tree;
  constexpr std::uint32_t temporary = 0;  // their places come first
  const auto known = tree.constant(tree.root());
  if (step.target && known) {
    memory_.set_known(*step.target, *known);
  } else if (step.target) {
    value_into(tree.root(), *step.target, temporary);
  } else if (!known || *known == 0) {
    go_if(false, tree.root(), temporary, rejections_);
  }
}

void StepCompiler::finish() {
  emit(kPass);
  land(std::exchange(rejections_, {}));
  emit(kReject);
}

std::size_t StepCompiler::emit(std::uint8_t op, std::uint32_t a, std::uint32_t b, std::uint32_t target) {
  code_.push_back({op, a, b, target});
  return code_.size() - 1;
}

void StepCompiler::land(const Jumps& jumps) {
  for (const std::size_t jump : jumps) code_[jump].target = static_cast<std::uint32_t>(code_.size());
}

std::uint32_t StepCompiler::value(std::uint32_t node, std::uint32_t temporary) {
  const ExpressionTree::Node& own = tree_->node(node);
  if (own.op == Op::kConstant) return memory_.constant_place(own.operand);
  if (own.op == Op::kName) return static_cast<std::uint32_t>(own.operand);
  value_into(node, temporary, temporary);
  return temporary;
}

void StepCompiler::value_into(std::uint32_t node, std::uint32_t place, std::uint32_t temporary) {
  const ExpressionTree::Node& own = tree_->node(node);
  switch (own.op) {
    case Op::kConstant:
    case Op::kName:
      emit(kMove, value(node, temporary), 0, place);
      return;
    case Op::kAndJump:
    case Op::kOrJump: {
      Jumps if_zero;
      go_if(false, node, temporary, if_zero);
      emit(kMove, memory_.constant_place(1), 0, place);
      const std::size_t behind = emit(kGo);
      land(if_zero);
      emit(kMove, memory_.constant_place(0), 0, place);
      land({behind});
      return;
    }
    case Op::kBranch: {
      Jumps if_zero;
      go_if(false, own.a, temporary, if_zero);
      value_into(own.b, place, temporary);
      const std::size_t behind = emit(kGo);
      land(if_zero);
      value_into(own.c, place, temporary);
      land({behind});
      return;
    }
    default: {
      const std::uint32_t a = value(own.a, temporary);
      const std::uint32_t b = own.op >= Op::kMultiply ? value(own.b, a == temporary ? temporary + 1 : temporary) : 0;
      emit(code_of(own.op), a, b, place);
    }
  }
}

void StepCompiler::go_if(bool is_true, std::uint32_t node, std::uint32_t temporary, Jumps& jumps) {
  const ExpressionTree::Node& own = tree_->node(node);
  if (own.op == Op::kAndJump || own.op == Op::kOrJump) {
    const bool decisive = own.op == Op::kOrJump;  // the value of either that decides
    Jumps decided;
    go_if(decisive, own.a, temporary, decisive == is_true ? jumps : decided);
    go_if(is_true, own.b, temporary, jumps);
    land(decided);
  } else if (own.op == Op::kNot) {
    go_if(!is_true, own.a, temporary, jumps);
  } else if (is_comparison(own.op)) {
    const std::uint32_t a = value(own.a, temporary);
    const std::uint32_t b = value(own.b, a == temporary ? temporary + 1 : temporary);
    jumps.push_back(emit(go_unless(is_true ? opposite(own.op) : own.op), a, b));
  } else {
    jumps.push_back(emit(is_true ? kGoIfNotZero : kGoIfZero, value(node, temporary)));
  }
}

StepProgram StepProgram::compile(std::span<const Step> steps, StepMemory& memory) {
  StepProgram out;
  StepCompiler compiler(memory, out.code_);
  for (const Step& step : steps) compiler.add(step);
  compiler.finish();
  return out;
}

std::vector<std::uint32_t> StepProgram::unknown_places(const Expression& expression,
                                                       std::span<const std::uint32_t> places,
                                                       const StepMemory& memory) {
  const ExpressionTree tree(expression.program(), places, memory.known());
  std::vector<std::uint32_t> out;
  tree.collect_places(tree.root(), out);
  return out;
}

std::optional<std::int64_t> StepProgram::known_value(const Expression& expression,
                                                     std::span<const std::uint32_t> places, const StepMemory& memory) {
  const ExpressionTree tree(expression.program(), places, memory.known());
  return tree.constant(tree.root());
}

bool StepProgram::has_bounds(const Expression& expression, std::span<const std::uint32_t> places,
                             const StepMemory& memory) {
  const ExpressionTree tree(expression.program(), places, memory.known());
  return tree.has_bounds(tree.root());
}

}  // namespace pgtune::space
