// SPDX-License-Identifier: MIT
// What is expected comes first, by the templates' costs or by a model of other problems; then a Gaussian process learns
// what that misses here, and the variant with the greatest expected improvement is next.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/in_order.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/search/shuffle.hpp"
#include "tuner/search/strategies.hpp"

namespace pgtune::search {
namespace {

/// How alike variants are: by their parameters, each from 0 to 1, labels all equally far from each other.
class Likeness {
 public:
  explicit Likeness(const SearchSpace& space) {
    std::size_t begin = 0;
    for (const std::size_t size : space.template_sizes) {
      add_template(space.variants.subspan(begin, size));
      begin += size;
    }
  }

  [[nodiscard]] double distance(std::size_t a, std::size_t b) const {
    const std::vector<float>&one = places_[a], &other = places_[b];
    if (templates_[a] != templates_[b]) return std::sqrt(static_cast<double>(std::max(one.size(), other.size())));
    double squares = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double apart = one[i] - other[i];
      squares += is_label_[templates_[a]][i] ? (apart != 0 ? 1 : 0) : apart * apart;
    }
    return std::sqrt(squares);
  }

 private:
  void add_template(std::span<const Variant> variants) {
    const std::size_t parameters = variants.empty() ? 0 : variants.front().parameters.size();
    std::vector<std::set<ParameterValue>> values(parameters);
    for (const Variant& variant : variants) {
      for (std::size_t i = 0; i < parameters; ++i) values[i].insert(variant.parameters[i].value);
    }
    std::vector<bool> labels;
    for (const auto& own : values) labels.push_back(std::holds_alternative<std::string>(*own.begin()));
    for (const Variant& variant : variants) {
      std::vector<float> places;
      for (std::size_t i = 0; i < parameters; ++i) {
        const auto rank = std::distance(values[i].begin(), values[i].find(variant.parameters[i].value));
        places.push_back(static_cast<float>(rank) / static_cast<float>(std::max<std::size_t>(values[i].size() - 1, 1)));
      }
      places_.push_back(std::move(places));
      templates_.push_back(is_label_.size());
    }
    is_label_.push_back(std::move(labels));
  }

