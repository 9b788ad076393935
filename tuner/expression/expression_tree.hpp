// SPDX-License-Identifier: MIT
// An expression as a tree over places of values, of which some are known: what follows from these is computed once.
// Private to tuner/expression.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/expression/expression_program.hpp"

namespace pgtune::space {

class ExpressionTree {
 public:
  struct Node {
    Op op = Op::kConstant;              ///< kAndJump and kOrJump: && and ||; kBranch: a ? b : c
    std::int64_t operand = 0;           ///< kConstant: the value; kName: the place
    std::uint32_t a = 0, b = 0, c = 0;  ///< operands, as places in nodes
    bool can_fault = false;             ///< itself or what it is made of
  };

  /// Name i of the program has the value at places[i], which is known[places[i]] where that is there. What faults is
  /// not folded, and nothing that can fault is left out, but what evaluation passes over.
  ExpressionTree(const ExpressionProgram& program, std::span<const std::uint32_t> places,
                 std::span<const std::optional<std::int64_t>> known);

  [[nodiscard]] std::uint32_t root() const { return root_; }
  [[nodiscard]] const Node& node(std::uint32_t index) const { return nodes_[index]; }
  /// The value of a node that depends on nothing unknown.
  [[nodiscard]] std::optional<std::int64_t> constant(std::uint32_t index) const;
  /// Places that a node depends on, each at least once.
  void collect_places(std::uint32_t index, std::vector<std::uint32_t>& out) const;
  /// Whether bounds of the value can be told whatever is not known: nothing but adding, multiplying and comparing.
  [[nodiscard]] bool has_bounds(std::uint32_t index) const;

 private:
  std::uint32_t part(std::size_t begin, std::size_t end);
  std::uint32_t add(Node node);
  std::uint32_t value(std::int64_t number) { return add({Op::kConstant, number}); }
  std::uint32_t unary(Op op, std::uint32_t a);
  std::uint32_t binary(Op op, std::uint32_t a, std::uint32_t b);
  std::uint32_t logical(Op op, std::uint32_t a, std::uint32_t b);
  std::uint32_t choice(std::uint32_t condition, std::uint32_t a, std::uint32_t b);

  const ExpressionProgram& program_;
  std::span<const std::uint32_t> places_;
  std::span<const std::optional<std::int64_t>> known_;
  std::vector<Node> nodes_;
  std::uint32_t root_ = 0;
};

}  // namespace pgtune::space
