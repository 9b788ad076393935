// SPDX-License-Identifier: MIT
#include "tuner/expression/expression_tree.hpp"

#include "tuner/expression/arithmetic.hpp"
#include "tuner/expression/bounds_arithmetic.hpp"

namespace pgtune::space {
namespace {

/// Operations that have a result for any operands.
bool is_total(Op op) {
  switch (op) {
    case Op::kToBool:
    case Op::kNot:
    case Op::kIsPow2:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kMin:
    case Op::kMax:
      return true;
    default:
      return false;
  }
}

}  // namespace

ExpressionTree::ExpressionTree(const ExpressionProgram& program, std::span<const std::uint32_t> places,
                               std::span<const std::optional<std::int64_t>> known)
    : program_(program), places_(places), known_(known) {
  root_ = part(0, program.code.size());
}

/// The value that the instructions from `begin` to before `end` leave.
std::uint32_t ExpressionTree::part(std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> stack;
  const auto pop = [&stack] {
    const std::uint32_t top = stack.back();
    stack.pop_back();
    return top;
  };
  for (std::size_t at = begin; at < end;) {
    const Instruction& instruction = program_.code[at++];
    const auto target = static_cast<std::size_t>(instruction.operand);
    switch (instruction.op) {
      case Op::kConstant:
        stack.push_back(value(instruction.operand));
        break;
      case Op::kName: {
        const std::uint32_t place = places_[target];
        stack.push_back(known_[place] ? value(*known_[place]) : add({Op::kName, std::int64_t{place}}));
        break;
      }
      case Op::kAndJump:
      case Op::kOrJump: {  // the right operand ends with kToBool
        const std::uint32_t left = pop(), right = part(at, target - 1);
        stack.push_back(logical(instruction.op, left, right));
        at = target;
        break;
      }
      case Op::kBranch: {  // the first value ends with a jump behind the second
        const auto behind = static_cast<std::size_t>(program_.code[target - 1].operand);
        const std::uint32_t condition = pop(), first = part(at, target - 1), second = part(target, behind);
        stack.push_back(choice(condition, first, second));
        at = behind;
        break;
      }
      default:
        if (instruction.op < Op::kMultiply) {
          stack.push_back(unary(instruction.op, pop()));
        } else {
          const std::uint32_t right = pop();
          stack.push_back(binary(instruction.op, pop(), right));
        }
    }
  }
  return stack.back();
}

std::uint32_t ExpressionTree::add(Node node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::optional<std::int64_t> ExpressionTree::constant(std::uint32_t index) const {
  if (nodes_[index].op != Op::kConstant) return std::nullopt;
  return nodes_[index].operand;
}

std::uint32_t ExpressionTree::unary(Op op, std::uint32_t a) {
  std::int64_t result = 0;
  if (const auto known = constant(a); known && apply_unary(op, *known, result) == Fault::kNone) return value(result);
  return add({op, 0, a, 0, 0, !is_total(op) || nodes_[a].can_fault});
}

std::uint32_t ExpressionTree::binary(Op op, std::uint32_t a, std::uint32_t b) {
  const auto left = constant(a), right = constant(b);
  std::int64_t result = 0;
  if (left && right && apply_binary(op, *left, *right, result) == Fault::kNone) return value(result);
  return add({op, 0, a, b, 0, !is_total(op) || nodes_[a].can_fault || nodes_[b].can_fault});
}

std::uint32_t ExpressionTree::logical(Op op, std::uint32_t a, std::uint32_t b) {
  const bool decisive = op == Op::kOrJump;  // the value of either that decides
  if (const auto left = constant(a)) return (*left != 0) == decisive ? value(decisive ? 1 : 0) : unary(Op::kToBool, b);
  if (const auto right = constant(b)) {
    if ((*right != 0) != decisive) return unary(Op::kToBool, a);
    if (!nodes_[a].can_fault) return value(decisive ? 1 : 0);
  }
  return add({op, 0, a, b, 0, nodes_[a].can_fault || nodes_[b].can_fault});
}

std::uint32_t ExpressionTree::choice(std::uint32_t condition, std::uint32_t a, std::uint32_t b) {
  if (const auto known = constant(condition)) return *known != 0 ? a : b;
  return add(
      {Op::kBranch, 0, condition, a, b, nodes_[condition].can_fault || nodes_[a].can_fault || nodes_[b].can_fault});
}

void ExpressionTree::collect_places(std::uint32_t index, std::vector<std::uint32_t>& out) const {
  const Node& node = nodes_[index];
  if (node.op == Op::kName) out.push_back(static_cast<std::uint32_t>(node.operand));
  if (node.op == Op::kConstant || node.op == Op::kName) return;
  collect_places(node.a, out);
  if (node.op == Op::kAndJump || node.op == Op::kOrJump || node.op >= Op::kMultiply) collect_places(node.b, out);
  if (node.op == Op::kBranch) {
    collect_places(node.b, out);
    collect_places(node.c, out);
  }
}

bool ExpressionTree::has_bounds(std::uint32_t index) const {
  const Node& node = nodes_[index];
  if (!space::has_bounds(node.op)) return false;
  if (node.op == Op::kConstant || node.op == Op::kName) return true;
  return has_bounds(node.a) && (node.op < Op::kMultiply || has_bounds(node.b));
}

}  // namespace pgtune::space
