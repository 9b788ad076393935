// SPDX-License-Identifier: MIT
#include "tuner/model/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace pgtune {
namespace {

constexpr EnumNames<FamilyBasis, 2> kBasisNames{
    {{FamilyBasis::kMeasured, "measured"}, {FamilyBasis::kPredicted, "predicted"}}};

bool is_time(double time_s) { return std::isfinite(time_s) && time_s > 0; }
bool is_time_or_none(double time_s) { return time_s == 0 || is_time(time_s); }

}  // namespace

EnumTable<FamilyBasis> enum_table(FamilyBasis /*basis*/) { return kBasisNames; }

double FamilyLoss::unproven_share(std::size_t probes) {
  constexpr double kDoubt = 0.05;
  return probes == 0 ? 1 : 1 - std::pow(kDoubt, 1 / static_cast<double>(probes));
}

Problem Family::at(std::int64_t m) const {
  Problem one = problem;
  one.m = m;
  return one;
}

bool Family::covers(const Problem& other) const {
  return other.m >= first_m && other.m <= last_m() && at(other.m) == other;
}

const FamilyInterval& Family::interval_of(std::int64_t m) const {
  return *std::lower_bound(
      intervals.begin(), intervals.end(), m,
      [](const FamilyInterval& interval, std::int64_t wanted) { return interval.last_m < wanted; });
}

std::optional<FamilyLoss> Family::loss() const {
  if (probes.empty()) return std::nullopt;
  std::vector<double> losses;
  for (const FamilyProbe& probe : probes) losses.push_back(probe.loss());
  std::sort(losses.begin(), losses.end());
  const std::size_t half = losses.size() / 2;
  const double median = losses.size() % 2 == 1 ? losses[half] : (losses[half - 1] + losses[half]) / 2;
  return FamilyLoss{median, losses.back()};
}

std::string Family::shape() const { return fmt::format("{}..{}x{}x{}", first_m, last_m(), problem.n, problem.k); }

std::string Family::title() const {
  const TitleParts parts = problem.title_parts();
  return fmt::format("{} {} {}{}", shape(), parts.kind, parts.layout, parts.further);
}

Result<void> Family::validate() const {
  const auto wrong = [](const char* what) { return fail(ErrorKind::kDatabase, fmt::format("a family with {}", what)); };
  const auto is_kernel = [&](int index) { return index >= 0 && static_cast<std::size_t>(index) < kernels.size(); };
  if (!problem.is_gemm() || first_m < 1 || first_m > last_m()) return wrong("no range of M");
  std::int64_t before = first_m - 1;
  for (const FamilyInterval& interval : intervals) {
    if (interval.last_m <= before) return wrong("intervals out of order");
    if (!is_kernel(interval.kernel) || !is_kernel(interval.spare.value_or(0)))
      return wrong("an interval without its kernel");
    if (!is_time(interval.time_s)) return wrong("an impossible time");
    before = interval.last_m;
  }
  if (intervals.empty() || before != last_m()) return wrong("intervals that do not cover its range of M");
  if (compared_m < 0 || compared_m > (sum_order.empty() ? 0 : last_m() - first_m + 1))
    return wrong("rows that cannot have been compared");
  before = first_m - 1;
  for (const FamilyProbe& probe : probes) {
    if (probe.m <= before || probe.m > last_m()) return wrong("a probe out of order or range");
    if (!is_time(probe.family_s) || !is_time(probe.best_s) || !is_time_or_none(probe.baseline_first_s) ||
        !is_time_or_none(probe.baseline_best_s))
      return wrong("an impossible time");
    before = probe.m;
  }
  return {};
}

}  // namespace pgtune
