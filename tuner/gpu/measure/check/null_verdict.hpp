// SPDX-License-Identifier: MIT
// The decisions of a null test; the caller puts results into the outputs and compares them. Needs no GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tuner/model/operation_problem.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// Artificial results. Each function puts one into the outputs, compares it with the reference like a variant's, and
/// returns the number of wrong elements. Errors: it could not be made or compared.
class NullResults {
 public:
  NullResults() = default;
  NullResults(const NullResults&) = delete;
  NullResults& operator=(const NullResults&) = delete;
  virtual ~NullResults() = default;

  /// Elements that no kernel of the reference wrote; nothing is put anywhere.
  [[nodiscard]] virtual Result<std::uint64_t> unwritten() = 0;
  /// The reference, rounded to the outputs' types.
  [[nodiscard]] virtual Result<std::uint64_t> wrong_of_reference() = 0;
  /// The same, but in the buffer of that index each element is that of the next index, or zero.
  [[nodiscard]] virtual Result<std::uint64_t> wrong_where_shifted(std::size_t output) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> wrong_where_zero(std::size_t output) = 0;
  /// The reference of inputs of which the buffer of that index has a sixteenth set to zero.
  [[nodiscard]] virtual Result<std::uint64_t> wrong_without_part_of(std::size_t input) = 0;
};

/// Checks that the operation's check distinguishes these results from a right one. Errors: (usage) it does not, with
/// the conclusion for the operation, or the reference leaves elements unwritten; else those of `results`.
[[nodiscard]] Result<void> judge_null_results(const OperationProblem& operation, NullResults& results);

}  // namespace pgtune::gpu
