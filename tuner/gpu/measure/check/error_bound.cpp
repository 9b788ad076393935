// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/error_bound.hpp"

#include <algorithm>
#include <cmath>

namespace pgtune::gpu {
namespace {

double sum_error(const Problem& problem) {
  return pgtune::sum_error(problem.dtype, problem.k, problem.epilogue.bias ? 5 : 4);
}

}  // namespace

/// relu is exact. The others are x / (1 + exp(-v)) with v = x for silu and v = 2 sqrt(2/pi) (x + 0.044715 x^3) for
/// gelu: steepest at x = 2.4 (silu, 1.0998) and 1.56 (gelu, 1.1290). In float32 v is off by some units of 2^-24 |v|,
/// which the exponential turns into a relative error of as many units times |v|, and |v| <= 88 where the result is not
/// flushed to zero; the exponential itself, the sum and the quotient add a few units of 2^-23. gelu rounds v four times
/// more than silu.
ActivationError activation_error(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return {1.13, 0x1p-15, 0};
    case Activation::kSilu:
      return {1.1, 0x1p-17, 0};
    case Activation::kNone:
    case Activation::kRelu:
      break;
  }
  return {};
}

double ErrorBound::allowed(double result, double scale) const {
  return per_scale * scale + per_result * std::abs(result) + absolute;
}

double argument_rounding(const Problem& problem) {
  const double roundoff = unit_roundoff(problem.type_of_c());
  return roundoff == 0 ? 0 : roundoff / sum_error(problem);
}

ErrorBound error_bound(const OperationBuffer& output) {
  return {output.error.per_scale, output.error.per_result, output.error.absolute, traits(output.type).largest};
}

ErrorBound error_bound(const Problem& problem) {
  ErrorBound bound;
  bound.per_scale = sum_error(problem);
  bound.per_result = unit_roundoff(problem.type_of_c());
  bound.absolute = absolute_error(problem.type_of_c());
  bound.largest = traits(problem.type_of_c()).largest;
  // It is the computed sum, and the activation computed of it, not R, that is rounded.
  const ActivationError activation = activation_error(problem.epilogue.activation);
  const double rounding = 1 + bound.per_result;
  bound.per_scale *= activation.slope * (1 + activation.relative) * rounding;
  bound.per_result += activation.relative * rounding;
  bound.absolute += activation.absolute * rounding;
  return bound;
}

}  // namespace pgtune::gpu
