// SPDX-License-Identifier: MIT
#include "tuner/search/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace pgtune::search {
namespace {

constexpr std::size_t kHeldOut = 5;  ///< one problem of so many is held out to see how far off the trees are

/// Where each of `names` lies in the trees' columns; those that no experience has are left out.
std::vector<std::size_t> columns_of(const std::vector<std::string>& names, const std::vector<std::string>& columns) {
  std::vector<std::size_t> out;
  for (const std::string& name : names) {
    const auto found = std::lower_bound(columns.begin(), columns.end(), name);
    const bool known = found != columns.end() && *found == name;
    out.push_back(known ? static_cast<std::size_t>(found - columns.begin()) : columns.size());
  }
  return out;
}

void take_row(const float* row, const std::vector<std::size_t>& places, float* out, std::size_t columns) {
  std::fill(out, out + columns, kMissing);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < columns) out[places[i]] = row[i];
  }
}

struct Rows {
  FeatureRows features;
  std::vector<double> targets;

  void add(const Experience& experience, const std::vector<std::string>& columns) {
    const auto places = columns_of(experience.variants.names, columns);
    for (std::size_t i = 0; i < experience.log_times.size(); ++i) {
      features.values.resize(features.values.size() + columns.size());
      take_row(experience.variants.features.row(i), places,
               features.values.data() + features.values.size() - columns.size(), columns.size());
      targets.push_back(experience.log_times[i] - experience.variants.offsets[i]);
    }
  }
};

double held_out_deviation(std::span<const Experience* const> experiences, const std::vector<std::string>& columns,
                          const BoostedTrees::Options& options) {
  std::map<std::string, std::size_t> problems;
  for (const Experience* experience : experiences) problems.emplace(experience->problem, problems.size());
  Rows fitted{{columns.size(), {}}, {}}, held{{columns.size(), {}}, {}};
  for (const Experience* experience : experiences)
    (problems.at(experience->problem) % kHeldOut == 0 ? held : fitted).add(*experience, columns);
  const BoostedTrees trees = BoostedTrees::fit(fitted.features, fitted.targets, options);
  double squares = 0;
  for (std::size_t i = 0; i < held.targets.size(); ++i)
    squares += std::pow(held.targets[i] - trees.predict(held.features.row(i)), 2);
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(held.targets.size(), 1)));
}

}  // namespace

double cost_offset(std::optional<double> cost, double least) {
  if (!cost) return 0;
  return std::min(kMostLog, std::log(std::max(*cost, 1.0) / std::max(least, 1.0)));
}

Predictor Predictor::fit(std::span<const Experience* const> experiences, std::uint64_t seed) {
  Predictor out;
  std::set<std::string> names;
  for (const Experience* experience : experiences)
    names.insert(experience->variants.names.begin(), experience->variants.names.end());
  out.names_.assign(names.begin(), names.end());
  Rows rows{{out.names_.size(), {}}, {}};
  for (const Experience* experience : experiences) rows.add(*experience, out.names_);
  BoostedTrees::Options options;
  options.seed = seed;
  out.deviation_ = held_out_deviation(experiences, out.names_, options);
  out.trees_ = BoostedTrees::fit(rows.features, rows.targets, options);
  return out;
}

std::vector<double> Predictor::predict(const DescribedVariants& variants) const {
  const auto places = columns_of(variants.names, names_);
  std::vector<float> row(names_.size());
  std::vector<double> out;
  for (std::size_t i = 0; i < variants.offsets.size(); ++i) {
    take_row(variants.features.row(i), places, row.data(), row.size());
    out.push_back(variants.offsets[i] + trees_.predict(row.data()));
  }
  return out;
}

}  // namespace pgtune::search
