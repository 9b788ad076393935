// SPDX-License-Identifier: MIT
// Under which conditions a problem is measured. Results taken under different conditions are different results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

enum class Regime {
  kSustained,  ///< samples of equal duration back to back, as under load, the power cap included
  kBurst,      ///< a pause before every sample, so that each starts from an idle GPU
};
enum class L2State {
  kRotated,  ///< launches rotate over several times the L2's size of operands: every one finds its operands in DRAM
  kWarm,     ///< one set of operands: what fits in L2 stays there
};
/// In real numbers, rounded to an operand's type. Integers are uniform on all of their range
/// (ElementTraits::data_range), or have a quarter of it as deviation and are cut off at its ends.
enum class DataDistribution {
  kUniform,   ///< [-1, 1)
  kNormal,    ///< mean 0, deviation 1
  kIntegers,  ///< -4 to 4: few bits toggle, the GPU draws less power and may run faster than on real data
  kZeros,     ///< likewise, and more so; wrong results may go unnoticed
};

[[nodiscard]] EnumTable<Regime> enum_table(Regime regime);
[[nodiscard]] std::optional<Regime> parse_regime(std::string_view text);
[[nodiscard]] EnumTable<L2State> enum_table(L2State state);
[[nodiscard]] std::optional<L2State> parse_l2_state(std::string_view text);
[[nodiscard]] EnumTable<DataDistribution> enum_table(DataDistribution distribution);
[[nodiscard]] std::optional<DataDistribution> parse_data_distribution(std::string_view text);

struct Conditions {
  Regime regime = Regime::kSustained;
  L2State l2 = L2State::kRotated;
  DataDistribution data = DataDistribution::kUniform;
  std::uint64_t data_seed = 20231107;
  double locked_sm_clock_hz = 0;  ///< 0: the clock is observed, not set

  /// Canonical text, e.g. "sustained rotated uniform:20231107 observed" or "... locked:1500MHz".
  [[nodiscard]] std::string key() const;
  /// Timings on such data are no evidence for real data.
  [[nodiscard]] bool easy_data() const {
    return data == DataDistribution::kIntegers || data == DataDistribution::kZeros;
  }

  PGTUNE_FIELDS(regime, l2, data, data_seed, locked_sm_clock_hz)
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// The inverse of key(). Errors (internal): not such a text.
[[nodiscard]] Result<Conditions> parse_conditions(std::string_view key);

}  // namespace pgtune
