// SPDX-License-Identifier: MIT
// D against the reference.
#pragma once

#include "kernels/elements.cuh"

struct Comparison {
  u64 wrong;            // elements whose error exceeds their bound, or that are not finite
  u64 first_wrong;      // smallest packed index of these
  u64 max_ratio_bits;   // largest |D - R| / bound; bits of a non-negative double compare like integers
  u64 padding_changed;  // elements between N and the leading dimension that lost the pattern
  double squared_error, squared_reference;
};

__device__ inline double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

// Layout of pgtune::gpu::ErrorBound.
struct Bound {
  double per_scale, per_result, absolute, largest;
  i64 of_residual;
};

// The element still holds the pattern, which lies at multiples of four bytes.
__device__ inline bool untouched(const void* matrix, i64 index, int type, u32 pattern) {
  switch (element_bytes(type)) {
    case 1:
      return static_cast<const unsigned char*>(matrix)[index] == (pattern >> 8 * (index & 3) & 0xff);
    case 2:
      return static_cast<const unsigned short*>(matrix)[index] == (pattern >> 16 * (index & 1) & 0xffff);
    case 4:
      return static_cast<const u32*>(matrix)[index] == pattern;
  }
  return false;
}

// What a thread finds. An element that is not a number counts as an error as large as its reference, unless that is not
// a number either; an infinite one is right where the reference may be beyond the type's largest number. A negative
// scale says that the element is nobody's concern.
class Findings {
 public:
  __device__ Findings(Bound bound, double not_finite_ratio) : bound_(bound), not_finite_ratio_(not_finite_ratio) {}

  __device__ void judge(double value, double expected, double scale, u64 at) {
    if (scale < 0 || (expected != expected && value != value)) return;
    const double infinity = __int_as_float(0x7f800000), size = fabs(expected);
    const double allowed = bound_.per_scale * scale + bound_.per_result * size + bound_.absolute;
    const bool finite = fabs(value) < infinity;  // false for NaN too
    const bool overflow = fabs(value) == infinity && value > 0 == expected > 0 && size + allowed >= bound_.largest;
    const double error = finite ? fabs(value - expected) : overflow ? 0 : size;
    count(error, expected, finite || overflow ? error / allowed : not_finite_ratio_, at);
  }

  // What the reference says of an element is to be small beside a scale that may follow from the result, too: neither
  // passes where it is not finite, nor does the element, which the residual need not depend on.
  __device__ void judge_residual(double value, double residual, double scale, u64 at) {
    if (scale < 0) return;
    const double infinity = __int_as_float(0x7f800000), error = fabs(residual);
    const bool finite = fabs(value) < infinity && error < infinity && scale < infinity;
    const double allowed = bound_.per_scale * scale + bound_.absolute;
    if (finite) {
      count(error, scale, error / allowed, at);
    } else {
      count(0, 0, not_finite_ratio_, at);
    }
  }

  __device__ bool of_residual() const { return bound_.of_residual != 0; }

  __device__ void see_padding(bool changed) { padding_changed_ += changed; }

  // By every thread of the warp.
  __device__ void add_to(Comparison* out) {
    const double squared_error = warp_sum(squared_error_), squared_reference = warp_sum(squared_reference_);
    if (threadIdx.x % 32 == 0) {
      atomicAdd(&out->squared_error, squared_error);
      atomicAdd(&out->squared_reference, squared_reference);
    }
    if (wrong_ != 0) {
      atomicAdd(&out->wrong, wrong_);
      atomicMin(&out->first_wrong, first_wrong_);
    }
    if (padding_changed_ != 0) atomicAdd(&out->padding_changed, padding_changed_);
    atomicMax(&out->max_ratio_bits, static_cast<u64>(__double_as_longlong(max_ratio_)));
  }

 private:
  __device__ void count(double error, double size, double ratio, u64 at) {
    squared_error_ += error * error;
    squared_reference_ += size * size;
    max_ratio_ = max_ratio_ > ratio ? max_ratio_ : ratio;
    if (!(ratio <= 1)) {
      ++wrong_;
      first_wrong_ = first_wrong_ < at ? first_wrong_ : at;
    }
  }

  Bound bound_;
  double not_finite_ratio_;
  double squared_error_ = 0, squared_reference_ = 0, max_ratio_ = 0;
  u64 wrong_ = 0, first_wrong_ = ~0ull, padding_changed_ = 0;
};
