// SPDX-License-Identifier: MIT
// What arithmetic and storage cost in accuracy: the parts that error bounds are made of.
#pragma once

#include <cstdint>

#include "tuner/model/dtype.hpp"
#include "tuner/model/element_type.hpp"
#include "tuner/model/epilogue.hpp"
#include "tuner/model/operation_problem.hpp"

namespace pgtune {

/// The error of float32 sums of K products, each operation rounded with error up to `unit_roundoff`, in units of S.
/// `further`: roundings in addition to those of the sum.
[[nodiscard]] double summation_bound(std::int64_t k, double unit_roundoff, int further = 4);

/// The error of sums of K products in the arithmetic of `dtype`, in units of S, the sum of the products' magnitudes.
[[nodiscard]] double sum_error(Dtype dtype, std::int64_t k, int further = 4);

/// The same where each `block` of products is summed in that arithmetic, multiplied by a float32 factor of its own and
/// added in float32; S has the factors too.
[[nodiscard]] double blocked_sum_error(Dtype dtype, std::int64_t k, std::int64_t block);

/// Rounding to nearest, of a float32 to `type`: half a unit in the last place. Float32 is not rounded any more, and
/// integers never are.
[[nodiscard]] double unit_roundoff(ElementType type);

/// How an activation f carries errors on: |f(x) - f(y)| <= slope |x - y|, and a computed f(x) is off by up to
/// relative |f(x)| + absolute.
struct ActivationError {
  double slope = 1, relative = 0, absolute = 0;
};
[[nodiscard]] ActivationError activation_error(Activation activation);

/// Of a result that is `activation` of what may be off by `error`, which has the rounding of the result in it.
[[nodiscard]] ToleratedError activated(ToleratedError error, Activation activation);

/// What is lost however small a result of `type` is: half the distance of subnormal numbers, or what float32 flushes to
/// zero. Integers that are less than one apart are equal.
[[nodiscard]] double absolute_error(ElementType type);

}  // namespace pgtune
