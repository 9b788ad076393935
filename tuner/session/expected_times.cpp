// SPDX-License-Identifier: MIT
#include "tuner/session/expected_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tuner/model/device_class.hpp"
#include "tuner/space/features.hpp"
#include "tuner/util/count_text.hpp"
#include "tuner/util/host_limits.hpp"
#include "tuner/util/parallel.hpp"

namespace pgtune::session {
namespace {

constexpr double kDeviationElsewhere = 2;  ///< times as far off on kinds of GPU, or of templates, not seen
constexpr std::size_t kPart = 2048;        ///< variants that a core describes and scores at a time

bool has_seen(const search::Predictor& predictor, const DeviceInfo& device) {
  return predictor.has_seen(device_class(device).hardware());
}

/// Names of those that were not seen.
std::vector<std::string> unseen(const search::Predictor& predictor, const space::TemplateSet& templates) {
  std::vector<std::string> out;
  for (const space::TemplateDefinition& definition : templates.definitions()) {
    if (!predictor.has_seen_template(definition.name)) out.push_back(definition.name);
  }
  return out;
}

struct Part {
  std::span<const Variant> variants;
  std::vector<double> corrections = {};  ///< of the offsets
  std::vector<std::optional<double>> costs = {};
};

Result<void> score(const search::Predictor& predictor, const space::TemplateDefinition& definition,
                   const Problem& problem, const DeviceInfo& device, Part& part) {
  const space::Features features(definition, problem, device);
  TRY_ASSIGN(auto rows, features.of(part.variants));
  part.costs = std::move(rows.costs);
  part.corrections = predictor.predict({features.names(),
                                        {features.names().size(), std::move(rows.features)},
                                        std::vector<double>(part.variants.size(), 0.0)});
  return {};
}

}  // namespace

Result<search::DescribedVariants> described(const space::TemplateDefinition& definition, const Problem& problem,
                                            const DeviceInfo& device, std::span<const Variant> variants) {
  const space::Features features(definition, problem, device);
  TRY_ASSIGN(auto rows, features.of(variants));
  return search::DescribedVariants{
      features.names(), {features.names().size(), std::move(rows.features)}, search::cost_offsets(rows.costs)};
}

Result<search::Expectation> expected_times(const search::Predictor& predictor, const space::TemplateSet& templates,
                                           const Problem& problem, const DeviceInfo& device,
                                           std::span<const Variant> variants) {
  std::vector<Part> parts;
  for (std::size_t begin = 0; begin < variants.size();) {
    std::size_t end = begin;
    while (end < variants.size() && end - begin < kPart && variants[end].template_name == variants[begin].template_name)
      ++end;
    parts.push_back({variants.subspan(begin, end - begin)});
    begin = end;
  }
  std::vector<Result<void>> ends(parts.size());
  // A GPU may be measured meanwhile: one core is its worker's, as it is while variants are built.
  in_parallel(parts.size(), std::max<std::size_t>(usable_cores(), 2) - 1, [&](std::size_t i) {
    ends[i] = score(predictor, templates.of(parts[i].variants.front()), problem, device, parts[i]);
  });
  const bool of_templates = unseen(predictor, templates).empty();
  const double further_off = of_templates && has_seen(predictor, device) ? 1 : kDeviationElsewhere;
  search::Expectation out{{}, predictor.deviation() * further_off, of_templates};
  for (std::size_t first = 0; first < parts.size();) {  // template by template: costs compare within one
    std::vector<std::optional<double>> costs;
    std::size_t last = first;
    for (; last < parts.size() &&
           parts[last].variants.front().template_name == parts[first].variants.front().template_name;
         ++last) {
      if (!ends[last]) return tl::unexpected<Error>(ends[last].error());
      costs.insert(costs.end(), parts[last].costs.begin(), parts[last].costs.end());
    }
    auto offset = search::cost_offsets(costs);
    auto own = offset.begin();
    for (; first < last; ++first) {
      for (const double correction : parts[first].corrections) out.log_times.push_back(*own++ + correction);
    }
  }
  return out;
}

std::string expectation_note(const search::Predictor& predictor, const space::TemplateSet& templates,
                             const DeviceInfo& device) {
  std::string note = "the model was trained on " + counted(predictor.problems(), "shape");
  const std::vector<std::string> strange = unseen(predictor, templates);
  const bool elsewhere = !has_seen(predictor, device);
  if (elsewhere) note += fmt::format(", none of them measured on {}", device_class(device).hardware());
  if (!strange.empty()) note += fmt::format(", none of them with {}", fmt::join(strange, " or "));
  if (elsewhere || !strange.empty()) note += ", so it explored more";
  if (!strange.empty()) note += " and does not say what was missed";
  return note;
}

Result<std::vector<double>> expected_settled_times(const search::Predictor& clocks, const space::TemplateSet& templates,
                                                   const Problem& problem, const DeviceInfo& device,
                                                   std::span<const Variant> variants, std::span<const double> cycles) {
  std::map<std::string, std::vector<std::size_t>> by_template;
  for (std::size_t i = 0; i < variants.size(); ++i) by_template[variants[i].template_name].push_back(i);
  std::vector<double> out(variants.size(), 0);
  for (const auto& [name, indices] : by_template) {
    std::vector<Variant> own;
    for (const std::size_t i : indices) own.push_back(variants[i]);
    const space::Features features(templates.of(own.front()), problem, device);
    TRY_ASSIGN(auto rows, features.of(own));
    const auto slower = clocks.predict(
        {features.names(), {features.names().size(), std::move(rows.features)}, std::vector<double>(own.size(), 0.0)});
    for (std::size_t i = 0; i < indices.size(); ++i) out[indices[i]] = cycles[indices[i]] * std::exp(slower[i]);
  }
  return out;
}

}  // namespace pgtune::session