  std::vector<std::vector<float>> places_;
  std::vector<std::size_t> templates_;
  std::vector<std::vector<bool>> is_label_;  ///< of each template's parameters
};

class ModelStrategy final : public Strategy {
 public:
  /// `expected`: of each variant. Those that are expected alike come in the order of `order`.
  ModelStrategy(const SearchSpace& space, Expectation expected, std::vector<std::size_t> order)
      : likeness_(space), expected_(std::move(expected)), order_(std::move(order)), taken_(order_.size()) {
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return expected_.log_times[a] < expected_.log_times[b]; });
  }

  std::optional<std::size_t> next() override {
    if (learnt_ && observed_.size() >= kLeastObserved) rank();
    const auto index = first_of(ranking_) ? first_of(ranking_) : first_of(order_);
    if (!index) return std::nullopt;
    taken_[*index] = true;
    open_.push_back(*index);
    return index;
  }

  void report(std::size_t index, const Observation& observation) override {
    std::erase(open_, index);
    if (observation.outcome == OutcomeKind::kNotRecorded) return;
    learnt_ = true;
    if (observation.outcome != OutcomeKind::kOk) {
      failed_.push_back(index);
      return;
    }
    const std::pair own{std::log(observation.time_s), index};
    observed_.insert(std::upper_bound(observed_.begin(), observed_.end(), own), own);
  }

 private:
  static constexpr std::size_t kLeastObserved = 2;
  /// Exact Gaussian processes take the cube of it; beyond that the slowest are left out.
  static constexpr std::size_t kMostObserved = 160;
  /// Of large spaces, the most promising by what is expected.
  static constexpr std::size_t kMostRanked = 8192;
  static constexpr double kFailure = 0.4;    ///< above the fastest, as logarithm, where a variant failed
  static constexpr double kPriorWeight = 8;  ///< of the deviation expected, in observations
  static constexpr std::size_t kMostFailed = 32;

  [[nodiscard]] std::optional<std::size_t> first_of(const std::vector<std::size_t>& order) const {
    const auto found = std::find_if(order.begin(), order.end(), [this](std::size_t index) { return !taken_[index]; });
    if (found == order.end()) return std::nullopt;
    return *found;
  }

  [[nodiscard]] std::vector<double> distances(const std::vector<std::size_t>& points) const {
    std::vector<double> out;
    for (const std::size_t a : points) {
      for (const std::size_t b : points) out.push_back(likeness_.distance(a, b));
    }
    return out;
  }

  /// The process with the likeliest length and noise; its variance keeps near what was expected while little is known.
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

  /// Orders what is not taken by expected improvement.
  void rank() {
    learnt_ = false;
    std::vector<std::size_t> points;
    std::vector<double> values;  // what the expectation misses
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
    const auto from = [&](std::size_t index) {
      std::vector<double> out;
      for (const std::size_t point : points) out.push_back(likeness_.distance(index, point));
      return out;
    };
    if (!open_.empty()) {  // open ones count as measured, with what is predicted of them
      const GaussianProcess without(distances(points), values, shape_);
      std::vector<double> predicted;
      for (const std::size_t index : open_) predicted.push_back(without.predict(from(index)).mean);
      points.insert(points.end(), open_.begin(), open_.end());
      values.insert(values.end(), predicted.begin(), predicted.end());
    }
    const GaussianProcess process(distances(points), values, shape_);
    struct Ranked {
      double improvement, mean;
      std::size_t index;
    };
    std::vector<Ranked> ranked;
    for (const std::size_t index : order_) {
      if (taken_[index]) continue;
      const GaussianProcess::Prediction missed = process.predict(from(index));
      const double mean = expected_.log_times[index] + middle + missed.mean;
      ranked.push_back({expected_improvement(best, mean, std::sqrt(missed.variance)), mean, index});
      if (ranked.size() == kMostRanked) break;
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return a.improvement != b.improvement ? a.improvement > b.improvement : a.mean < b.mean;
    });
    ranking_.clear();
    for (const Ranked& own : ranked) ranking_.push_back(own.index);
  }

  Likeness likeness_;
  Expectation expected_;
  std::vector<std::size_t> order_, ranking_, open_, failed_;
  std::vector<bool> taken_;
  std::vector<std::pair<double, std::size_t>> observed_;  ///< logarithm of the time, and who; the fastest first
  GaussianProcess::Shape shape_;
  std::size_t shaped_by_ = 0;  ///< by so many points
  bool learnt_ = false;        ///< since the last ranking
};

/// Where nothing was learnt elsewhere: what the templates' costs say.
Result<Expectation> expected_by_costs(const SearchSpace& space) {
  constexpr double kDeviation = 0.5;  // of times over a space, roughly
  const auto costs = space.costs();
  if (!costs) return tl::unexpected<Error>(costs.error());
  Expectation out{{}, kDeviation};
  std::size_t begin = 0;
  for (const std::size_t size : space.template_sizes) {
    const auto own = cost_offsets({costs->begin() + static_cast<std::ptrdiff_t>(begin),
                                   costs->begin() + static_cast<std::ptrdiff_t>(begin + size)});
    out.log_times.insert(out.log_times.end(), own.begin(), own.end());
    begin += size;
  }
  return out;
}

Result<std::unique_ptr<Strategy>> make_model(const SearchSpace& space, std::uint64_t seed) {
  auto expected = space.expectation ? space.expectation() : expected_by_costs(space);
  if (!expected) return tl::unexpected<Error>(std::move(expected.error()));
  return std::make_unique<InOrder>(
      std::make_unique<ModelStrategy>(space, std::move(*expected), shuffled_indices(space.variants.size(), seed)));
}

}  // namespace

StrategyInfo model_strategy() {
  return {"model",
          "by trees trained on other problems and the templates' costs; a Gaussian process learns what they miss",
          make_model, true};
}

}  // namespace pgtune::search
