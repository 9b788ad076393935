// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/guess.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::tool {

std::optional<Guess> guess_variant(const search::Predictor& model, const space::TemplateSet& templates,
                                   const Problem& problem, const DeviceInfo& device) {
  const auto variants = value_or_throw(space::legal_variants(templates, problem, device)).variants;
  if (variants.empty()) return std::nullopt;
  const auto expected = value_or_throw(session::expected_times(model, templates, problem, device, variants));
  const auto least = std::min_element(expected.log_times.begin(), expected.log_times.end());
  const Variant& chosen = variants[static_cast<std::size_t>(least - expected.log_times.begin())];
  return Guess{chosen, model.loss(), model.has_seen(device_class(device).hardware()),
               model.has_seen_template(chosen.template_name), variants.size()};
}

std::string loss_text(const search::Predictor::Loss& loss) {
  return fmt::format("{:.1f} % slower than the best (median), {:.1f} % or more in one of ten", 100 * loss.median,
                     100 * loss.p90);
}

}  // namespace pgtune::tool
