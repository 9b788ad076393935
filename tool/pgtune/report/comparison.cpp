// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/comparison.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "tuner/model/device_class.hpp"

namespace pgtune::tool {
namespace {

auto compared_key(const StoredResult& result) {
  return std::make_tuple(result.row.problem_key, device_class(result.device).hardware(), result.row.recorded,
                         result.row.conditions_key);
}

using Newest = std::map<decltype(compared_key(std::declval<const StoredResult&>())), const StoredResult*>;

Newest newest_of(const std::vector<StoredResult>& results) {
  Newest newest;
  for (const StoredResult& result : results) {
    const StoredResult*& known = newest[compared_key(result)];
    if (known == nullptr || result.row.session > known->row.session) known = &result;
  }
  return newest;
}

double quotient(double dividend, double divisor) { return divisor > 0 ? dividend / divisor : 0; }

}  // namespace

std::vector<ComparedResult> compare_results(const std::vector<StoredResult>& before,
                                            const std::vector<StoredResult>& after) {
  const Newest olds = newest_of(before), news = newest_of(after);
  std::vector<ComparedResult> out;
  for (const StoredResult& result : after) {
    const auto key = compared_key(result);
    const auto old = olds.find(key);
    if (old == olds.end() || news.at(key) != &result) continue;
    const session::Answer &then = old->second->answer, &now = result.answer;
    const double margin = std::max(then.floor.margin, now.floor.margin);
    out.push_back({old->second, &result, session::held(then.best(), now.best(), margin).held,
                   quotient(then.best().time_s, now.best().time_s),
                   quotient(then.baseline_best_s, now.baseline_best_s)});
  }
  return out;
}

}  // namespace pgtune::tool
