// SPDX-License-Identifier: MIT
// How far a right GEMM may be from the float64 reference, element by element.
#pragma once

#include <cstdint>

#include "tuner/model/problem.hpp"
#include "tuner/model/rounding.hpp"

namespace pgtune::gpu {

/// An element passes when |D - R| <= allowed(R, S) with S = |alpha| sum |a||b| + |beta c| + |bias| over the operands as
/// they are stored. The layout is that of Bound in kernels/comparison.cuh.
struct ErrorBound {
  double per_scale = 0;   ///< operand rounding and summation, of S
  double per_result = 0;  ///< evaluation of the activation and rounding of the result to its type, of |R|
  double absolute = 0;  ///< the same where |R| is small beside the activation's argument, subnormal or flushed to zero;
                        ///< half a unit where it is an integer, which has to be exact
  double largest = 0;   ///< finite number of C's type; beyond it the infinity of the right sign passes

  [[nodiscard]] double allowed(double result, double scale) const;
};

[[nodiscard]] ErrorBound error_bound(const Problem& problem);
/// Of an operation's output, as it says.
[[nodiscard]] ErrorBound error_bound(const OperationBuffer& output);

/// Before a bias is added and before an activation is applied the value may be rounded to D's type: some of cuBLASLt's
/// kernels do, and who calls it accepts that. This share of what is rounded counts like S; 0 where D is float32.
[[nodiscard]] double argument_rounding(const Problem& problem);

/// How an activation f carries errors on: |f(x) - f(y)| <= slope |x - y|, and a computed f(x) is off by up to
/// relative |f(x)| + absolute.
struct ActivationError {
  double slope = 1, relative = 0, absolute = 0;
};
[[nodiscard]] ActivationError activation_error(Activation activation);

/// Stands for the error of an element that is NaN or wrongly infinite, as a multiple of its bound.
inline constexpr double kNotFiniteRatio = 1e30;

}  // namespace pgtune::gpu
