// SPDX-License-Identifier: MIT
#include "tuner/session/family/family_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "tuner/session/expected_search.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/session/family/classes.hpp"
#include "tuner/session/family/measurements.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/util/host_limits.hpp"
#include "tuner/util/parallel.hpp"

namespace pgtune::session {
namespace {

constexpr std::int64_t kFewRows = 16;  ///< up to here classes also end where a build changes

/// The indices of the least, ascending by value.
template <typename Values>
std::vector<std::size_t> least(const Values& values, std::size_t most) {
  std::vector<std::size_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const auto middle = indices.begin() + static_cast<std::ptrdiff_t>(std::min(most, indices.size()));
  std::partial_sort(indices.begin(), middle, indices.end(),
                    [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  indices.erase(middle, indices.end());
  return indices;
}

}  // namespace

Family family_of(const FamilyRequest& request, const SessionOptions& options) {
  Family family;
  family.problem = request.problem;
  family.first_m = request.first_m;
  family.conditions = options.conditions;
  return family;
}

std::size_t possible_probes(const FamilyRequest& request) {
  const std::vector<std::int64_t> used = class_grid(request.first_m, request.problem.m);
  return draw_probes(request.first_m, request.problem.m, request.probes, used, 0).size();
}

SessionOptions of_probe(const SessionOptions& options) {
  SessionOptions plain = options;
  plain.force = false;  // a search of this M counts, whichever command made it
  plain.only_chooses = true;
  plain.objective = Objective::kTime;
  plain.measure_energy = false;
  return plain;
}

bool is_plain(const std::string& order) { return order.starts_with("plain") || order.starts_with("exact"); }

VariantFilter admitted(const FamilyRequest& request, const space::TemplateSet& templates, const DeviceInfo& device) {
  if (!request.one_order) return {};
  return [&](const Variant& variant, const Problem& problem) {
    return is_plain(space::sum_order(templates.of(variant), variant, problem, device).value_or(""));
  };
}

Result<std::vector<Variant>> promising(const space::TemplateSet& templates, const Problem& problem,
                                       const DeviceInfo& device, const SessionOptions& options,
                                       const VariantFilter& admits, std::size_t most) {
  std::vector<Variant> out;
  const auto add = [&](const space::VariantList& list, const auto& values, const VariantFilter& allows) {
    const std::size_t end = out.size() + most;
    for (const std::size_t i : least(values, allows ? values.size() : most)) {
      if (allows && !allows(list.variants[i], problem)) continue;
      out.push_back(list.variants[i]);
      if (out.size() == end) return;
    }
  };
  if (const auto predictor = options.predictor ? options.predictor(problem, device) : nullptr) {
    TRY_ASSIGN(const auto list, space::legal_variants(templates, problem, device));
    TRY_ASSIGN(const auto expected, expected_times(*predictor, templates, problem, device, list.variants));
    const auto clocks = options.settled_clocks ? options.settled_clocks() : nullptr;
    if (clocks == nullptr || expected_search(problem, options, 1).sampling != Sampling::kSettled) {
      add(list, expected.log_times, admits);
      return out;
    }
    // Only these few get an expected clock: a slower variant does not make up its loss by a higher clock.
    constexpr std::size_t kMayBeFastest = 4096;
    space::VariantList shortlist;
    std::vector<double> cycles;
    for (const std::size_t i : least(expected.log_times, admits ? list.variants.size() : kMayBeFastest)) {
      if (cycles.size() == kMayBeFastest) break;
      if (admits && !admits(list.variants[i], problem)) continue;
      shortlist.variants.push_back(list.variants[i]);
      cycles.push_back(std::exp(expected.log_times[i]));
    }
    TRY_ASSIGN(const auto settled,
               expected_settled_times(*clocks, templates, problem, device, shortlist.variants, cycles));
    add(shortlist, settled, {});
    return out;
  }
  for (const space::TemplateDefinition& definition : templates.definitions()) {
    if (!definition.cost) continue;
    TRY_ASSIGN(const auto list, space::legal_variants(definition, problem, device));
    TRY_ASSIGN(const auto costs, space::cost_clocks(definition, list.variants, problem, device));
    add(list, costs, admits);
  }
  return out;
}

Result<std::string> kind_of(const space::TemplateSet& templates, const Variant& variant, const Problem& problem,
                            const DeviceInfo& device) {
  TRY_ASSIGN(const auto plan, space::make_launch_plan(templates.of(variant), variant, problem, device));
  const KernelLaunch& kernel = plan.kernels.back();
  return fmt::format("{} {} {} {}x{}x{} {}", variant.template_name, kernel.symbol, kernel.block.count(),
                     kernel.cluster.x, kernel.cluster.y, kernel.cluster.z, kernel.dynamic_smem_bytes);
}

Result<std::vector<Variant>> promising_kinds(const space::TemplateSet& templates, const Problem& problem,
                                             const DeviceInfo& device, const SessionOptions& options,
                                             const VariantFilter& admits, std::size_t most) {
  constexpr std::size_t kConsidered = 192;
  TRY_ASSIGN(const auto found, promising(templates, problem, device, options, admits, kConsidered));
  std::set<std::string> kinds;
  std::map<std::string, std::size_t> taken;  // of each template
  std::vector<Variant> out;
  for (const Variant& variant : found) {
    if (taken[variant.template_name] == most) continue;
    TRY_ASSIGN(auto kind, kind_of(templates, variant, problem, device));
    if (!kinds.insert(std::move(kind)).second) continue;
    out.push_back(variant);
    ++taken[variant.template_name];
  }
  return out;
}

Result<ExpectedClasses> expect_classes(const FamilyRequest& request, const space::TemplateSet& templates,
                                       const DeviceInfo& device, const SessionOptions& options, std::size_t most,
                                       const std::function<bool()>& ended) {
  const Family family = family_of(request, options);
  const VariantFilter admits = admitted(request, templates, device);
  std::map<std::int64_t, std::vector<Variant>> promising_at;
  const auto expect = [&](const std::vector<std::int64_t>& tops) -> Result<void> {
    std::vector<Result<std::vector<Variant>>> found(tops.size());
    // Each expectation has threads of its own.
    in_parallel(found.size(), usable_cores() / 2, [&](std::size_t i) {
      if (!ended()) found[i] = promising_kinds(templates, family.at(tops[i]), device, options, admits, most);
    });
    for (std::size_t i = 0; i < tops.size(); ++i) {
      TRY_ASSIGN(promising_at[tops[i]], std::move(found[i]));
    }
    return {};
  };
  TRY(expect(class_grid(request.first_m, request.problem.m)));
  std::map<std::string, Variant> candidates;
  for (const auto& [m, variants] : promising_at) {
    for (const Variant& variant : variants) candidates.emplace(variant.id(), variant);
  }
  std::vector<Variant> variants;
  for (auto& [id, variant] : candidates) variants.push_back(std::move(variant));
  ExpectedClasses out;
  if (ended()) return out;
  out.tops = class_tops(request.first_m, request.problem.m, [&](std::int64_t m) {
    return ended() ? std::vector<space::VariantFacts>()
                   : space::variant_facts(templates, variants, family.at(m), device);
  });
  // A kernel for few rows may be built for one M.
  std::int64_t from = request.first_m;
  for (const std::int64_t top : class_grid(request.first_m, request.problem.m)) {
    if (top > kFewRows) break;
    const auto changes = build_changes(from, top, [&](std::int64_t m) {
      return space::variant_facts(templates, promising_at[top], family.at(m), device, space::WithCosts::kNo);
    });
    out.tops.insert(out.tops.end(), changes.begin(), changes.end());
    from = top;
  }
  std::sort(out.tops.begin(), out.tops.end());
  out.tops.erase(std::unique(out.tops.begin(), out.tops.end()), out.tops.end());
  std::vector<std::int64_t> further;
  for (const std::int64_t m : out.tops) {
    if (!promising_at.contains(m)) further.push_back(m);
  }
  TRY(expect(further));
  for (const std::int64_t m : out.tops) out.promising.push_back(std::move(promising_at[m]));
  return out;
}

ExpectedFamily expected_family(const FamilyRequest& request, const SessionOptions& options,
                               std::size_t compile_workers) {
  // Of an H200 with 16 cores and 1..8192x5120x17920. kTrials: short ones for each class of the grid, where 40 % more
  // classes are found and times are taken again after all of them. kSettledOfM: samples of the ladder for each M.
  constexpr double kAnchor_s = 3.5, kBuild_s = 2, kTrial_s = 0.035, kTrialLaunches = 16, kTrials = 18;
  constexpr double kSettled_s = 1.5, kSettledOfM = 8;
  constexpr double kSettledRounds_s = 14, kShortRounds_s = 2.5;  // of a probe, with its preparation
  const auto workers = static_cast<double>(std::max<std::size_t>(compile_workers, 1));
  const auto explored = static_cast<double>(kExplored);
  const double anchor_s = kAnchor_s + explored * std::max(kTrial_s, kBuild_s / workers);
  const Family family = family_of(request, options);
  const std::vector<std::int64_t> grid = class_grid(request.first_m, request.problem.m);
  const auto expected_at = [&](std::int64_t m) { return expected_search(family.at(m), options, compile_workers); };
  const auto ladder =
      settled_ladder(grid, [&](std::int64_t m) { return expected_at(m).sampling == Sampling::kSettled; });
  ExpectedFamily expected;
  expected.kernels_s = static_cast<double>(anchors(request.first_m, request.problem.m).size()) * anchor_s +
                       static_cast<double>(ladder.size()) * kSettledOfM * kSettled_s;
  for (const std::int64_t m : grid)
    expected.kernels_s += kTrials * (kTrial_s + kTrialLaunches * expected_at(m).launch_s);
  if (request.one_order) {
    const auto every_m = static_cast<double>(request.problem.m - request.first_m + 1);
    expected.kernels_s += std::min(kComparing_s, 2 * kComparison_s * every_m);
  }
  for (std::size_t i = 0; i < request.probes; ++i) {  // at M that divide the range evenly by their logarithm
    Problem problem = request.problem;
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(request.probes);
    const auto first = static_cast<double>(request.first_m);
    problem.m = static_cast<std::int64_t>(first * std::pow(static_cast<double>(problem.m) / first, share));
    const ExpectedSearch search = expected_search(problem, of_probe(options), compile_workers);
    expected.probes_s += search.seconds + (search.sampling == Sampling::kSettled ? kSettledRounds_s : kShortRounds_s);
  }
  return expected;
}

}  // namespace pgtune::session
