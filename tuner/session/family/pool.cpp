// SPDX-License-Identifier: MIT
#include "tuner/session/family/pool.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "tuner/session/family/family_plan.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::session {
namespace {

/// A settled sample at the power cap that takes this much longer than a short one is slowed by the cap.
constexpr double kSlowedByCap = 0.03;
/// A factor on times predicted from farther away: kernels that were measured nearby come first.
constexpr double kFarAway = 1.25;
/// With as many variants measured at a M, the best of them is near the best of all.
constexpr int kWellKnown = 12;

}  // namespace

std::size_t Pool::add(const Variant& variant) {
  const auto [entry, is_new] = by_id_.try_emplace(variant.id(), variants_.size());
  if (is_new) {
    variants_.push_back(variant);
    measured_.emplace_back();
    kinds_.emplace_back();
  }
  return entry->second;
}

void Pool::drop(const Variant& variant) { failed_.insert(add(variant)); }

void Pool::take(std::int64_t m, const MeasuredM& measured) {
  for (const Variant& variant : measured.failed) drop(variant);
  for (const Tried& one : measured.tried) {
    // Without a clock, seconds stand for cycles: of a clock of 1 Hz.
    const double clock_hz = one.clock_hz > 0 ? one.clock_hz : 1;
    highest_clock_hz_ = std::max(highest_clock_hz_, clock_hz);
    Measured& own = measured_[add(one.variant)];
    own.cycles[m] = one.time_s * clock_hz;
    own.time_s[m] = one.time_s;
    auto& [least, number] = least_[m];
    least = number == 0 ? own.cycles[m] : std::min(least, own.cycles[m]);
    ++number;
  }
  for (const Settled& one : measured.settled) {
    const auto& short_s = measured_[add(one.variant)].time_s;
    const auto known = short_s.find(m);
    // A launch that waits for memory may touch the cap and lose nothing by it.
    const bool slowed = known != short_s.end() && one.capped && one.time_s > (1 + kSlowedByCap) * known->second;
    capped_[m] = capped_[m] || slowed;
  }
  for (const Settled& one : measured.settled) {
    const std::size_t index = add(one.variant);
    Measured& own = measured_[index];
    const auto cycles = own.cycles.find(m);
    if (cycles == own.cycles.end() || !is_capped(m)) continue;
    const double seconds = one.time_s / cycles->second;
    own.seconds_of_cycle[m] = seconds;
    const double of_work = seconds / slowed_by_work(index, m, cycles->second);
    settled_[kind(index, m)].emplace_back(m, of_work);
    usual_[m] += (of_work - usual_[m]) / ++samples_[m];
  }
}

const space::VariantFacts& Pool::facts(std::size_t index, std::int64_t m) {
  auto& known = facts_[m];
  if (known.size() <= index) {
    const auto further =
        space::variant_facts(templates_, std::span(variants_).subspan(known.size()), family_.at(m), device_);
    known.insert(known.end(), further.begin(), further.end());
  }
  return known[index];
}

bool Pool::may_serve(std::size_t index, std::int64_t m) { return !failed_.contains(index) && facts(index, m).legal; }

std::string Pool::order(std::size_t index, std::int64_t m) const {
  const Variant& variant = variants_[index];
  return space::sum_order(templates_.of(variant), variant, family_.at(m), device_).value_or("");
}

std::map<std::int64_t, bool>::const_iterator Pool::first_capped() const {
  return std::find_if(capped_.begin(), capped_.end(), [](const auto& one) { return one.second; });
}

bool Pool::is_capped(std::int64_t m) const {
  // Power grows with M, although one kernel's samples may not show it at each. Between a M below the cap and one at it
  // the nearer one decides, on a logarithmic scale.
  const auto first = first_capped();
  if (first == capped_.end() || m >= first->first) return first != capped_.end();
  if (first == capped_.begin()) return true;
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  return real(m) * real(m) >= real(std::prev(first)->first) * real(first->first);
}

bool Pool::is_measured_near(std::size_t index, std::int64_t m) const {
  const auto& known = measured_[index].cycles;
  return std::any_of(known.begin(), known.end(), [m](const auto& one) { return are_near(one.first, m); });
}

std::optional<Sampling> Pool::sampling(std::int64_t m) const {
  const auto first = first_capped();
  if (first != capped_.end() && m >= first->first) return Sampling::kSettled;
  if (first != capped_.begin() && m <= std::prev(first)->first) return Sampling::kShort;
  return std::nullopt;
}

const std::string& Pool::kind(std::size_t index, std::int64_t m) {
  if (kinds_[index].empty())
    kinds_[index] = kind_of(templates_, variants_[index], family_.at(m), device_).value_or(variants_[index].id());
  return kinds_[index];
}

bool Pool::is_settled(std::size_t index, std::int64_t m) {
  const auto& known = settled_[kind(index, m)];
  return std::any_of(known.begin(), known.end(), [m](const auto& one) { return are_beside(one.first, m); });
}

