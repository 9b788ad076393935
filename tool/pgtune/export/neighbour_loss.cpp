// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/neighbour_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "db/queries/queries.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tool/pgtune/export/result_choice.hpp"
#include "tool/pgtune/export/template_code.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::tool {
namespace {

constexpr std::array kRadii{0.5, 1.0, 1.5, 2.0, 3.0};
constexpr std::size_t kLeastMeasured = 8;
/// A good median may hide the few neighbours that lose half of the time.
constexpr double kLargestTail = 4;  ///< 90th percentile over the median that is allowed

/// The variants of one may serve the other.
bool are_alike(const Problem& a, const Problem& b) {
  return a.is_of_kind(b) && a.layout() == b.layout() && (a.beta != 0) == (b.beta != 0);
}

std::vector<std::int64_t> extents(const Problem& problem) {
  std::vector<std::int64_t> out;
  for (const NamedValue& size : problem.sizes()) out.push_back(size.value);
  return out;
}

/// Whether the variant's build serves the problem, where it is legal.
bool serves(const CallableHeader& content, const ExportedVariant& variant, const Problem& problem,
            const DeviceInfo& device) {
  const space::TemplateDefinition& definition = content.templates[variant.template_number];
  const auto reason = space::why_illegal(definition, variant.variant, problem, device);
  if (!reason || *reason) return false;
  return is_served(definition, variant.variant, problem, device, variant.built) &&
         space::make_launch_plan(definition, variant.variant, problem, device).has_value();
}

/// A neighbour that computes the problem.
struct Candidate {
  std::size_t variant = 0;
  double distance = 0;
  std::optional<double> cost;
};

std::vector<Candidate> candidates(const CallableHeader& content, const Problem& problem, const DeviceInfo& device,
                                  double radius) {
  std::vector<Candidate> out;
  for (const ExportedEntry& entry : content.entries) {
    if (entry.guessed_loss || entry.problem == problem || !are_alike(entry.problem, problem) ||
        !same_device_class(content.device_classes[entry.device_class], device))
      continue;
    const double distance = problem_distance(entry.problem, problem);
    if (distance > radius) continue;
    const ExportedVariant& variant = content.variants[entry.variant];
    if (!serves(content, variant, problem, device)) continue;
    const auto cost = space::cost_clocks(content.templates[variant.template_number], variant.variant, problem, device);
    out.push_back({entry.variant, distance, cost ? *cost : std::nullopt});
  }
  return out;
}

std::optional<std::size_t> cheapest(const std::vector<Candidate>& candidates, double radius) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.distance > radius) continue;
    if (best != nullptr && (!candidate.cost || (best->cost && *candidate.cost >= *best->cost))) continue;
    best = &candidate;
  }
  return best == nullptr ? std::nullopt : std::optional(best->variant);
}

struct HeldOut {
  std::vector<Candidate> candidates;
  const std::map<std::string, double>* tried = nullptr;
  double best_s = 0;
};

/// The q-quantile of `all` losses of which those in `known` are the smallest; nothing where it is none of them. What a
/// search leaves untried is what it expects little of, so that the tried ones alone would tell too small a loss: 2.3 %
/// of the best were told of 21 untuned problems, which then ran at 0.952 of cuBLASLt's first choice.
std::optional<double> quantile_of_all(const std::vector<double>& known, int all, double q) {
  const double place = q * (all - 1), last = static_cast<double>(known.size()) - 1;
  if (known.empty() || std::ceil(place) > last) return std::nullopt;
  return stats::quantile(known, last > 0 ? place / last : 0);
}

MeasuredLoss loss_within(const CallableHeader& content, const std::vector<HeldOut>& problems, double radius) {
  MeasuredLoss loss;
  loss.radius = radius;
  std::vector<double> losses;
  for (const HeldOut& problem : problems) {
    const auto chosen = cheapest(problem.candidates, radius);
    if (!chosen) continue;
    ++loss.held_out;
    const auto time = problem.tried->find(content.variants[*chosen].variant.id());
    if (time != problem.tried->end()) losses.push_back(time->second / problem.best_s - 1);
  }
  loss.measured = static_cast<int>(losses.size());
  loss.median = quantile_of_all(losses, loss.held_out, 0.5);
  loss.p90 = quantile_of_all(losses, loss.held_out, 0.9);
  return loss;
}

}  // namespace

std::map<std::string, double> tried_times(const db::Database& database, const StoredResult& result,
                                          const std::vector<space::TemplateDefinition>& templates) {
  std::map<std::string, double> times;
  const auto tried = db::tried_templates(database);
  const auto own = tried.find(result.row.session);
  if (own == tried.end()) return times;
  for (const db::TemplateRow& row : own->second) {
    const auto definition =
        std::find_if(templates.begin(), templates.end(), [&](const auto& one) { return one.name == row.name; });
    if (definition == templates.end()) continue;
    db::ResultKey key = db::key_of(result.row);
    key.template_name = row.name;
    key.template_hash = row.content_hash;
    for (const auto& [variant_key, trial] : db::find_trials(database, key)) {
      if (trial.report.outcome.kind != OutcomeKind::kOk || trial.report.samples.empty()) continue;
      std::vector<double> samples;
      for (const Sample& sample : trial.report.samples) samples.push_back(sample.per_launch_s());
      times[definition->name + '/' + variant_key] = stats::median(samples);
    }
  }
  return times;
}

double problem_distance(const Problem& a, const Problem& b) {
  double squares = 0;
  const std::vector<std::int64_t> of_a = extents(a), of_b = extents(b);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const double doublings = std::log2(static_cast<double>(of_a[i]) / static_cast<double>(of_b[i]));
    squares += doublings * doublings;
  }
  return std::sqrt(squares);
}

std::optional<std::size_t> neighbour(const CallableHeader& content, const Problem& problem, const DeviceInfo& device,
                                     double radius) {
  return cheapest(candidates(content, problem, device, radius), radius);
}

std::vector<MeasuredLoss> measured_losses(const CallableHeader& content,
                                          const std::vector<std::map<std::string, double>>& tried,
                                          double largest_loss) {
  std::map<std::pair<std::string, Dtype>, std::vector<HeldOut>> by_kind;
  for (std::size_t i = 0; i < content.entries.size(); ++i) {
    const ExportedEntry& entry = content.entries[i];
    if (entry.guessed_loss) continue;
    const std::string operation = entry.problem.operation_name();
    std::vector<HeldOut>& problems = by_kind[{operation, entry.problem.dtype}];
    if (tried[i].empty()) continue;
    const auto fastest = std::min_element(tried[i].begin(), tried[i].end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    problems.push_back({candidates(content, entry.problem, content.device_classes[entry.device_class], kRadii.back()),
                        &tried[i], fastest->second});
  }
  std::vector<MeasuredLoss> out;
  for (const auto& [kind, problems] : by_kind) {
    std::optional<std::size_t> chosen;
    for (const double radius : kRadii) {
      out.push_back(loss_within(content, problems, radius));
      std::tie(out.back().operation, out.back().dtype) = kind;
      const MeasuredLoss& loss = out.back();
      if (loss.measured >= static_cast<int>(kLeastMeasured) && loss.median && *loss.median <= largest_loss &&
          loss.p90 && *loss.p90 <= kLargestTail * largest_loss)
        chosen = out.size() - 1;
    }
    if (chosen) out[*chosen].chosen = true;
  }
  return out;
}

}  // namespace pgtune::tool
