// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pgtune::gpu {
namespace {

/// Tensor cores align the products and the running sum, add them and cut the rest off instead of rounding it (Fasi,
/// Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 2021), so that one
/// addition loses up to a whole unit in the last place of a float32.
constexpr double kUnitCutoffFloat32 = 2 * kUnitRoundoffFloat32;

/// Both operands of a tf32 product keep 10 mantissa bits. Cut off, which tensor cores do with float32 they are given,
/// each loses up to 2^-10 of itself, and the product 2^-9.
constexpr double kTf32ProductError = 0x1p-9;
/// The products p of random data have random signs, so their errors cancel: with probability 1 - 2 exp(-L^2 / 2) their
/// sum stays below L e |p|, e the largest relative error and |p| the Euclidean norm of the products (Hoeffding 1963;
/// half of it for the errors' mean, which multiplies the sum of the products, half for what they vary). L = 8; for
/// uniform, normal and integer data |p| is at most 1.6 S / sqrt(K).
constexpr double kProductConfidence = 8 * 1.6;

/// Split into a high and a low tf32 part, an operand loses what the low part cannot hold: 3 units of 2^-23 at most
/// where both parts are cut off, the product of the low parts is left out, 2^-20 then, and the product loses less than
/// 2^-19. (Rounded parts lose 2^-21: Markidis et al., "NVIDIA tensor core programmability, performance and precision",
/// IPDPSW 2018, and Ootomo and Yokota, "Recovering single precision accuracy from tensor cores", IJHPCA 2022, use the
/// scheme.)
constexpr double kTf32x3ProductError = 0x1p-19;

/// Hopper's tensor cores keep 13 bits after the point of the largest addend when they add e4m3 and e5m2 products to
/// their sum (fast accumulation). A sum has K such errors, of random sign, in units of a running sum that is about S /
/// sqrt(K) long: in S they hardly depend on K. The factor 8 is twice what cuBLASLt's sums were seen to need on an H200:
/// 4.3 at most, K from 32 to 32768, uniform and normal data, four million elements each, written as float32.
constexpr double kFloat8SumError = 8 * 0x1p-13;

double product_error(double largest, std::int64_t k) {
  return largest * std::min(1.0, kProductConfidence / std::sqrt(static_cast<double>(k)));
}

double sum_error(const Problem& problem) {
  const int further = problem.epilogue.bias ? 5 : 4;
  switch (problem.dtype) {
    case Dtype::kF32:
      return summation_bound(problem.k, kUnitRoundoffFloat32, further);
    case Dtype::kTf32:
      return summation_bound(problem.k, kUnitCutoffFloat32, further) + product_error(kTf32ProductError, problem.k);
    case Dtype::kTf32x3:
      return summation_bound(problem.k, kUnitCutoffFloat32, further) + product_error(kTf32x3ProductError, problem.k);
    case Dtype::kF16:
    case Dtype::kBf16:
      return summation_bound(problem.k, kUnitCutoffFloat32, further);
    case Dtype::kE4m3:
    case Dtype::kE5m2:
      return kFloat8SumError;
    case Dtype::kInt8:  // float64 and int32 both hold every sum
      break;
  }
  return 0;
}

/// Rounding to nearest, of a float32 to one of C's types: half a unit in the last of 11 or 8 bits.
double unit_roundoff(ElementType type) {
  if (type == ElementType::kFloat32 || type == ElementType::kInt32) return 0;
  return type == ElementType::kFloat16 ? 0x1p-11 : 0x1p-8;
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

/// The error of a sum of K rounded products grows like sqrt(K) * u * S with high probability for rounding errors of
/// random sign (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 2019;
/// their constant is a small multiple of 1). Four more roundings: the product, alpha, beta C and the last sum; a bias
/// adds a fifth. The factor 2 is the confidence; it leaves any order of summation room and stays far below what one
/// missing product or a reduced input precision costs.
double summation_bound(std::int64_t k, double unit_roundoff, int further) {
  return 2.0 * (std::sqrt(static_cast<double>(k)) + further) * unit_roundoff;
}

double argument_rounding(const Problem& problem) {
  const double roundoff = unit_roundoff(problem.type_of_c());
  return roundoff == 0 ? 0 : roundoff / sum_error(problem);
}

ErrorBound error_bound(const Problem& problem) {
  ErrorBound bound;
  bound.per_scale = sum_error(problem);
  bound.per_result = unit_roundoff(problem.type_of_c());
  bound.absolute = std::numeric_limits<float>::min();
  bound.largest = std::numeric_limits<float>::max();
  switch (problem.type_of_c()) {
    case ElementType::kFloat16:
      bound.absolute = 0x1p-25;  // half the distance of subnormal numbers
      bound.largest = 65504;
      break;
    case ElementType::kBfloat16:
      bound.largest = 0x1.fep127;
      break;
    case ElementType::kInt32:
      bound.absolute = 0.5;  // integers that are no further apart are equal
      bound.largest = std::numeric_limits<std::int32_t>::max();
      break;
    default:
      break;
  }
  // It is the computed sum, and the activation computed of it, not R, that is rounded.
  const ActivationError activation = activation_error(problem.epilogue.activation);
  const double rounding = 1 + bound.per_result;
  bound.per_scale *= activation.slope * (1 + activation.relative) * rounding;
  bound.per_result += activation.relative * rounding;
  bound.absolute += activation.absolute * rounding;
  return bound;
}

}  // namespace pgtune::gpu
