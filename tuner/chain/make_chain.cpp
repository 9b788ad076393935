// SPDX-License-Identifier: MIT
// A chain's definition and sizes to plain numbers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/chain/chain_definition.hpp"
#include "tuner/model/problem_operands.hpp"
#include "tuner/operation/dimensions.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::chain {
namespace {

tl::unexpected<Error> usage(std::string message) { return fail(ErrorKind::kUsage, std::move(message)); }

/// GEMM's dimensions, as a step names them.
constexpr const char *kRows = "M", *kColumns = "N", *kSum = "K", *kBatch = "batch";

Result<Problem> gemm_problem(const GemmSpec& spec, const std::vector<NamedValue>& sizes, std::optional<Dtype> dtype) {
  Problem problem;
  const std::pair<const char*, std::int64_t*> extents[] = {
      {kRows, &problem.m}, {kColumns, &problem.n}, {kSum, &problem.k}, {kBatch, &problem.batch}};
  std::vector<std::string> known;
  for (const auto& [name, extent] : extents) known.emplace_back(name);
  for (const NamedValue& size : sizes) {
    const auto* const found = std::find_if(std::begin(extents), std::end(extents),
                                           [&](const auto& entry) { return size.name == entry.first; });
    if (found == std::end(extents))
      return usage(fmt::format("gemm has no dimension '{}'{}", size.name, suggestion(size.name, known)));
    *found->second = size.value;
  }
  for (const auto& [name, extent] : extents) {
    if (*extent == 0) return usage(fmt::format("gemm needs a size {} of at least 1", name));
  }
  if (dtype) problem.dtype = *dtype;
  problem.output = spec.output;
  problem.epilogue = spec.epilogue;
  problem.alpha = spec.alpha;
  return with_layout(problem, spec.layout).and_then(with_default_strides);
}

class ChainBuilder {
 public:
  ChainBuilder(const ChainDefinition& definition, const Operations& operations, std::vector<NamedValue> sizes,
               std::optional<Dtype> dtype)
      : definition_(definition), operations_(operations), dtype_(dtype) {
    out_.name = definition.name;
    out_.sizes = std::move(sizes);
  }

  Result<Chain> build() {
    if (auto ok = name_values(); !ok) return tl::unexpected<Error>(std::move(ok.error()));
    for (const std::string& buffer : definition_.buffers) out_.buffers.push_back({buffer, 0});
    for (const StepSpec& spec : definition_.steps) {
      auto ok = add_step(spec);
      if (!ok) return fail(std::move(ok.error()), fmt::format("chain '{}', step '{}'", definition_.name, spec.name));
    }
    if (auto ok = check_chain(out_); !ok)
      return fail(std::move(ok.error()), fmt::format("chain '{}'", definition_.name));
    return std::move(out_);
  }

 private:
  Result<std::int64_t> number(const space::Expression& expression, const std::string& field) const {
    auto value = expression.evaluate(names_);
    if (!value) return fail(std::move(value.error()), fmt::format("chain '{}': {}", definition_.name, field));
    return value;
  }

  Result<void> name_values() {
    if (dtype_) names_.set_dtype(*dtype_);
    for (const NamedValue& size : out_.sizes) names_.set(size.name, size.value);
    for (const NamedExpression& entry : definition_.derived) {
      const auto value = number(entry.expression, fmt::format("derived value '{}'", entry.name));
      if (!value) return tl::unexpected<Error>(value.error());
      names_.set(entry.name, *value);
    }
    for (const Rule& rule : definition_.require) {
      const auto holds = number(rule.expression, "require");
      if (!holds) return tl::unexpected<Error>(holds.error());
      if (*holds == 0) return usage(fmt::format("the chain refuses {}: {}", out_.title(), rule.reason));
    }
    return {};
  }

  Result<Problem> problem_of(const StepSpec& spec) const {
    std::vector<NamedValue> sizes;
    for (const NamedExpression& size : spec.sizes) {
      const auto value = size.expression.evaluate(names_);
      if (!value) return fail(value.error(), fmt::format("size {}", size.name));
      if (*value < 1) return usage(fmt::format("the size {} is {}, but must be at least 1", size.name, *value));
      sizes.push_back({size.name, *value});
    }
    if (spec.gemm) return gemm_problem(*spec.gemm, sizes, spec.dtype ? spec.dtype : dtype_);
    const auto operation = operations_.find(spec.operation);
    if (operation == operations_.end())
      return fail(ErrorKind::kInternal, fmt::format("the operation '{}' was not loaded", spec.operation));
    // An operation without dtypes has nothing to choose from; what the step itself says is for it all the same.
    const auto chosen = spec.dtype || operation->second.dtypes.empty() ? spec.dtype : dtype_;
    return operation::make_problem(operation->second, sizes, chosen);
  }

  Result<void> add_step(const StepSpec& spec) {
    auto problem = problem_of(spec);
    if (!problem) return tl::unexpected<Error>(std::move(problem.error()));
    ChainStep step{spec.name, std::move(*problem), {}, spec.overlaps};
    const std::vector<ProblemOperand> operands = operands_of(step.problem);
    std::vector<std::string> known;
    for (const ProblemOperand& operand : operands) known.push_back(operand.buffer.name);
    for (const BufferUse& use : spec.buffers) {
      if (std::find(known.begin(), known.end(), use.operand) == known.end())
        return usage(fmt::format("the operation '{}' has no buffer '{}'{}", spec.operation, use.operand,
                                 suggestion(use.operand, known)));
    }
    for (const ProblemOperand& operand : operands) step.buffers.push_back(buffer_of(spec, operand.buffer));
    out_.steps.push_back(std::move(step));
    return {};
  }

  /// The shared buffer that the step says, else a new one.
  std::int64_t buffer_of(const StepSpec& spec, const OperationBuffer& buffer) {
    const auto use = std::find_if(spec.buffers.begin(), spec.buffers.end(),
                                  [&](const BufferUse& candidate) { return candidate.operand == buffer.name; });
    if (use == spec.buffers.end()) {
      out_.buffers.push_back({fmt::format("{}.{}", spec.name, buffer.name), buffer.bytes()});
      return std::ssize(out_.buffers) - 1;
    }
    const auto shared = std::find_if(out_.buffers.begin(), out_.buffers.end(),
                                     [&](const ChainBuffer& candidate) { return candidate.name == use->buffer; });
    shared->bytes = std::max(shared->bytes, buffer.bytes());
    return shared - out_.buffers.begin();
  }

  const ChainDefinition& definition_;
  const Operations& operations_;
  std::optional<Dtype> dtype_;
  operation::Names names_;
  Chain out_;
};

}  // namespace

Result<Chain> make_chain(const ChainDefinition& definition, const Operations& operations,
                         const std::vector<NamedValue>& sizes, std::optional<Dtype> dtype) {
  const std::string owner = fmt::format("the chain '{}'", definition.name);
  auto complete = operation::complete_sizes(owner, definition.dimensions, sizes);
  if (!complete) return tl::unexpected<Error>(std::move(complete.error()));
  const auto chosen = operation::choose_dtype(owner, definition.dtypes, dtype);
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  return ChainBuilder(definition, operations, std::move(*complete), *chosen).build();
}

}  // namespace pgtune::chain
