// SPDX-License-Identifier: MIT

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tool/pgtune/page/page_data.hpp"
#include "tuner/model/contender.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// The fastest of the baseline's algorithms in a stage; -1 if none was in it.
int best_algorithm(const std::vector<db::ContenderSamplesRow>& rounds, Stage stage) {
  int best = -1;
  double best_s = 0;
  for (const db::ContenderSamplesRow& contender : rounds) {
    const auto* const algorithm = algorithm_of(contender.contender);
    if (algorithm == nullptr) continue;
    std::vector<double> times;
    for (const Sample& sample : contender.samples) {
      if (sample.stage == stage) times.push_back(sample.per_launch_s());
    }
    const double median_s = stats::median(times);
    if (times.empty() || (best >= 0 && median_s >= best_s)) continue;
    best = algorithm->index;
    best_s = median_s;
  }
  return best;
}

/// Empty if the contender is not shown.
std::string name_of(const db::ContenderRow& contender, const session::Answer& answer, int best) {
  if (const auto* const algorithm = algorithm_of(contender)) {
    if (algorithm->index == best) return "baseline best";
    return algorithm->index == answer.baseline.first ? "baseline first" : "baseline other";
  }
  const db::VariantRow& variant = *variant_of(contender);
  constexpr std::size_t kShownVariants = 2;
  for (std::size_t place = 0; place < std::min(answer.ranking.size(), kShownVariants); ++place) {
    const Variant& ranked = answer.ranking[place].variant;
    if (ranked.template_name == variant.origin.name && ranked.key() == variant.key)
      return place == 0 ? "winner" : "runner-up";
  }
  return {};
}

class Series {
 public:
  void add(const Sample& sample, int place) {
    places_.push_back(place);
    times_.push_back(compact(sample.per_launch_s() * 1e6));
    add_to(clocks_, sample.sm_clock_hz > 0 ? std::optional(sample.sm_clock_hz / 1e6) : std::nullopt, has_clocks_);
    add_to(powers_, sample.power_w, has_powers_);
  }
  [[nodiscard]] json data(const std::string& name, Stage stage, int positions) const {
    json out = {
        {"name", name}, {"stage", to_string(stage)}, {"positions", positions}, {"place", places_}, {"us", times_}};
    if (has_clocks_) out["mhz"] = clocks_;
    if (has_powers_) out["w"] = powers_;
    return out;
  }

 private:
  static void add_to(json& values, const std::optional<double>& value, bool& any) {
    values.push_back(value ? compact(*value, 4) : json(nullptr));
    any = any || value.has_value();
  }
  json places_ = json::array(), times_ = json::array(), clocks_ = json::array(), powers_ = json::array();
  bool has_clocks_ = false, has_powers_ = false;
};

}  // namespace

json sample_data(const StoredResult& result, const std::vector<db::ContenderSamplesRow>& rounds, int round_limit) {
  json out = json::array();
  for (const Stage stage : {Stage::kFinal, Stage::kConfirm}) {
    int last_round = 0, positions = 1;
    for (const db::ContenderSamplesRow& contender : rounds) {
      for (const Sample& sample : contender.samples) {
        if (sample.stage != stage) continue;
        last_round = std::max(last_round, sample.round);
        positions = std::max(positions, sample.position + 1);
      }
    }
    const int best = best_algorithm(rounds, stage);
    const int step = (last_round - 1) / std::max(round_limit, 1) + 1;
    for (const db::ContenderSamplesRow& contender : rounds) {
      const std::string name = name_of(contender.contender, result.answer, best);
      if (name.empty()) continue;
      Series series;
      for (const Sample& sample : contender.samples) {
        if (sample.stage == stage && (sample.round - 1) % step == 0)
          series.add(sample, (sample.round - 1) * positions + sample.position);
      }
      json data = series.data(name, stage, positions);
      if (!data.at("us").empty()) out.push_back(std::move(data));
    }
  }
  return out;
}

}  // namespace pgtune::tool
