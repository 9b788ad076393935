// SPDX-License-Identifier: MIT
// An operation's JSON, read and checked: dimensions, buffers, the float64 reference, error rules.
// docs/operations.md describes the format for people.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/expression/expression.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/operation_problem.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/operation/dimensions.hpp"
#include "tuner/template/operation_interface.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::operation {

using space::Expression;
using space::FileReader;
using space::NamedExpression;
using space::OperationInterface;
using space::Rule;

struct ReferenceArgumentSpec {
  ReferenceArgumentKind kind = ReferenceArgumentKind::kInt64;
  std::size_t buffer = 0;                ///< of kBuffer, kValue, kScale and kResult; of kFloat64 whose rounding it is
  std::optional<Expression> expression;  ///< of kInt64
  std::string scalar;                    ///< of kFloat32
};

struct ReferenceKernelSpec {
  std::string symbol;
  std::vector<Expression> grid, block;
  std::vector<ReferenceArgumentSpec> arguments;

  [[nodiscard]] bool names(ReferenceArgumentKind kind, std::size_t buffer) const;
  /// As ReferenceLaunch's.
  [[nodiscard]] bool judges_result() const;
};

/// What is a right result. The words of the JSON are these with an underscore.
enum class ErrorRule { kExact, kUlp, kSum, kBlocked, kAllclose, kResidual };
[[nodiscard]] EnumTable<ErrorRule> enum_table(ErrorRule value);

struct ErrorSpec {
  ErrorRule rule = ErrorRule::kExact;
  double ulps = 1;                    ///< kUlp: units in the last place of the output's type, of the right value
  double float32_ulps = 0;            ///< kUlp: units of 2^-24 of the scale that the reference writes
  std::optional<Expression> terms;    ///< kSum, kBlocked: how many terms are added
  Dtype arithmetic = Dtype::kF32;     ///< kSum, kBlocked: what the terms are multiplied and added in
  bool problems_arithmetic = false;   ///< that is the problem's dtype
  std::optional<Expression> further;  ///< kSum: roundings beside those of the sum; absent: 4
  /// kSum: the label of the function that the sum is handed to before it is rounded; absent: it is the result.
  std::optional<Expression> activation;
  std::int64_t block = 1;             ///< kBlocked: terms that are added before float32 takes their sum
  double relative = 0, absolute = 0;  ///< kAllclose: of the right value, and of the scale (1 where none is written)
  std::optional<Expression> factor;  ///< kResidual: units of the output's roundoff that a residual may be, of its scale
};

/// Pointers into a buffer, as many as their array has elements.
struct PointerSpec {
  std::size_t buffer = 0;
  std::optional<Expression> offset;  ///< of pointer i in elements, over kPointerIndex too
  std::int64_t alignment = 0;        ///< bytes; 0: as an element's size says
};
inline constexpr const char* kPointerIndex = "i";

/// What a buffer has whose type is the problem's: that of a product's left factor, of its right one, or of its result.
enum class DtypePart { kA, kB, kOutput };

struct BufferSpec : DeclaredBuffer {
  std::optional<ElementType> type;  ///< absent: the problem's
  DtypePart part = DtypePart::kA;   ///< where it is the problem's
  std::vector<Expression> extents;
  std::vector<Expression> strides;            ///< empty: packed, the last dimension contiguous
  std::optional<Expression> lowest, highest;  ///< of kIntegers
  std::optional<ReferenceKernelSpec> kernel;  ///< of kKernel
  std::optional<PointerSpec> pointers;        ///< of kPointers; its type is that of what they point to
  ErrorSpec error;                            ///< of outputs
  std::optional<Expression> when;             ///< absent: it is always there
  std::optional<std::size_t> instead;         ///< what templates are given where it is not there; nothing: null
  std::optional<Expression> room;             ///< elements of memory, where that is more than it spans
};

/// What flops and bytes take from the data.
struct CountSpec {
  std::string name;
  CountKind kind = CountKind::kSum;
  std::size_t buffer = 0;
  std::optional<Expression> bound;     ///< of kAbove
  std::optional<Expression> expected;  ///< before there is data
};

/// What libraries compute where they cannot do all: the operation with these sizes.
struct LesserSpec {
  std::optional<Expression> when;
  std::vector<NamedExpression> sizes;
};

/// Data for finalists beside the usual ones.
struct CaseSpec {
  std::string name;
  struct Fill {
    std::size_t buffer = 0;
    BufferSpec filled;  ///< that buffer with the case's fill
  };
  std::vector<Fill> fills;
};

struct OperationDefinition {
  std::string name, description;
  std::vector<Dtype> dtypes;  ///< empty: nothing of it depends on one
  bool of_products = false;   ///< some buffer has the type of a product's right factor or result
  std::vector<Dimension> dimensions;
  std::vector<NamedExpression> derived;  ///< over dimensions and the derived values before each
  std::vector<Rule> require;
  std::vector<NamedScalar> scalars;
  std::vector<BufferSpec> buffers;  ///< arrays of pointers are the last ones
  std::vector<ReferenceKernelSpec> reference;
  std::optional<LesserSpec> lesser;
  bool null_test = true;
  std::vector<CaseSpec> cases;
  std::vector<OperationBaseline> baselines;  ///< the fairest first
  std::vector<CountSpec> counts;
  std::optional<Expression> flops, bytes;  ///< affine in the counts
  std::string unit;
  std::vector<std::string> templates;  ///< paths relative to the JSON: what computes it unless another one is named
  TemplateSource source;
  std::string content_hash;  ///< XXH3-128 hex over source, headers and what the JSON says of results

  /// What its templates may name.
  [[nodiscard]] OperationInterface interface() const;
};

/// Parses `json_text`; `origin` names it in messages. `read_file` fetches the source, relative to the JSON. Errors are
/// kUsage. `reserved`: a name that it may have beside those that are free.
[[nodiscard]] Result<OperationDefinition> parse_operation(std::string_view json_text, const std::string& origin,
                                                          const FileReader& read_file, std::string_view reserved = {});
/// Reads one from disk; the source and its includes lie in or below the JSON's folder.
[[nodiscard]] Result<OperationDefinition> load_operation(const std::filesystem::path& json_path);

/// The operation with these sizes, in any order, each dimension once. `dtype`: absent means the first it has. Errors
/// (usage): a dimension without a size, an unknown one, a size below 1, a rule that refuses with its reason, what
/// overflows, a dtype it has not.
[[nodiscard]] Result<Problem> make_problem(const OperationDefinition& definition, const std::vector<NamedValue>& sizes,
                                           std::optional<Dtype> dtype);

/// What a problem may say beside sizes.
struct ProblemChoices {
  std::optional<Dtype> dtype;
  std::optional<ElementType> output;      ///< absent: the dtype's usual one
  std::vector<NamedScalar> scalars = {};  ///< other values than the operation's own
};
/// The plain numbers alone. Errors as make_problem().
[[nodiscard]] Result<OperationProblem> make_operation_problem(const OperationDefinition& definition,
                                                              const std::vector<NamedValue>& sizes,
                                                              const ProblemChoices& choices);

}  // namespace pgtune::operation
