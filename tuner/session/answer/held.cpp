// SPDX-License-Identifier: MIT
#include "tuner/session/answer/held.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tuner/stats/interval.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune::session {
namespace {

constexpr EnumNames<Held, 5> kNames{{{Held::kHeld, "held"},
                                     {Held::kFaster, "faster"},
                                     {Held::kSlower, "slower"},
                                     {Held::kUnclear, "unclear"},
                                     {Held::kNew, "new"}}};

bool known(const RankedVariant& row) { return row.ratio_to_baseline > 0 && row.ratio_low > 0; }

bool too_wide(const RankedVariant& row, double margin) {
  constexpr double kMargins = 10;
  return row.ratio_high > row.ratio_low * (1 + kMargins * margin);
}

/// Five columns below 1000.
int decimals(double ratio) { return ratio < 10 ? 3 : ratio < 100 ? 2 : ratio < 1000 ? 1 : 0; }

std::string interval(const RankedVariant& row) {
  const int low = decimals(row.ratio_low), high = decimals(row.ratio_high);
  return fmt::format("{:.{}f} ({:.{}f}-{:.{}f})", row.ratio_to_baseline, decimals(row.ratio_to_baseline),
                     stats::rounded_down(row.ratio_low, low), low, stats::rounded_up(row.ratio_high, high), high);
}

}  // namespace

std::string_view to_string(Held held) { return enum_name(kNames, held); }

HeldReport held(const RankedVariant& stored, const RankedVariant& measured, double margin) {
  if (!known(stored)) return {Held::kUnclear, "unclear: what is stored has no ratio to the baseline"};
  if (!known(measured)) return {Held::kUnclear, "unclear: this run has no ratio to the baseline"};
  const auto sentence = [&](std::string_view what) {
    return fmt::format("{}: {} of the baseline, stored {}", what, interval(measured), interval(stored));
  };
  if (measured.ratio_low > stored.ratio_high * (1 + margin)) return {Held::kFaster, sentence("faster now")};
  if (stored.ratio_low > measured.ratio_high * (1 + margin)) return {Held::kSlower, sentence("slower now")};
  if (too_wide(stored, margin) || too_wide(measured, margin)) return {Held::kUnclear, sentence("too rough")};
  return {Held::kHeld, sentence("held")};
}

HeldReport measured_first(const RankedVariant& measured) {
  if (!known(measured)) return {Held::kNew, "new: this run has no ratio to the baseline"};
  return {Held::kNew, fmt::format("new: {} of the baseline, nothing stored", interval(measured))};
}

}  // namespace pgtune::session
