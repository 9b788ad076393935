// SPDX-License-Identifier: MIT
// Times, rates and sizes as text.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/model/problem.hpp"

namespace pgtune::tool {

/// "850 ms", "12s", "1m20s", "2h05m".
[[nodiscard]] std::string duration_text(double seconds);
/// Four significant digits, six decimals at most: "2.712", "27120", "0.012345"; "-" for values that are not positive.
[[nodiscard]] std::string four_digits(double value);
/// Milliseconds with four significant digits and no unit: "2.712", "0.01234".
[[nodiscard]] std::string milliseconds_text(double seconds);
/// TFLOP/s with two decimals and no unit: "50.68".
[[nodiscard]] std::string tflops_text(double flops, double seconds);
/// The speed of the problem's launches in Problem::speed_unit(), without the unit: "50.68", "3912".
[[nodiscard]] std::string speed_text(const Problem& problem, double seconds);
/// KiB with one decimal and no unit: "33.0".
[[nodiscard]] std::string kibibytes_text(std::int64_t bytes);

}  // namespace pgtune::tool