double Pool::work(std::size_t index, std::int64_t m) {
  // In bf16's operations; those of other types are taken to need energy in proportion to their bytes, and a template
  // that does not tell its traffic copies nothing. Fitted to 409 kernels settled in three families on H200s
  // (docs/results/settled-clocks.csv).
  constexpr double kOperationsOfAByte = 40;
  std::vector<double>& known = work_[m];
  if (known.size() < size()) known.resize(size());
  if (known[index] == 0) {
    const Problem problem = family_.at(m);
    const auto bytes = space::smem_bytes(templates_.of(variants_[index]), variants_[index], problem, device_);
    known[index] = problem.flops() * static_cast<double>(element_bytes(problem.dtype)) / 2 +
                   kOperationsOfAByte * (bytes ? bytes->value_or(0) : 0);
  }
  return known[index];
}

double Pool::slowed_by_work(std::size_t index, std::int64_t m, double cycles) {
  return std::cbrt(work(index, m) / cycles);
}

double Pool::least_cycles(std::int64_t m) const {
  double out = 0;
  for (auto known = least_.begin(); known != least_.upper_bound(m); ++known) {
    const auto& [least, number] = known->second;
    if (number >= kWellKnown) out = std::max(out, least);
  }
  return out;
}

bool Pool::is_expected(std::size_t index, std::int64_t m) {
  if (!is_measured_near(index, m)) return false;
  const auto cycles =
      predicted_cycles(measured_[index], m, [&](std::int64_t there) { return facts(index, there).clocks; });
  return measured_[index].cycles.contains(m) || *cycles >= least_cycles(m);
}

std::optional<double> Pool::time_s(std::size_t index, std::int64_t m) {
  if (!may_serve(index, m)) return std::nullopt;
  const auto cycles =
      predicted_cycles(measured_[index], m, [&](std::int64_t there) { return facts(index, there).clocks; });
  if (!cycles) return std::nullopt;
  const auto seconds = [&](double of_cycles, std::int64_t there) {
    return of_cycles * (is_capped(there) ? capped_seconds_of_cycle(index, there, of_cycles) : 1 / highest_clock_hz_);
  };
  // Costs know nothing of what fewer rows do not save, such as reading B. So no time is expected below the best at a
  // smaller M, nor below the variant's own at the next smaller M, unless a larger M had less.
  const auto& known = measured_[index].cycles;
  const auto above = known.lower_bound(m);
  double least_s = 0;
  if (above == known.end() || above->first != m) least_s = least_cycles(m) / highest_clock_hz_;
  if (above != known.begin() && (above == known.end() || above->first != m)) {
    double own_s = seconds(std::prev(above)->second, std::prev(above)->first);
    if (above != known.end()) own_s = std::min(own_s, seconds(above->second, above->first));
    least_s = std::max(least_s, own_s);
  }
  return std::max(seconds(*cycles, m), least_s);
}

double Pool::capped_seconds_of_cycle(std::size_t index, std::int64_t m, double cycles) {
  const Measured& own = measured_[index];
  if (const auto known = own.seconds_of_cycle.find(m); known != own.seconds_of_cycle.end()) return known->second;
  // That a kind is usual counts as much as one sample of it. So told, clocks on H200s are 2.4 % off, and 2.5 % without
  // samples of the kind (docs/results/settled-clocks.csv).
  double log_slowness = 0;
  int number = 1;
  for (const auto& [where, of_work] : settled_[kind(index, m)]) {
    if (!are_beside(where, m)) continue;
    log_slowness += std::log(of_work / interpolated(usual_, where));
    ++number;
  }
  const double slowness = std::exp(log_slowness / number);
  return std::max(interpolated(usual_, m) * slowness * slowed_by_work(index, m, cycles), 1 / highest_clock_hz_);
}

Pool::Rows Pool::rows(const std::vector<std::int64_t>& tops) {
  struct Row {
    std::vector<std::optional<double>> times;
    std::vector<bool> serves, measured;
  };
  Rows out;
  for (std::size_t index = 0; index < size(); ++index) {
    std::map<std::pair<std::uint64_t, std::string>, Row> by_build;
    for (std::size_t i = 0; i < tops.size(); ++i) {
      if (!may_serve(index, tops[i])) continue;
      Row& row = by_build[{facts(index, tops[i]).build, order(index, tops[i])}];
      row.times.resize(tops.size());
      row.serves.resize(tops.size());
      row.measured.resize(tops.size());
      row.serves[i] = true;
      row.measured[i] = measured_[index].cycles.contains(tops[i]);
      row.times[i] = time_s(index, tops[i]);
      if (!row.times[i]) continue;
      if (!is_measured_near(index, tops[i])) *row.times[i] *= kFarAway;
    }
    for (auto& [build, row] : by_build) {
      bound_by_larger_classes(row.times, row.serves, row.measured);
      if (std::none_of(row.times.begin(), row.times.end(), [](const auto& time) { return time.has_value(); })) continue;
      out.variants.push_back(index);
      out.orders.push_back(build.second);
      out.times.push_back(std::move(row.times));
    }
  }
  return out;
}

}  // namespace pgtune::session
