// SPDX-License-Identifier: MIT
// The results of a null test in host memory, by the same kernels as on a GPU.
#pragma once

#include "tests/operations/emulated_problem.hpp"
#include "tuner/gpu/measure/check/null_verdict.hpp"

namespace pgtune::testing {

class EmulatedResults : public gpu::NullResults {
 public:
  /// Fills the problem's inputs and runs its reference.
  explicit EmulatedResults(EmulatedProblem& problem) : problem_(problem) { refer_anew(); }

  Result<std::uint64_t> unwritten() override { return problem_.unwritten(); }
  Result<std::uint64_t> wrong_of_reference() override {
    problem_.store(0, false);
    return problem_.compare().wrong;
  }
  Result<std::uint64_t> wrong_where_shifted(std::size_t output) override {
    problem_.store(1, false, output);
    return problem_.compare().wrong;
  }
  Result<std::uint64_t> wrong_where_zero(std::size_t output) override {
    problem_.store(0, true, output);
    return problem_.compare().wrong;
  }
  Result<std::uint64_t> wrong_without_part_of(std::size_t input) override {
    problem_.cut(input);
    problem_.refer();
    problem_.store(0, false);
    refer_anew();
    return problem_.compare().wrong;
  }

 private:
  void refer_anew() {
    problem_.fill();
    problem_.refer();
  }

  EmulatedProblem& problem_;
};

}  // namespace pgtune::testing
