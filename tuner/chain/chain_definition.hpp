// SPDX-License-Identifier: MIT
// A chain's JSON, read and checked: dimensions, and steps that are operations on buffers with shared names.
// docs/chains.md describes the format for people.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/expression/expression.hpp"
#include "tuner/model/chain.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/epilogue.hpp"
#include "tuner/operation/operation_definition.hpp"

namespace pgtune::chain {

using operation::Dimension;
using operation::OperationDefinition;
using space::NamedExpression;
using space::Rule;

/// What "operation" says of a step that is one of GEMM's.
inline constexpr std::string_view kGemm = "gemm";

/// What a step of GEMM's says beside its sizes.
struct GemmSpec {
  std::string layout = "nn";
  std::optional<ElementType> output;
  Epilogue epilogue;
  double alpha = 1;
};

struct BufferUse {
  std::string operand;  ///< of the operation: "A", "X"
  std::string buffer;   ///< of the chain
};

struct StepSpec {
  std::string name, operation;         ///< operation: "gemm", a built-in name, or a path from the JSON's folder
  std::vector<NamedExpression> sizes;  ///< of the operation's dimensions, over the chain's
  std::optional<Dtype> dtype;          ///< absent: the chain's, where the operation has dtypes
  std::optional<GemmSpec> gemm;        ///< where the operation is "gemm", and only there
  std::vector<BufferUse> buffers;      ///< other operands are the step's own
  bool overlaps = false;
};

struct ChainDefinition {
  std::string name, description;
  std::vector<Dtype> dtypes;  ///< the first by default; empty: each step has its operation's
  std::vector<Dimension> dimensions;
  std::vector<NamedExpression> derived;  ///< over dimensions and the derived values before each
  std::vector<Rule> require;
  std::vector<std::string> buffers;  ///< those with a name, which steps may share
  std::vector<StepSpec> steps;       ///< in the order of their launches
};

/// `origin` names the text in messages. Errors are kUsage.
[[nodiscard]] Result<ChainDefinition> parse_chain(std::string_view json_text, const std::string& origin);
[[nodiscard]] Result<ChainDefinition> load_chain(const std::filesystem::path& json_path);

/// The operations of a chain's steps by what the steps call them, but "gemm".
using Operations = std::map<std::string, OperationDefinition>;

/// The chain with these sizes, in any order, each dimension once. `dtype`: absent means the first it has. Errors
/// (usage): sizes and dtypes that are none of the chain's, a rule that refuses with its reason, what a step's operation
/// refuses, a buffer that its operation has not, and whatever check_chain() refuses.
[[nodiscard]] Result<Chain> make_chain(const ChainDefinition& definition, const Operations& operations,
                                       const std::vector<NamedValue>& sizes, std::optional<Dtype> dtype);

}  // namespace pgtune::chain
