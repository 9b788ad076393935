// SPDX-License-Identifier: MIT
#include "tuner/model/kernel_counters.hpp"

#include <algorithm>

namespace pgtune {
namespace {

std::optional<double> sum(const std::optional<double>& first, const std::optional<double>& second) {
  return first && second ? std::optional(*first + *second) : std::nullopt;
}

/// The optional numbers that `visit` goes through, in its order.
template <typename Visit>
std::vector<std::optional<double>*> numbers(KernelCounters& counters, const Visit& visit) {
  std::vector<std::optional<double>*> all;
  visit(counters, [&](const char* /*name*/, std::optional<double>& value) { all.push_back(&value); });
  return all;
}

}  // namespace

Result<void> KernelCounters::validate() const { return require_possible_numbers(*this, "counters of a kernel"); }

std::optional<double> KernelCounters::dram_bytes() const { return sum(dram_read_bytes, dram_write_bytes); }
std::optional<double> KernelCounters::l2_bytes() const { return sum(l2_read_bytes, l2_write_bytes); }

std::vector<std::pair<std::string_view, double>> KernelCounters::stalls() const {
  constexpr std::string_view kPrefix = "stall_";
  std::vector<std::pair<std::string_view, double>> all;
  visit_stalls(*this, [&](std::string_view name, const std::optional<double>& share) {
    if (share) all.emplace_back(name.substr(kPrefix.size()), *share);
  });
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return all;
}

KernelCounters combined(const std::vector<KernelCounters>& kernels) {
  KernelCounters total = *std::max_element(kernels.begin(), kernels.end(),
                                           [](const auto& a, const auto& b) { return a.duration_s < b.duration_s; });
  if (kernels.size() == 1) return total;
  const auto visit_sums = [](KernelCounters& of, const auto& visit) { KernelCounters::visit_sums(of, visit); };
  const auto visit_means = [](KernelCounters& of, const auto& visit) {
    visit("sm_clock_hz", of.sm_clock_hz);
    KernelCounters::visit_shares(of, visit);
  };
  total.kernels = 0;
  total.duration_s = 0;
  for (auto* const value : numbers(total, visit_sums)) *value = 0;
  for (auto* const value : numbers(total, visit_means)) *value = 0;
  for (KernelCounters kernel : kernels) {
    const auto add = [&](const auto& visit, double weight) {
      const auto to = numbers(total, visit), from = numbers(kernel, visit);
      for (std::size_t i = 0; i < to.size(); ++i) {
        *to[i] = *to[i] && *from[i] ? std::optional(**to[i] + weight * **from[i]) : std::nullopt;
      }
    };
    add(visit_sums, 1);
    add(visit_means, kernel.duration_s);
    total.kernels += kernel.kernels;
    total.duration_s += kernel.duration_s;
  }
  for (auto* const value : numbers(total, visit_means)) {
    if (*value) *value = total.duration_s > 0 ? std::optional(**value / total.duration_s) : std::nullopt;
  }
  return total;
}

}  // namespace pgtune
