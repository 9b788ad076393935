// SPDX-License-Identifier: MIT
// Predictions come first, from the templates' costs or from a model of other problems. A Gaussian process then learns
// their error on this problem, and the variant with the greatest expected improvement is next.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/in_order.hpp"
#include "tuner/search/judged.hpp"
#include "tuner/search/likeness.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/search/preset_turns.hpp"
#include "tuner/search/shuffle.hpp"
#include "tuner/search/strategies.hpp"

namespace pgtune::search {
namespace {

constexpr std::size_t kMostOpen = 16;  ///< proposals open at a time

/// How many proposals may be open, by how many were made before.
using MostOpen = std::size_t (*)(std::size_t made);

class ModelStrategy final : public Strategy {
 public:
  /// `expected`: a prediction for each variant; `order` breaks ties. `first`: tried before all others.
  ModelStrategy(const SearchSpace& space, Expectation expected, std::vector<std::size_t> order,
                const std::vector<std::size_t>& first, MostOpen most_open, PresetTurns turns)
      : likeness_(space),
        turns_(std::move(turns)),
        expected_(std::move(expected)),
        order_(std::move(order)),
        most_open_(most_open),
        taken_(order_.size()) {
    const auto less = [this](std::size_t a, std::size_t b) { return expected_.log_times[a] < expected_.log_times[b]; };
    std::stable_sort(order_.begin(), order_.end(), less);
    if (!order_.empty() && !less(order_.front(), order_.back())) spread();
    lead_with_each_template(space);
    lead_with(first);
    std::vector<std::size_t> ranked = order_;  // all of the presets, and the best of what they leave out
    std::stable_partition(ranked.begin(), ranked.end(), [this](std::size_t index) { return turns_.in_preset(index); });
    ranked.resize(std::min(ranked.size(), kMostRanked));
    candidates_ =
        Candidates(std::move(ranked), [this](std::size_t a, std::size_t b) { return likeness_.distance(a, b); });
  }

  std::optional<std::size_t> next() override {
    if (open_.size() >= most_open_(made_)) return std::nullopt;
    if (learnt_ && observed_.size() >= kLeastObserved) rank();
    const auto index = next_index();
    if (!index) return std::nullopt;
    turns_.propose();
    taken_[*index] = true;
    ++made_;
    open_.push_back(*index);
    return index;
  }

  void report(std::size_t index, const Observation& observation) override {
    std::erase(open_, index);
    learnt_ = true;
    if (observation.outcome != OutcomeKind::kOk) {
      failed_.push_back(index);
      return;
    }
    const std::pair own{std::log(observation.time_s), index};
    if (!observation.cut) turns_.report(index, own.first);
    observed_.insert(std::upper_bound(observed_.begin(), observed_.end(), own), own);
  }

 private:
  static constexpr std::size_t kLeastObserved = 2;
  /// Exact Gaussian processes take time cubic in this; beyond it the slowest are left out.
  static constexpr std::size_t kMostObserved = 160;
  /// In large spaces only the most promising by prediction are ranked.
  static constexpr std::size_t kMostRanked = 20000;
  /// No more are proposed before the next ranking.
  static constexpr std::size_t kMostExact = kMostOpen;
  static constexpr double kFailure = 0.4;    ///< of a failed variant, above the fastest, as logarithm
  static constexpr double kPriorWeight = 8;  ///< of the deviation expected, in observations
  static constexpr std::size_t kMostFailed = 32;
  static constexpr std::size_t kSpread = 8, kSpreadOf = 30;  ///< variants that are spread, and candidates for each

  /// The best remaining variant of the part whose turn it is, or of all.
  [[nodiscard]] std::optional<std::size_t> next_index() const {
    const bool presets_turn = turns_.is_presets_turn();
    for (const bool of_all : {false, true}) {
      for (const auto* order : {&ranking_, &order_}) {
        const auto found = std::find_if(order->begin(), order->end(), [&](std::size_t index) {
          return !taken_[index] && (of_all || turns_.in_preset(index) == presets_turn);
        });
        if (found != order->end()) return *found;
      }
    }
    return std::nullopt;
  }

