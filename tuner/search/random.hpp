// SPDX-License-Identifier: MIT
// Random numbers that are the same on every platform, which the standard's distributions do not promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace pgtune::search {

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  /// Evenly from 0 to count - 1; the remainder's bias is below 2^-40 for whatever can be enumerated. Precondition:
  /// count > 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits_() % count); }
  /// Evenly from 0 to 1, 1 left out.
  double unit() { return static_cast<double>(bits_() >> 11) * 0x1.0p-53; }

 private:
  std::mt19937_64 bits_;  ///< its output is fixed by the standard
};

}  // namespace pgtune::search
