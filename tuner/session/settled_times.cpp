// SPDX-License-Identifier: MIT
#include "tuner/session/settled_times.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "tuner/space/features.hpp"

namespace pgtune::session {

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
