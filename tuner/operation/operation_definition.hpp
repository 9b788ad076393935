// SPDX-License-Identifier: MIT
// An operation's JSON, read and checked: dimensions, buffers, the float64 reference, error rules.
// docs/reference/operation-format.md describes the format for people.
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
  std::size_t buffer = 0;                ///< of kBuffer, kValue, kScale and kResult; for kFloat64 the buffer whose
                                         ///< rounding it is
  std::optional<Expression> expression;  ///< of kInt64
  std::string scalar;                    ///< of kFloat32
};

struct ReferenceKernelSpec {
  std::string symbol;
  std::vector<Expression> grid, block;
  std::vector<ReferenceArgumentSpec> arguments;

  [[nodiscard]] bool names(ReferenceArgumentKind kind, std::size_t buffer) const;
  /// The same meaning as in ReferenceLaunch.
  [[nodiscard]] bool judges_result() const;
};

/// The rules for a right result. The JSON's words are these names with underscores.
enum class ErrorRule { kExact, kUlp, kSum, kBlocked, kAllclose, kResidual };
[[nodiscard]] EnumTable<ErrorRule> enum_table(ErrorRule value);

struct ErrorSpec {
  ErrorRule rule = ErrorRule::kExact;
  double ulps = 1;                    ///< kUlp: units in the last place of the output's type, of the right value
  double float32_ulps = 0;            ///< kUlp: units of 2^-24 of the scale that the reference writes
  std::optional<Expression> terms;    ///< kSum, kBlocked: number of added terms
  Dtype arithmetic = Dtype::kF32;     ///< kSum, kBlocked: the type in which terms are multiplied and added
  bool problems_arithmetic = false;   ///< that is the problem's dtype
  std::optional<Expression> further;  ///< kSum: roundings in addition to those of the sum; absent: 4
  /// kSum: the label of the function applied to the sum before rounding; absent: the sum is the result.
  std::optional<Expression> activation;
  std::int64_t block = 1;             ///< kBlocked: terms added before their sum is added in float32
  double relative = 0, absolute = 0;  ///< kAllclose: of the right value, and of the scale (1 if none is written)
  std::optional<Expression> factor;   ///< kResidual: the largest residual, in units of the output's roundoff times its
                                      ///< scale
};

/// Pointers into a buffer, one for each element of their array.
struct PointerSpec {
  std::size_t buffer = 0;
  std::optional<Expression> offset;  ///< of pointer i in elements, over kPointerIndex too
  std::int64_t alignment = 0;        ///< bytes; 0: from the element's size
};
inline constexpr const char* kPointerIndex = "i";

/// The role of a buffer whose type is the problem's: a product's left factor, right factor or result.
enum class DtypePart { kA, kB, kOutput };

struct BufferSpec : DeclaredBuffer {
  std::optional<ElementType> type;  ///< absent: the problem's
  DtypePart part = DtypePart::kA;   ///< if the type is the problem's
  std::vector<Expression> extents;
  std::vector<Expression> strides;            ///< empty: packed, the last dimension contiguous
  std::optional<Expression> lowest, highest;  ///< of kIntegers
  std::optional<ReferenceKernelSpec> kernel;  ///< of kKernel
  std::optional<PointerSpec> pointers;        ///< of kPointers; the buffer's type is that of the elements they point to
  ErrorSpec error;                            ///< of outputs
  std::optional<Expression> when;             ///< absent: it is always there
  std::optional<std::size_t> instead;         ///< the buffer that templates receive if it is absent; nothing: null
  std::optional<Expression> room;             ///< elements of memory, if more than it spans
};

/// A number that flops and bytes take from the data.
struct CountSpec {
  std::string name;
  CountKind kind = CountKind::kSum;
  std::size_t buffer = 0;
  std::optional<Expression> bound;     ///< of kAbove
  std::optional<Expression> expected;  ///< before there is data
};

/// The part that libraries compute if they cannot compute all: the operation with these sizes.
struct LesserSpec {
  std::optional<Expression> when;
  std::vector<NamedExpression> sizes;
};

/// Additional data for checking finalists.
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
  std::vector<Dtype> dtypes;  ///< empty: nothing depends on a dtype
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
  std::vector<std::string> templates;  ///< paths relative to the JSON: the templates used by default
  TemplateSource source;
  std::string content_hash;  ///< XXH3-128 hex over source, headers and what the JSON says of results

  /// The names that its templates may use.
  [[nodiscard]] OperationInterface interface() const;
};

/// Parses `json_text`; `origin` names it in messages. `read_file` fetches the source, relative to the JSON. Errors are
/// kUsage. `reserved`: a reserved name that it may have nevertheless.
[[nodiscard]] Result<OperationDefinition> parse_operation(std::string_view json_text, const std::string& origin,
                                                          const FileReader& read_file, std::string_view reserved = {});
/// Reads one from disk; the source and its includes lie in or below the JSON's folder.
[[nodiscard]] Result<OperationDefinition> load_operation(const std::filesystem::path& json_path);

/// The operation with these sizes, in any order, each dimension once. `dtype`: absent means its first. Errors (usage):
/// a dimension without a size, an unknown one, a size below 1, a rule that refuses (with its reason), overflow, a dtype
/// that it lacks.
[[nodiscard]] Result<Problem> make_problem(const OperationDefinition& definition, const std::vector<NamedValue>& sizes,
                                           std::optional<Dtype> dtype);

/// A problem's options besides its sizes.
struct ProblemChoices {
  std::optional<Dtype> dtype;
  std::optional<ElementType> output;      ///< absent: the dtype's usual one
  std::vector<NamedScalar> scalars = {};  ///< values that replace the operation's own
};
/// The plain numbers alone. The errors of make_problem().
[[nodiscard]] Result<OperationProblem> make_operation_problem(const OperationDefinition& definition,
                                                              const std::vector<NamedValue>& sizes,
                                                              const ProblemChoices& choices);

}  // namespace pgtune::operation
