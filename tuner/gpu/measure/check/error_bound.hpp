// SPDX-License-Identifier: MIT
// How far a right result may be from the float64 reference, element by element.
#pragma once

#include <cstdint>

#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

/// An element passes when |D - R| <= allowed(R, S), S being the scale that the reference writes. The layout is that of
/// Bound in kernels/comparison.cuh.
struct ErrorBound {
  double per_scale = 0;   ///< of S: of a sum's, operand rounding and summation
  double per_result = 0;  ///< of |R|: evaluation of a function and rounding of the result to its type
  double absolute = 0;    ///< the same where |R| is small, subnormal or flushed to zero; half a unit where it is an
                          ///< integer, which has to be exact
  double largest = 0;     ///< finite number of the output's type; beyond it the infinity of the right sign passes
  std::int64_t of_residual = 0;  ///< 1: as ToleratedError's

  [[nodiscard]] double allowed(double result, double scale) const;
};

/// Of an output, as its operation says.
[[nodiscard]] ErrorBound error_bound(const OperationBuffer& output);

/// Stands for the error of an element that is NaN or wrongly infinite, as a multiple of its bound.
inline constexpr double kNotFiniteRatio = 1e30;

}  // namespace pgtune::gpu
