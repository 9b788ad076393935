// SPDX-License-Identifier: MIT
#include "tuner/stats/verdict.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace pgtune::stats {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 5> kNames{
    {{Verdict::kFaster, "faster"},
     {Verdict::kFasterThroughPower, "faster through power"},
     {Verdict::kTie, "tie"},
     {Verdict::kSlower, "slower"},
     {Verdict::kUnclear, "unclear"}}};

}  // namespace

std::string_view to_string(Verdict verdict) {
  for (const auto& [value, name] : kNames) {
    if (value == verdict) return name;
  }
  return "?";
}

std::span<const std::pair<Verdict, std::string_view>> enum_table(Verdict /*of*/) { return kNames; }

Verdict verdict(const LogRatio& time, const LogRatio& cycles, double margin) {
  if (time.pairs == 0) return Verdict::kUnclear;
  const double bound = std::log1p(margin);
  if (time.interval.low >= -bound && time.interval.high <= bound) return Verdict::kTie;
  if (time.interval.high < 0) return Verdict::kSlower;
  if (time.interval.low <= 0) return Verdict::kUnclear;
  return cycles.pairs == 0 || cycles.interval.low > 0 ? Verdict::kFaster : Verdict::kFasterThroughPower;
}

double half_width(const LogRatio& ratio) { return (ratio.interval.high - ratio.interval.low) / 2; }

}  // namespace pgtune::stats
