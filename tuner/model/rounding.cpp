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

namespace {

/// The products p of random data have random signs, so their errors cancel: with probability 1 - 2 exp(-L^2 / 2) their
/// sum stays below L e |p|, e the largest relative error and |p| the Euclidean norm of the products (Hoeffding 1963;
/// half of it for the errors' mean, which multiplies the sum of the products, half for what they vary). L = 8; for
/// uniform, normal and integer data |p| is at most 1.6 S / sqrt(K).
constexpr double kProductConfidence = 8 * 1.6;

double product_error(double largest, std::int64_t k) {
  return largest * std::min(1.0, kProductConfidence / std::sqrt(static_cast<double>(k)));
}

}  // namespace

double sum_error(Dtype dtype, std::int64_t k, int further) {
  const SumError& error = traits(dtype).error;
  return summation_bound(k, error.addition, further) + product_error(error.product, k) + error.sum;
}

/// The errors of blocks are at most their own bound times their own scales, whose sum is S; the factor of a block and
/// its product with the block's sum round as terms do.
double blocked_sum_error(Dtype dtype, std::int64_t k, std::int64_t block) {
  const std::int64_t blocks = (k + block - 1) / block;
  return sum_error(dtype, std::min(k, block), 0) + summation_bound(blocks, kUnitRoundoffFloat32, 6);
}

double unit_roundoff(ElementType type) {
  const ElementTraits& c = traits(type);
  if (c.is_integer() || c.mantissa_bits >= std::numeric_limits<float>::digits - 1) return 0;
  return std::ldexp(1, -c.mantissa_bits - 1);
}

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

ToleratedError activated(ToleratedError error, Activation activation) {
  // It is the computed sum, and the activation computed of it, not the right result, that is rounded.
  const ActivationError of_activation = activation_error(activation);
  const double rounding = 1 + error.per_result;
  error.per_scale *= of_activation.slope * (1 + of_activation.relative) * rounding;
  error.per_result += of_activation.relative * rounding;
  error.absolute += of_activation.absolute * rounding;
  return error;
}

double absolute_error(ElementType type) {
  const ElementTraits& c = traits(type);
  if (c.is_integer()) return 0.5;
  const double half_distance = std::ldexp(1, -c.exponent_bias() - c.mantissa_bits);
  return std::max<double>(half_distance, std::numeric_limits<float>::min());
}

}  // namespace pgtune
