// SPDX-License-Identifier: MIT
// Regression by gradient boosted trees over histograms: squared error, missing values, small and seeded. After LightGBM
// (Ke et al., NeurIPS 2017) and XGBoost (Chen and Guestrin, KDD 2016), with what a few thousand rows need of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace pgtune::search {

inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Rows of features, one after another.
struct FeatureRows {
  std::size_t columns = 0;
  std::vector<float> values;  ///< kMissing where a row has no such feature

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] const float* row(std::size_t index) const { return values.data() + index * columns; }
};

class BoostedTrees {
 public:
  struct Options {
    int trees = 300, depth = 4;
    double rate = 0.06, row_share = 0.8, column_share = 0.5;
    double least_rows = 5, regularization = 1;  ///< of a leaf
    std::uint64_t seed = 1;
  };

  /// Of no rows: predicts 0. Precondition: a target for each row.
  [[nodiscard]] static BoostedTrees fit(const FeatureRows& rows, std::span<const double> targets,
                                        const Options& options);
  [[nodiscard]] static BoostedTrees fit(const FeatureRows& rows, std::span<const double> targets) {
    return fit(rows, targets, Options());
  }

  /// `row` has the columns it was fitted to.
  [[nodiscard]] double predict(const float* row) const;

  struct Node {
    std::uint32_t column = 0;
    float threshold = 0;      ///< at most that, or missing: the first child
    std::int32_t first = -1;  ///< place of the first child, the second lies behind it; -1: a leaf
    float value = 0;          ///< of a leaf
  };

 private:
  /// What the tree at `root` adds to a row's prediction.
  [[nodiscard]] double leaf(std::int32_t root, const float* row) const;

  double base_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> roots_;
};

}  // namespace pgtune::search
