// SPDX-License-Identifier: MIT
// Regression by gradient boosted trees over histograms: squared error, missing values, small and seeded. After LightGBM
// (Ke et al., NeurIPS 2017) and XGBoost (Chen and Guestrin, KDD 2016), reduced to what a few thousand rows need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace pgtune::search {

class ByteReader;
class ByteWriter;

inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Rows of features, one after another.
struct FeatureRows {
  std::size_t columns = 0;
  std::vector<float> values;  ///< kMissing if a row lacks the feature

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] const float* row(std::size_t index) const { return values.data() + index * columns; }
};

/// The training rows, with each column cut into at most 63 bins and one for missing values. Made once for all models
/// that are fitted to parts of it.
class BinnedRows {
 public:
  static constexpr std::size_t kBins = 64;  ///< 0 is for missing values

  explicit BinnedRows(const FeatureRows& rows);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Columns with more than one value; others cannot split.
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }
  /// Bins of a row's columns().
  [[nodiscard]] const std::uint8_t* row(std::size_t index) const { return bins_.data() + index * columns_.size(); }
  /// The feature behind `column` of columns().
  [[nodiscard]] std::size_t feature(std::size_t column) const { return columns_[column].feature; }
  /// The upper end of each bin from 1 on, inclusive.
  [[nodiscard]] const std::vector<float>& edges(std::size_t column) const { return columns_[column].edges; }

 private:
  struct Column {
    std::size_t feature;
    std::vector<float> edges;
  };
  std::size_t rows_;
  std::vector<Column> columns_;
  std::vector<std::uint8_t> bins_;  ///< row by row
};

class BoostedTrees {
 public:
  struct Options {
    int trees = 300, depth = 4;
    double rate = 0.06, row_share = 0.8, column_share = 0.5;
    double least_rows = 5, regularization = 1;  ///< of a leaf
    std::uint64_t seed = 1;
  };

  /// Fits to the rows in `chosen`, fewer than 2^24; without rows the model predicts 0. `targets` has one value for each
  /// row of `rows`.
  [[nodiscard]] static BoostedTrees fit(const BinnedRows& rows, std::span<const double> targets,
                                        std::span<const std::uint32_t> chosen, const Options& options);
  /// Fits to all rows.
  [[nodiscard]] static BoostedTrees fit(const FeatureRows& rows, std::span<const double> targets,
                                        const Options& options);
  [[nodiscard]] static BoostedTrees fit(const FeatureRows& rows, std::span<const double> targets) {
    return fit(rows, targets, Options());
  }

  /// `row` must have the columns of the fit.
  [[nodiscard]] double predict(const float* row) const;

  void write(ByteWriter& out) const;
  /// Trees over `columns` columns; nothing if the bytes are not valid trees.
  [[nodiscard]] static std::optional<BoostedTrees> read(ByteReader& in, std::size_t columns);

  struct Node {
    std::uint32_t column = 0;
    float threshold = 0;      ///< values up to this, or missing: the first child
    std::int32_t first = -1;  ///< index of the first child, the second follows it; -1: a leaf
    float value = 0;          ///< of a leaf
  };

 private:
  /// The contribution of the tree at `root` to a row's prediction.
  [[nodiscard]] double leaf(std::int32_t root, const float* row) const;

  double base_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> roots_;
};

}  // namespace pgtune::search
