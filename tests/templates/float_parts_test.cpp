// SPDX-License-Identifier: MIT
// A float's parts hold what tf32x3 promises, and their products become infinite or NaN where the number's do.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/copy/float_parts.cuh"

namespace pgtune {
namespace {

template <int kParts>
struct Parts {
  float part[kParts];

  explicit Parts(float x) {
    unsigned bits[kParts];
    FloatParts<kParts>::split(x, bits);
    for (int i = 0; i < kParts; ++i) part[i] = __uint_as_float(bits[i]);
  }
  [[nodiscard]] double sum() const {
    double all = 0;
    for (const float value : part) all += value;
    return all;
  }
  /// As the kernel multiplies: the products that count, the smallest first.
  [[nodiscard]] float times(const Parts& other) const {
    float all = 0;
    for (int order = kParts - 1; order >= 0; --order) {
      for (int i = order; i >= 0; --i) all += part[i] * other.part[order - i];
    }
    return all;
  }
};

template <int kParts>
double worst_split() {
  std::mt19937 random(7);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto mantissa = static_cast<unsigned>(random()) & 0x807fffffU;
    const float x = __uint_as_float(mantissa | (40 + static_cast<unsigned>(random()) % 200) << 23);
    worst = std::max(worst, std::abs(Parts<kParts>(x).sum() / x - 1));
  }
  return worst;
}

TEST(FloatParts, HoldTheNumber) {
  EXPECT_LE(worst_split<2>(), 0x1p-22);
  EXPECT_GT(worst_split<2>(), 0x1p-24) << "tf32 has 11 bits: two parts cannot hold every float";
  EXPECT_LE(worst_split<3>(), 0x1p-24);
  for (const float x : {0.0f, -0.0f, 1e-44f, -1e-38f, 1e-31f}) {
    EXPECT_NEAR(Parts<2>(x).sum(), x, std::abs(x) * 0x1p-21 + 0x1p-136);
    EXPECT_NEAR(Parts<3>(x).sum(), x, std::abs(x) * 0x1p-21 + 0x1p-133);
  }
}

template <int kParts>
void expect_same_class(float a, float b) {
  const float exact = a * b, got = Parts<kParts>(a).times(Parts<kParts>(b));
  if (std::isnan(exact)) {
    EXPECT_TRUE(std::isnan(got)) << a << " * " << b << " in " << kParts << " parts";
  } else if (std::isinf(exact)) {
    EXPECT_EQ(got, exact) << a << " * " << b << " in " << kParts << " parts";
  } else {
    EXPECT_TRUE(std::isfinite(got)) << a << " * " << b << " in " << kParts << " parts";
  }
}

TEST(FloatParts, InfinitiesStayInfinitiesAndNaNStaysNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float numbers[] = {0.0f,
                           -0.0f,
                           1.0f,
                           -1.0f,
                           3.3f,
                           -1e-20f,
                           1e-30f,
                           1e30f,
                           -3e38f,
                           kInfinity,
                           -kInfinity,
                           std::nanf(""),
                           __uint_as_float(0x7f800001)};
  for (const float a : numbers) {
    for (const float b : numbers) {
      expect_same_class<2>(a, b);
      expect_same_class<3>(a, b);
    }
  }
}

}  // namespace
}  // namespace pgtune
