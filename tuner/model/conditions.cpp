// SPDX-License-Identifier: MIT
#include "tuner/model/conditions.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

namespace pgtune {
namespace {

constexpr EnumNames<Regime, 2> kRegimes{{{Regime::kSustained, "sustained"}, {Regime::kBurst, "burst"}}};
constexpr EnumNames<L2State, 2> kL2States{{{L2State::kRotated, "rotated"}, {L2State::kWarm, "warm"}}};
constexpr EnumNames<DataDistribution, 4> kDistributions{{{DataDistribution::kUniform, "uniform"},
                                                         {DataDistribution::kNormal, "normal"},
                                                         {DataDistribution::kIntegers, "integers"},
                                                         {DataDistribution::kZeros, "zeros"}}};
constexpr std::string_view kObserved = "observed", kLocked = "locked:", kMegahertz = "MHz";

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

/// Hz of "observed" (0) or "locked:1500MHz".
std::optional<double> parse_clock(std::string_view text) {
  if (text == kObserved) return 0.0;
  if (!text.starts_with(kLocked) || !text.ends_with(kMegahertz)) return std::nullopt;
  text.remove_prefix(kLocked.size());
  text.remove_suffix(kMegahertz.size());
  const auto mhz = number<unsigned>(text);
  if (!mhz) return std::nullopt;
  return *mhz * 1e6;
}

}  // namespace

EnumTable<Regime> enum_table(Regime /*regime*/) { return kRegimes; }
std::optional<Regime> parse_regime(std::string_view text) { return enum_value(kRegimes, text); }
EnumTable<L2State> enum_table(L2State /*state*/) { return kL2States; }
std::optional<L2State> parse_l2_state(std::string_view text) { return enum_value(kL2States, text); }
EnumTable<DataDistribution> enum_table(DataDistribution /*distribution*/) { return kDistributions; }
std::optional<DataDistribution> parse_data_distribution(std::string_view text) {
  return enum_value(kDistributions, text);
}

std::string Conditions::key() const {
  const std::string clock = locked_sm_clock_hz > 0
                                ? fmt::format("{}{:.0f}{}", kLocked, locked_sm_clock_hz / 1e6, kMegahertz)
                                : std::string(kObserved);
  return fmt::format("{} {} {}:{} {}", to_string(regime), to_string(l2), to_string(data), data_seed, clock);
}

Result<Conditions> parse_conditions(std::string_view key) {
  const auto malformed = [&] { return fail(ErrorKind::kInternal, fmt::format("'{}' names no conditions", key)); };
  const auto parts = words(key);
  if (parts.size() != 4) return malformed();
  const std::size_t colon = parts[2].find(':');
  if (colon == std::string_view::npos) return malformed();
  const auto regime = parse_regime(parts[0]);
  const auto l2 = parse_l2_state(parts[1]);
  const auto data = parse_data_distribution(parts[2].substr(0, colon));
  const auto seed = number<std::uint64_t>(parts[2].substr(colon + 1));
  const auto clock_hz = parse_clock(parts[3]);
  if (!regime || !l2 || !data || !seed || !clock_hz) return malformed();
  return Conditions{*regime, *l2, *data, *seed, *clock_hz};
}

}  // namespace pgtune
