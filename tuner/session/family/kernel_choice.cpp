// SPDX-License-Identifier: MIT
#include "tuner/session/family/kernel_choice.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "tuner/space/variant_facts.hpp"

namespace pgtune::session {

std::vector<KernelChoice::RowsOfOrder> KernelChoice::by_order(const Pool::Rows& rows) {
  std::map<std::string, RowsOfOrder> orders;
  for (std::size_t i = 0; i < rows.times.size(); ++i) {
    RowsOfOrder& own = orders[rows.orders[i]];
    own.order = rows.orders[i];
    own.rows.push_back(i);
    own.times.push_back(rows.times[i]);
  }
  std::vector<RowsOfOrder> out;
  for (auto& [order, own] : orders) out.push_back(std::move(own));
  return out;
}

Result<KernelChoice::Chosen> KernelChoice::choose(bool doubts) {
  Chosen chosen{pool_.rows(tops_), {}, {}};
  if (doubts) distrust_expected(chosen.rows);
  do {
    TRY(choose_intervals(chosen));
  } while (drop_changing(chosen));
  return chosen;
}

void KernelChoice::distrust_expected(Pool::Rows& rows) const {
  constexpr double kLonger = 1.25;
  for (std::size_t row = 0; row < rows.times.size(); ++row) {
    const auto& known = pool_.measured(rows.variants[row]).cycles;
    for (std::size_t i = 0; i < tops_.size(); ++i) {
      if (rows.times[row][i] && !known.contains(tops_[i])) *rows.times[row][i] *= kLonger;
    }
  }
}

Result<void> KernelChoice::choose_intervals(Chosen& chosen) const {
  const std::vector<double> weights = class_weights(family_.first_m, tops_);
  if (!request_.one_order) {
    const TimeTable& times = chosen.rows.times;
    TRY_ASSIGN(chosen.intervals, cover(times, choose_kernels(times, weights, request_.kernels)));
    return {};
  }
  std::optional<double> least_s;
  for (const RowsOfOrder& own : by_order(chosen.rows)) {
    if (!is_plain(own.order)) continue;
    auto intervals = cover(own.times, choose_kernels(own.times, weights, request_.kernels));
    if (!intervals) continue;
    double log_s = 0;
    std::size_t next = 0;
    for (CoverInterval& interval : *intervals) {
      for (; next <= interval.last_class; ++next) log_s += weights[next] * std::log(*own.times[interval.kernel][next]);
      interval.kernel = own.rows[interval.kernel];
      if (interval.spare) interval.spare = own.rows[*interval.spare];
    }
    if (least_s && log_s >= *least_s) continue;
    least_s = log_s;
    chosen.order = own.order;
    chosen.intervals = std::move(*intervals);
  }
  if (least_s) return {};
  return fail(ErrorKind::kUsage, fmt::format("{}: no kernels that add in one order serve every M", family_.title()));
}

bool KernelChoice::drop_changing(Chosen& chosen) {
  std::size_t next = 0;
  bool any = false;
  for (const CoverInterval& interval : chosen.intervals) {
    for (; next <= interval.last_class; ++next) {
      any = drop_if_changing(chosen.rows, interval.kernel, next) || any;
      if (interval.spare) any = drop_if_changing(chosen.rows, *interval.spare, next) || any;
    }
  }
  return any;
}

bool KernelChoice::drop_if_changing(Pool::Rows& rows, std::size_t row, std::size_t of_class) {
  const std::size_t index = rows.variants[row];
  const std::string& order = rows.orders[row];
  const auto [entry, is_new] = changes_.try_emplace({index, order, of_class}, false);
  if (is_new) entry->second = changes(index, order, of_class);
  if (!entry->second || !rows.times[row][of_class]) return false;
  rows.times[row][of_class].reset();
  return true;
}

bool KernelChoice::changes(std::size_t index, const std::string& order, std::size_t of_class) const {
  const std::int64_t first = of_class == 0 ? family_.first_m : tops_[of_class - 1] + 1;
  const std::vector<Variant> one{pool_.variant(index)};
  const auto at = [&](std::int64_t m) {
    return space::variant_facts(templates_, one, family_.at(m), device_, space::WithCosts::kNo).front();
  };
  const space::VariantFacts top = at(tops_[of_class]);
  for (std::int64_t m = first; m < tops_[of_class]; ++m) {
    const space::VariantFacts here = at(m);
    const bool same_order = !request_.one_order || pool_.order(index, m) == order;
    if (!here.legal || here.build != top.build || !same_order) return true;
  }
  return false;
}

}  // namespace pgtune::session
