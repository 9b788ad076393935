// SPDX-License-Identifier: MIT
// One step of a chain by itself, on operands of its own: its variants checked and timed as a search does, and what it
// computed in the chain judged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/chain/timed_series.hpp"
#include "tuner/gpu/measure/checked_problem.hpp"
#include "tuner/model/problem_operands.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

class StepAlone {
 public:
  /// Errors as CheckedProblem::create(). `context` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<StepAlone>> create(const MeasureContext& context, const Problem& problem,
                                                                 const Conditions& conditions);

  /// As a search checks it, in all places and over its own data.
  [[nodiscard]] CudaResult<CheckVerdict> check(const protocol::BuiltVariant& built);

  /// Fills operands `wanted` of `operands`, which are the chain's, with the problem's data of that seed, and arrays of
  /// pointers with addresses within `operands`.
  [[nodiscard]] CudaResult<> fill(const OperandSet& operands, const std::vector<bool>& wanted, std::uint64_t seed);

  struct Judgement {
    CheckReport report;
    std::string fault;  ///< empty: right
  };
  /// Whether `results`, which a launch of the chain left, are right for `inputs`, which it found; what is written anew
  /// held poison before. Beside a wrong result a fault is what nothing could be told of:
  /// right values that are not finite, or as good as zero. Waits for the stream. Precondition: the launches have ended.
  [[nodiscard]] CudaResult<Judgement> judge(const OperandSet& inputs, const OperandSet& results);

  /// Launches over the step's own operand copies, ready to be timed; the first call decides of which variant. Owned by
  /// this object.
  [[nodiscard]] CudaResult<TimedSeries*> series(const protocol::BuiltVariant& built);

  [[nodiscard]] const std::string& unguarded() const { return checked_->unguarded(); }

 private:
  StepAlone(const MeasureContext& context, const Problem& problem, const Conditions& conditions)
      : context_(&context), operands_(operands_of(problem)), seed_(conditions.data_seed) {}
  enum class Part { kInputs, kResults };
  /// Copies operands that are read, or that judging looks at, from the chain's memory into copy 0.
  [[nodiscard]] CudaResult<> fetch(const OperandSet& from, Part part);
  /// The step's own data and reference in copy 0.
  [[nodiscard]] CudaResult<> restore();

  const MeasureContext* context_;
  std::vector<ProblemOperand> operands_;
  std::uint64_t seed_;
  std::unique_ptr<CheckedProblem> checked_;
  std::unique_ptr<LoadedVariant> variant_;  ///< that is timed
  std::unique_ptr<TimedSeries> series_;     ///< after what it uses: released first
};

}  // namespace pgtune::gpu
