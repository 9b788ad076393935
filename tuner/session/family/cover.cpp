// SPDX-License-Identifier: MIT
#include "tuner/session/family/cover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pgtune::session {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
/// The loss of a class without a kernel: more than any other's.
constexpr double kUncovered = 1e6;
constexpr double kBeyondBearable = 9;

double time_of(const TimeTable& times, std::size_t kernel, std::size_t of_class) {
  return times[kernel][of_class].value_or(kNone);
}

/// By class, the least time over `kernels`.
template <typename Kernels>
std::vector<double> fastest(const TimeTable& times, const Kernels& kernels, std::size_t classes) {
  std::vector<double> out(classes, kNone);
  for (const std::size_t kernel : kernels) {
    for (std::size_t i = 0; i < classes; ++i) out[i] = std::min(out[i], time_of(times, kernel, i));
  }
  return out;
}

std::vector<std::size_t> all_of(const TimeTable& times) {
  std::vector<std::size_t> out(times.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
  return out;
}

/// The weighted mean of what is lost by `taken` against `best`.
double loss(const std::vector<double>& taken, const std::vector<double>& best, std::span<const double> weights) {
  double sum = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (best[i] == kNone) continue;
    if (taken[i] == kNone) {
      sum += weights[i] * kUncovered;
      continue;
    }
    const double own = taken[i] / best[i] - 1;
    sum += weights[i] * (own + kBeyondBearable * std::max(own - kBearable, 0.0));
  }
  return sum;
}

}  // namespace

double interpolated(const std::map<std::int64_t, double>& known, std::int64_t m) {
  const auto above = known.lower_bound(m);
  if (above == known.end()) return known.rbegin()->second;
  if (above == known.begin() || above->first == m) return above->second;
  const auto below = std::prev(above);
  const auto log = [](std::int64_t value) { return std::log(static_cast<double>(value)); };
  const double share = (log(m) - log(below->first)) / (log(above->first) - log(below->first));
  return below->second + share * (above->second - below->second);
}

void bound_by_larger_classes(std::vector<std::optional<double>>& times, const std::vector<bool>& serves,
                             const std::vector<bool>& measured) {
  std::optional<double> bound;
  for (std::size_t i = times.size(); i-- > 0;) {
    if (times[i] && (!bound || measured[i] || *times[i] < *bound)) bound = times[i];
    if (serves[i]) times[i] = bound;
  }
}

std::vector<double> class_weights(std::int64_t first, std::span<const std::int64_t> tops) {
  std::vector<double> out;
  const auto log = [](std::int64_t value) { return std::log(static_cast<double>(value)); };
  const double all = log(tops.back() + 1) - log(first);
  for (const std::int64_t top : tops) {
    out.push_back((log(top + 1) - log(first)) / all);
    first = top + 1;
  }
  return out;
}

std::vector<std::size_t> choose_kernels(const TimeTable& times, std::span<const double> weights, std::size_t most) {
  const std::size_t classes = weights.size();
  const std::vector<std::size_t> all = all_of(times);
  const std::vector<double> best = fastest(times, all, classes);
  const auto loss_of = [&](const std::vector<std::size_t>& chosen) {
    return loss(fastest(times, chosen, classes), best, weights);
  };
  std::vector<std::size_t> chosen;
  /// The kernel with which `others` lose least, and that loss.
  const auto best_beside = [&](const std::vector<std::size_t>& others) {
    std::pair<std::size_t, double> found{0, kNone};
    const std::vector<double> taken = fastest(times, others, classes);
    for (const std::size_t kernel : all) {
      std::vector<double> with = taken;
      for (std::size_t i = 0; i < classes; ++i) with[i] = std::min(with[i], time_of(times, kernel, i));
      const double left = loss(with, best, weights);
      if (left < found.second) found = {kernel, left};
    }
    return found;
  };
  double left = loss_of(chosen);
  while (chosen.size() < std::min(most, all.size())) {
    const auto [kernel, then] = best_beside(chosen);
    if (!chosen.empty() && left - then < kLeastGain) break;
    chosen.push_back(kernel);
    left = then;
  }
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::vector<std::size_t> others = chosen;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const auto [kernel, then] = best_beside(others);
      if (left - then < kLeastGain) continue;
      chosen[i] = kernel;
      left = then;
      better = true;
    }
  }
  for (std::size_t i = 0; i < chosen.size() && chosen.size() > 1;) {
    std::vector<std::size_t> others = chosen;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (loss_of(others) - left < kLeastGain) {
      chosen = std::move(others);
      left = loss_of(chosen);
    } else {
      ++i;
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Result<std::vector<CoverInterval>> cover(const TimeTable& times, std::span<const std::size_t> chosen) {
  const std::size_t classes = times.empty() ? 0 : times.front().size();
  const std::vector<double> best = fastest(times, chosen, classes);
  std::vector<CoverInterval> out;
  for (std::size_t first = 0; first < classes;) {
    if (best[first] == kNone) return fail(ErrorKind::kUsage, fmt::format("no kernel serves class {}", first + 1));
    // The kernel that goes on longest; of several the one that takes least time there.
    CoverInterval longest;
    double longest_s = kNone;
    std::size_t longest_end = first;
    for (const std::size_t kernel : chosen) {
      std::size_t end = first;
      double sum_s = 0;
      for (; end < classes && best[end] != kNone && time_of(times, kernel, end) <= (1 + kTolerated) * best[end]; ++end)
        sum_s += time_of(times, kernel, end) / best[end];
      if (end > longest_end || (end == longest_end && end > first && sum_s < longest_s)) {
        longest = {end - 1, kernel};
        longest_s = sum_s;
        longest_end = end;
      }
    }
    double spare_s = kNone;
    for (const std::size_t kernel : chosen) {
      double sum_s = 0;
      for (std::size_t i = first; i < longest_end; ++i) sum_s += time_of(times, kernel, i) / best[i];
      if (kernel == longest.kernel || !(sum_s < spare_s)) continue;
      spare_s = sum_s;
      longest.spare = kernel;
    }
    out.push_back(longest);
    first = longest_end;
  }
  return out;
}

}  // namespace pgtune::session