  /// Moves the best of each template's preset to the front: the model predicts badly for a template that it has never
  /// seen win, and only trials correct that. A template without a preset here, while others have one, does not suit the
  /// problem and waits for its turn.
  void lead_with_each_template(const SearchSpace& space) {
    std::vector<std::size_t> ends(space.template_sizes.size());
    std::partial_sum(space.template_sizes.begin(), space.template_sizes.end(), ends.begin());
    std::vector<bool> led(ends.size());
    const auto in_preset = [this](std::size_t index) { return turns_.in_preset(index); };
    const bool none = std::none_of(order_.begin(), order_.end(), in_preset);
    auto place = order_.begin();
    for (auto at = order_.begin(); at != order_.end(); ++at) {
      if (!none && !in_preset(*at)) continue;
      const auto own = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), *at) - ends.begin());
      if (led[own]) continue;
      led[own] = true;
      std::rotate(place++, at, at + 1);
    }
  }

  void lead_with(const std::vector<std::size_t>& first) {
    auto place = order_.begin();
    for (const std::size_t index : first) {
      const auto at = std::find(place, order_.end(), index);
      if (at != order_.end()) std::rotate(place++, at, at + 1);
    }
  }

  /// Moves variants that are far from each other to the front of the order, each the farthest of a few candidates.
  void spread() {
    for (std::size_t place = 1; place < std::min(kSpread, order_.size()); ++place) {
      const auto nearest = [&](std::size_t index) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < place; ++i) least = std::min(least, likeness_.distance(order_[i], index));
        return least;
      };
      std::size_t farthest = place;
      double most = -1;
      for (std::size_t i = place; i < std::min(place + kSpreadOf, order_.size()); ++i) {
        if (const double own = nearest(order_[i]); own > most) {
          most = own;
          farthest = i;
        }
      }
      std::swap(order_[place], order_[farthest]);
    }
  }

  [[nodiscard]] std::vector<double> distances(const std::vector<std::size_t>& points) const {
    std::vector<double> out;
    for (const std::size_t a : points) {
      for (const std::size_t b : points) out.push_back(likeness_.distance(a, b));
    }
    return out;
  }

  /// The process with the likeliest length and noise. Its variance stays near the predicted one while there are few
  /// observations.
  [[nodiscard]] GaussianProcess::Shape likeliest_shape(std::span<const double> apart,
                                                       std::span<const double> values) const {
    GaussianProcess::Shape best;
    double most = -std::numeric_limits<double>::infinity();
    const auto n = static_cast<double>(values.size());
    const double known = expected_.deviation * expected_.deviation;
    for (const double length : {0.5, 1.0, 2.0, 4.0}) {
      for (const double noise : {0.02, 0.1, 0.5}) {
        const GaussianProcess process(apart, values, {1, length, noise});
        const double variance =
            std::max(1e-8, (n * process.likeliest_variance() + kPriorWeight * known) / (n + kPriorWeight));
        const double likelihood = process.log_likelihood(variance);
        if (likelihood > most) {
          most = likelihood;
          best = {variance, length, noise};
        }
      }
    }
    return best;
  }

  /// Orders the untried variants by expected improvement.
  void rank() {
    learnt_ = false;
    std::vector<std::size_t> points;
    std::vector<double> values;  // the prediction's error
    for (std::size_t i = 0; i < std::min(observed_.size(), kMostObserved); ++i) {
      points.push_back(observed_[i].second);
      values.push_back(observed_[i].first - expected_.log_times[points.back()]);
    }
    std::vector<double> sorted = values;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    const double middle = sorted[sorted.size() / 2];
    for (double& value : values) value -= middle;
    const double best = observed_.front().first;
    for (std::size_t i = failed_.size() - std::min(failed_.size(), kMostFailed); i < failed_.size(); ++i) {
      points.push_back(failed_[i]);
      values.push_back(std::max(0.0, best + kFailure - expected_.log_times[failed_[i]] - middle));
    }
    if (10 * points.size() > 11 * shaped_by_) {  // a tenth more
      shape_ = likeliest_shape(distances(points), values);
      shaped_by_ = points.size();
    }
    const auto from = [&](std::size_t index) -> GaussianProcess::DistanceTo {
      return [&, index](std::size_t i) { return likeness_.distance(index, points[i]); };
    };
    if (!open_.empty()) {  // open proposals count as measured, with their predicted values
      const GaussianProcess without(distances(points), values, shape_);
      std::vector<double> predicted;
      for (const std::size_t index : open_) predicted.push_back(without.mean(from(index)));
      points.insert(points.end(), open_.begin(), open_.end());
      values.insert(values.end(), predicted.begin(), predicted.end());
    }
    const GaussianProcess process(distances(points), values, shape_);
    struct Candidate {
      double improvement, mean;
      std::size_t index;
    };
    // A deviation takes time quadratic in the points, so it is computed only for candidates that may be among the best.
    // The nearest point alone gives an upper bound of deviation and improvement.
    std::vector<Candidate> candidates;
    const auto [missed, nearest] = candidates_.seen(points, process.weights(), shape_.length);
    for (std::size_t i = 0; i < missed.size(); ++i) {
      const std::size_t index = candidates_.indices()[i];
      if (taken_[index]) continue;
      const double mean = expected_.log_times[index] + middle + missed[i];
      const double unexplained = 1 - nearest[i] * nearest[i] / (1 + shape_.noise);
      candidates.push_back({expected_improvement(best, mean, std::sqrt(shape_.variance * unexplained)), mean, index});
    }
    const auto before = [](const Candidate& a, const Candidate& b) {
      return a.improvement != b.improvement ? a.improvement > b.improvement : a.mean < b.mean;
    };
    std::stable_sort(candidates.begin(), candidates.end(), before);
    ranking_.clear();
    for (const bool presets : {true, false}) {  // exactly, the best kMostExact of either
      std::vector<Candidate> ranked;
      for (Candidate candidate : candidates) {
        if (presets != turns_.in_preset(candidate.index)) continue;
        const double least = ranked.size() == kMostExact ? ranked.back().improvement : 0;
        if (candidate.improvement < least) break;
        const auto improvement = [&](double variance) {
          return expected_improvement(best, candidate.mean, std::sqrt(variance));
        };
        const auto variance =
            process.variance(from(candidate.index), [&](double bound) { return improvement(bound) >= least; });
        if (!variance) continue;
        candidate.improvement = improvement(*variance);
        ranked.insert(std::upper_bound(ranked.begin(), ranked.end(), candidate, before), candidate);
        if (ranked.size() > kMostExact) ranked.pop_back();
      }
      for (const Candidate& own : ranked) ranking_.push_back(own.index);
    }
  }

  Likeness likeness_;
  PresetTurns turns_;
  Expectation expected_;
  std::vector<std::size_t> order_, ranking_, open_, failed_;
  Candidates candidates_;  ///< the first of order_
  MostOpen most_open_;
  std::size_t made_ = 0;  ///< proposals
  std::vector<bool> taken_;
  std::vector<std::pair<double, std::size_t>> observed_;  ///< logarithm of the time, and the variant; the fastest first
  GaussianProcess::Shape shape_;
  std::size_t shaped_by_ = 0;  ///< number of points then
  bool learnt_ = false;        ///< since the last ranking
};

