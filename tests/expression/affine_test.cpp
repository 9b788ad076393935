// SPDX-License-Identifier: MIT
// Which names an expression only adds and multiplies by what is known beforehand.
#include "tuner/expression/affine.hpp"

#include <gtest/gtest.h>

namespace pgtune::space {
namespace {

/// With T and L as names that are not known beforehand.
std::optional<std::string> offending(const char* text) {
  return name_not_affine(Expression::parse(text).value(), {"T", "L"});
}

TEST(Affine, SumsAndProductsWithWhatIsKnownAre) {
  for (const char* text : {"2 * T * N * K", "T * (K + 4 * ceil_div(K, 128)) + L * N * K + 7", "-T + N - L", "0",
                           "(T + L) * (N - 1)", "N % 2 == 0 ? 2 * T : L + 1", "max(N, K) * T", "N / 2 * T - T"})
    EXPECT_EQ(offending(text), std::nullopt) << text;
}

TEST(Affine, EverythingElseIsNot) {
  for (const char* text : {"T * T", "N * (T + 1) * T", "T / 2", "T % 2", "max(T, N)", "min(N, T + 1)",
                           "ceil_div(T, 128)", "T << 1", "T > 0 ? N : K", "abs(T)", "T > 3", "!T", "T == N", "N && T",
                           "T || N", "round_up(N, T)", "gcd(T, 4)", "is_pow2(T)"})
    EXPECT_EQ(offending(text), "T") << text;
  EXPECT_EQ(offending("T + L * L"), "L");
  EXPECT_EQ(offending("T * L"), "T");
}

}  // namespace
}  // namespace pgtune::space
