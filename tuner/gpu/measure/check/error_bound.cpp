// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/error_bound.hpp"

#include <cmath>

namespace pgtune::gpu {

double ErrorBound::allowed(double result, double scale) const {
  return per_scale * scale + per_result * std::abs(result) + absolute;
}

ErrorBound error_bound(const OperationBuffer& output) {
  return {output.error.per_scale, output.error.per_result, output.error.absolute, traits(output.type).largest,
          output.error.of_residual ? 1 : 0};
}

}  // namespace pgtune::gpu