/// The predictions of the templates' costs, for use without a model of other problems.
Result<Expectation> expected_by_costs(const SearchSpace& space) {
  constexpr double kDeviation = 0.5;  // of times over a space, roughly
  TRY_ASSIGN(const auto costs, space.costs());
  Expectation out{{}, kDeviation};
  std::size_t begin = 0;
  for (const std::size_t size : space.template_sizes) {
    const auto own = cost_offsets({costs.begin() + static_cast<std::ptrdiff_t>(begin),
                                   costs.begin() + static_cast<std::ptrdiff_t>(begin + size)});
    out.log_times.insert(out.log_times.end(), own.begin(), own.end());
    begin += size;
  }
  return out;
}

/// Depends on the number of proposals alone, so that a search repeats itself whatever its builds and trials take. Eight
/// builds of large kernels at a time are fewer than a GPU can try.
std::size_t most_open_taught(std::size_t made) { return std::min(kMostOpen, InOrder::kOpen + made / 4); }

/// Without a model of other problems the first reports change most, so few variants are built ahead of them.
std::size_t most_open_untaught(std::size_t made) { return std::min(InOrder::kOpen, 2 + made / 8); }

Result<std::unique_ptr<Strategy>> make_model(const SearchSpace& space, std::uint64_t seed) {
  TRY_ASSIGN(auto expected, space.expectation ? space.expectation() : expected_by_costs(space));
  // Costs have no known deviation, and a model of other templates has none for these, so the author's choices are tried
  // first.
  const bool knows = space.expectation && expected.of_templates;
  TRY_ASSIGN(auto in_preset, space.in_preset ? space.in_preset() : std::vector<bool>());
  auto in_order =
      std::make_unique<InOrder>(std::make_unique<ModelStrategy>(
                                    space, expected, shuffled_indices(space.variants.size(), seed),
                                    knows ? std::vector<std::size_t>() : space.tried_first,
                                    space.expectation ? most_open_taught : most_open_untaught, PresetTurns(in_preset)),
                                kMostOpen);
  if (!knows && in_preset.empty()) return in_order;
  return std::make_unique<Judged>(std::move(in_order), std::move(expected), knows, std::move(in_preset));
}

}  // namespace

StrategyInfo model_strategy() {
  return {"model",
          "by trees trained on other problems and the templates' costs; a Gaussian process learns what they miss",
          make_model, true};
}

}  // namespace pgtune::search
