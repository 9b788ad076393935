// SPDX-License-Identifier: MIT
// How far a right float32 GEMM may be from the float64 reference, element by element.
#pragma once

#include <cmath>
#include <cstdint>

namespace pgtune::gpu {

inline constexpr double kUnitRoundoffFloat32 = 0x1p-24;

/// An element passes when |D - R| <= relative_bound(K) * S + kAbsoluteBound with S = |alpha| sum |a||b| + |beta c|.
/// The error of a sum of K rounded products grows like sqrt(K) * u * S with high probability for rounding errors of
/// random sign (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 2019;
/// their constant is a small multiple of 1). Four more roundings: the product, alpha, beta C and the last sum. The
/// factor 2 is the confidence; it leaves any order of summation room and stays far below what one missing product or a
/// reduced input precision costs.
[[nodiscard]] inline double relative_bound(std::int64_t k) {
  return 2.0 * (std::sqrt(static_cast<double>(k)) + 4.0) * kUnitRoundoffFloat32;
}

/// The smallest normal float32: results that small may be flushed to zero.
inline constexpr double kAbsoluteBound = 0x1p-126;

/// Stands for the error of an element that is NaN or infinite, as a multiple of its bound.
inline constexpr double kNotFiniteRatio = 1e30;

}  // namespace pgtune::gpu
