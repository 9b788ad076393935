// SPDX-License-Identifier: MIT
// A machine with round numbers, and problems for it.
#pragma once

#include <gtest/gtest.h>

#include "pipeline/plan/space.hpp"

namespace pgtune::pipeline::test {

inline StreamedProblem streamed(const std::string& shape, const std::string& stream, Dtype dtype = Dtype::kBf16) {
  Problem problem = parse_shape(shape).value();
  problem.dtype = dtype;
  return parse_streamed(with_default_strides(problem).value(), stream).value();
}

/// Copies of 1 GB/s each way, at once as fast as alone; pageable half of that; kernels at `flops` a second.
inline Machine machine(const StreamedProblem& problem, double flops) {
  Machine out;
  out.rates = {1e9, 1e9, 1e9, 1e9, 0.5e9, 0.5e9, 0.5e9, 0.5e9, 2e9, 0, 0};
  for (const Cut cut : {Cut::kM, Cut::kN, Cut::kK}) {
    const double per_extent = problem.problem.flops() / static_cast<double>(extent_of(problem.problem, cut)) / flops;
    for (const std::int64_t extent : chunk_extents(problem.problem, cut))
      out.compute[cut][extent] = per_extent * static_cast<double>(extent);
  }
  return out;
}

inline constexpr Limits kRoomy{std::int64_t{1} << 40, std::int64_t{1} << 40};

inline double seconds(const Machine& machine, const StreamedProblem& problem, const Candidate& candidate) {
  EXPECT_EQ(why_illegal(problem, candidate, kRoomy), "") << candidate.key();
  return simulate(machine, candidate, make_schedule(problem, candidate)).total_s;
}

}  // namespace pgtune::pipeline::test
