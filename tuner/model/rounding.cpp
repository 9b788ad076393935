// SPDX-License-Identifier: MIT
#include "tuner/model/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pgtune {

/// The error of a sum of K rounded products grows like sqrt(K) * u * S with high probability for rounding errors of
/// random sign (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 2019;
/// their constant is a small multiple of 1). Four more roundings: the product, alpha, beta C and the last sum; a bias
/// adds a fifth. The factor 2 is the confidence; it leaves any order of summation room and stays far below what one
/// missing product or a reduced input precision costs.
double summation_bound(std::int64_t k, double unit_roundoff, int further) {
  return 2.0 * (std::sqrt(static_cast<double>(k)) + further) * unit_roundoff;
}

double unit_roundoff(ElementType type) {
  const ElementTraits& c = traits(type);
  if (c.is_integer() || c.mantissa_bits >= std::numeric_limits<float>::digits - 1) return 0;
  return std::ldexp(1, -c.mantissa_bits - 1);
}

double absolute_error(ElementType type) {
  const ElementTraits& c = traits(type);
  if (c.is_integer()) return 0.5;
  const double half_distance = std::ldexp(1, -c.exponent_bias() - c.mantissa_bits);
  return std::max<double>(half_distance, std::numeric_limits<float>::min());
}

}  // namespace pgtune
