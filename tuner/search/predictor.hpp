// SPDX-License-Identifier: MIT
// What is expected of variants before any of them is measured, by what was measured on other problems.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/search/boosted_trees.hpp"

namespace pgtune::search {

/// Variants of one template on one problem.
struct DescribedVariants {
  std::vector<std::string> names;  ///< of the features
  FeatureRows features;
  /// What the template's cost expects: the logarithm of the variant's cost over the least, at most kMostLog; 0 where
  /// the template has none.
  std::vector<double> offsets;
};

/// Times are compared as logarithms of their ratio to the problem's best; four times as long is as bad as failing.
inline constexpr double kMostLog = 1.3862943611198906;

/// DescribedVariants::offsets of a variant; `least`: the least cost of the template's variants.
[[nodiscard]] double cost_offset(std::optional<double> cost, double least);

struct Experience {
  DescribedVariants variants;
  std::vector<double> log_times;  ///< over the problem's best, at most kMostLog, which failures have too
  std::string problem;            ///< what is the same in experiences that say much the same
};

/// What is expected of each variant of a space.
struct Expectation {
  std::vector<double> log_times;  ///< over the problem's best; only their differences matter
  double deviation = 0;           ///< how far they are off on problems they were not fitted to
};

/// Boosted trees on what the offsets miss.
class Predictor {
 public:
  /// Of nothing: predicts the offsets.
  [[nodiscard]] static Predictor fit(std::span<const Experience* const> experiences, std::uint64_t seed);

  [[nodiscard]] std::vector<double> predict(const DescribedVariants& variants) const;
  /// The standard deviation of its errors on every fifth problem when it was fitted to the others.
  [[nodiscard]] double deviation() const { return deviation_; }

 private:
  std::vector<std::string> names_;  ///< of the trees' columns, sorted
  BoostedTrees trees_;
  double deviation_ = 0;
};

}  // namespace pgtune::search
