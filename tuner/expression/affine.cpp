// SPDX-License-Identifier: MIT
#include "tuner/expression/affine.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tuner/expression/expression_tree.hpp"

namespace pgtune::space {
namespace {

/// 0, 1, 2, ...
std::vector<std::uint32_t> in_order(std::size_t count) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

class Walk {
 public:
  Walk(const Expression& expression, const std::set<std::string>& names)
      : expression_(expression),
        names_(names),
        places_(in_order(expression.names().size())),
        unknown_(expression.names().size()),
        tree_(expression.program(), places_, unknown_) {}

  std::optional<std::string> run() {
    static_cast<void>(depends(tree_.root()));
    return offending_;
  }

 private:
  /// Whether the node's value depends on one of the names.
  bool depends(std::uint32_t index) {
    const ExpressionTree::Node& node = tree_.node(index);
    switch (node.op) {
      case Op::kConstant:
        return false;
      case Op::kName:
        return names_.contains(expression_.names()[static_cast<std::size_t>(node.operand)]);
      case Op::kNegate:
        return depends(node.a);
      case Op::kAdd:
      case Op::kSubtract: {
        const bool left = depends(node.a);
        return depends(node.b) || left;
      }
      case Op::kMultiply: {
        const bool left = depends(node.a), right = depends(node.b);
        if (left && right) offends(index);
        return left || right;
      }
      case Op::kBranch: {
        if (depends(node.a)) offends(node.a);
        const bool first = depends(node.b);
        return depends(node.c) || first;
      }
      default:
        return offends(index);
    }
  }

  /// For a node with a value that is not affine in its names.
  bool offends(std::uint32_t index) {
    std::vector<std::uint32_t> places;
    tree_.collect_places(index, places);
    const auto found = std::find_if(places.begin(), places.end(),
                                    [&](std::uint32_t place) { return names_.contains(expression_.names()[place]); });
    if (found == places.end()) return false;
    if (!offending_) offending_ = expression_.names()[*found];
    return true;
  }

  const Expression& expression_;
  const std::set<std::string>& names_;
  std::vector<std::uint32_t> places_;
  std::vector<std::optional<std::int64_t>> unknown_;
  ExpressionTree tree_;
  std::optional<std::string> offending_;
};

}  // namespace

std::optional<std::string> name_not_affine(const Expression& expression, const std::set<std::string>& names) {
  return Walk(expression, names).run();
}

}  // namespace pgtune::space
