// SPDX-License-Identifier: MIT
// A template's JSON, read and checked: parameters, constraints, derived values, legality, launch contract.
// docs/reference/template-format.md describes the format for people.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/expression/expression.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/source.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/template/operation_interface.hpp"

namespace pgtune::space {

struct Parameter {
  std::string name;
  std::vector<ParameterValue> values;
  ParameterValue default_value;
  std::string description;
};

/// An expression that must be non-zero, with the reason shown when it is not.
struct Rule {
  Expression expression;
  std::string reason;
};

struct NamedExpression {
  std::string name;
  Expression expression;
};

/// How an element's products are added, in words that are joined by commas.
struct SumOrder {
  struct Word {
    std::optional<Expression> when = {};  ///< absent: always
    std::vector<std::string> texts = {};  ///< one more than `numbers`, around them
    std::vector<Expression> numbers = {};
  };
  std::optional<Expression> when = {};  ///< zero: the order depends on M or on a row's position
  std::vector<Word> words = {};
};

struct TensorMapSpec {
  std::string name;                ///< several maps may share a name: the first whose `when` holds counts
  std::optional<Expression> when;  ///< absent: always
  Operand operand = Operand::kA;
  std::optional<TensorType> type;              ///< absent: the operand's in the problem
  std::vector<Expression> dims, strides, box;  ///< strides in elements
  Swizzle swizzle = Swizzle::kNone;
  L2Promotion l2_promotion = L2Promotion::kNone;
  std::optional<Expression> swizzle_bytes;       ///< instead of `swizzle`: 0, 32, 64 or 128
  std::optional<Expression> l2_promotion_bytes;  ///< instead of `l2_promotion`: 0, 64, 128 or 256
};

struct ArgumentSpec {
  ArgumentKind kind = ArgumentKind::kInt32;
  Operand operand = Operand::kA;         ///< kPointer
  std::string tensor_map;                ///< kTensorMap
  std::optional<Expression> expression;  ///< kInt32, kInt64
  std::string scalar;                    ///< kFloat32: "alpha", "beta", or an operation's
};

/// Where a kernel is that searches build in a module of its own.
struct ModuleSpec {
  std::string header;                ///< which the source includes
  std::vector<std::string> defines;  ///< parameters, derived values and defines that the header reads
};

struct KernelSpec {
  std::string symbol;
  std::optional<ModuleSpec> module = {};
  std::optional<Expression> when;  ///< launched only if non-zero; absent: always
  std::vector<Expression> grid, block, cluster;
  std::optional<Expression> dynamic_smem_bytes;
  std::optional<Expression> programmatic_dependent_launch;
  /// If non-zero for the first kernel: in a chained problem it may start before the previous launch has ended.
  std::optional<Expression> overlaps_launch_before;
  std::optional<Expression> waits_first;  ///< as KernelLaunch's
  std::optional<Expression> co_resident;  ///< non-zero: its CTAs wait for each other, so all of them must run at a time
  std::vector<ArgumentSpec> arguments;
  std::optional<L2Window> l2_window;
};

/// A rough estimate of a launch's time. It orders the variants, so only comparisons matter.
struct CostModel {
  std::vector<NamedExpression> steps;  ///< named parts, each over all names of a problem and the steps before it
  Expression clocks;
};

struct TemplateDefinition {
  std::string name, description;
  std::string operation = std::string(kGemmName);  ///< the operation it computes
  /// The operation's names for expressions and arguments; null: GEMM.
  std::shared_ptr<const OperationInterface> interface = nullptr;
  std::vector<Dtype> dtypes;         ///< empty: of an operation without them
  std::vector<ElementType> outputs;  ///< types of C and D it can write; empty: each dtype's usual one
  bool fuses_bias = false;
  std::vector<Activation> activations;  ///< activations it can apply; always includes none
  std::vector<Parameter> parameters;
  std::vector<NamedExpression> derived;  ///< over parameters and the device; each may use earlier ones
  std::vector<Rule> constraints;         ///< over parameters, derived values and the device
  /// For variants that would be right, but that no search tries: over the same and the problem.
  std::vector<Rule> policy;
  std::vector<Rule> legality;  ///< over the same and the problem
  /// Like legality, but for variants worth trying: they shorten a search, which may ignore them.
  std::vector<Rule> preset;
  bool whole_grid = false;     ///< variants that break the preset's rules are searched too; the rules only set the
                               ///< order
  std::vector<Variant> seeds;  ///< tried first if legal, after the default; the best first
  std::vector<NamedExpression> values;   ///< problem-dependent names for defines and the launch; no macros
  std::vector<NamedExpression> defines;  ///< problem-dependent macros in addition to parameters and derived values
  std::vector<KernelSpec> kernels;
  std::vector<TensorMapSpec> tensor_maps;
  std::optional<Expression> workspace_bytes;
  bool zero_workspace = false;
  /// "traffic": what a launch reads through L2, and what it copies into shared memory, where that is more.
  std::optional<Expression> l2_bytes, smem_bytes;
  std::optional<CostModel> cost;
  std::optional<SumOrder> sum_order;

  std::shared_ptr<const TemplateSource> source;
  /// Identifies the content of its variants: XXH3-128 hex over source, headers and JSON. Excludes the JSON's layout,
  /// its "source" path and the choice of variants worth trying: results stay valid when these change.
  std::string content_hash;
  std::string policy_hash;  ///< the same over the policy; empty if there is none
  std::string preset_hash;  ///< the same over policy, preset, seeds and cost; empty if there are none

  [[nodiscard]] Variant default_variant() const;
  /// Whether a search leaves out variants that break the preset's rules.
  [[nodiscard]] bool limits_to_preset() const { return !whole_grid && !preset.empty(); }
  /// Whether it has the problem's dtype, output type and epilogue.
  [[nodiscard]] bool computes(const Problem& problem) const;
  [[nodiscard]] bool is_of(const Problem& problem) const;      ///< it computes the problem's operation, in some types
  [[nodiscard]] bool has_types(const Problem& problem) const;  ///< operation, dtype and output type
};

/// Fetches a file as text. Paths are relative to the JSON's folder and normalised: the JSON's "source"
/// ("../templates/x.cu"), and the source's includes in that source's folder ("../templates/device/y.cuh").
using FileReader = std::function<Result<std::string>(const std::string& relative_path)>;

/// Parses `json_text`; `origin` names it in messages (line and column for syntax errors). `operation`: the operation
/// that it must compute; null for GEMM. Errors are kUsage, for example a template of another operation.
[[nodiscard]] Result<TemplateDefinition> parse_template(std::string_view json_text, const std::string& origin,
                                                        const FileReader& read_file,
                                                        const OperationInterface* operation = nullptr);
/// Reads a definition from disk; its source and quoted includes are relative to the JSON file, with the shipped
/// "device/*.cuh" headers as a fallback given by `shipped_headers` ("device/x.cuh" -> text), and `include_folders`
/// beside those that it declares.
[[nodiscard]] Result<TemplateDefinition> load_template(const std::filesystem::path& json_path,
                                                       const FileReader& shipped_headers,
                                                       const OperationInterface* operation = nullptr,
                                                       const std::vector<std::filesystem::path>& include_folders = {});

}  // namespace pgtune::space
