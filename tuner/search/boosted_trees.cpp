// SPDX-License-Identifier: MIT
#include "tuner/search/boosted_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tuner/search/random.hpp"
#include "tuner/search/shuffle.hpp"

namespace pgtune::search {
namespace {

constexpr std::size_t kBins = 64;  ///< 0 is for missing values

/// Features as numbers of bins, column by column.
struct Binned {
  std::vector<std::vector<float>> edges;  ///< of each column; bin i + 1 ends at edge i, which belongs to it
  std::vector<std::vector<std::uint8_t>> bins;

  explicit Binned(const FeatureRows& rows) : edges(rows.columns), bins(rows.columns) {
    for (std::size_t column = 0; column < rows.columns; ++column) {
      std::vector<float> known;
      for (std::size_t row = 0; row < rows.rows(); ++row) {
        if (const float value = rows.row(row)[column]; !std::isnan(value)) known.push_back(value);
      }
      edges[column] = edges_of(std::move(known));
      bins[column].resize(rows.rows());
      for (std::size_t row = 0; row < rows.rows(); ++row) bins[column][row] = bin(column, rows.row(row)[column]);
    }
  }

 private:
  /// Each different value its own bin where there are few, else about as many rows in each.
  static std::vector<float> edges_of(std::vector<float> known) {
    std::sort(known.begin(), known.end());
    std::vector<float> unique = known;
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    if (unique.size() < kBins) return unique;
    std::vector<float> out;
    for (std::size_t i = 1; i < kBins; ++i) out.push_back(known[i * (known.size() - 1) / (kBins - 1)]);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  [[nodiscard]] std::uint8_t bin(std::size_t column, float value) const {
    if (std::isnan(value) || edges[column].empty()) return 0;
    const auto edge = std::lower_bound(edges[column].begin(), edges[column].end() - 1, value);
    return static_cast<std::uint8_t>(edge - edges[column].begin() + 1);
  }
};

struct Sum {
  double gradient = 0, rows = 0;
};

struct Split {
  double gain = 0;
  std::size_t column = 0, bin = 0;
};

/// Grows a tree on what is left of the targets.
class TreeBuilder {
 public:
  TreeBuilder(const Binned& binned, const BoostedTrees::Options& options, std::span<const double> residuals,
              std::span<const std::size_t> columns, std::vector<BoostedTrees::Node>& nodes)
      : binned_(binned), options_(options), residuals_(residuals), columns_(columns), nodes_(nodes) {}

  /// The place of its root. Reorders `rows`, those it is grown on.
  std::size_t grow(std::span<std::size_t> rows) {
    const std::size_t root = nodes_.size();
    nodes_.emplace_back();
    grow_node(root, rows, options_.depth);
    return root;
  }

 private:
  void grow_node(std::size_t place, std::span<std::size_t> rows, int depth) {
    const Sum all = sum_of(rows);
    const Split split = depth > 0 ? best_split(rows, all) : Split{};
    if (split.gain <= 1e-12) {
      nodes_[place].value = static_cast<float>(options_.rate * all.gradient / (all.rows + options_.regularization));
      return;
    }
    const auto& bins = binned_.bins[split.column];
    const auto middle =
        std::stable_partition(rows.begin(), rows.end(), [&](std::size_t row) { return bins[row] <= split.bin; });
    const std::size_t first = nodes_.size();
    nodes_.resize(first + 2);
    BoostedTrees::Node& node = nodes_[place];
    node.column = static_cast<std::uint32_t>(split.column);
    node.threshold =
        split.bin == 0 ? -std::numeric_limits<float>::infinity() : binned_.edges[split.column][split.bin - 1];
    node.first = static_cast<std::int32_t>(first);
    const auto count = static_cast<std::size_t>(middle - rows.begin());
    grow_node(first, rows.first(count), depth - 1);
    grow_node(first + 1, rows.subspan(count), depth - 1);
  }

  [[nodiscard]] Sum sum_of(std::span<const std::size_t> rows) const {
    Sum out;
    for (const std::size_t row : rows) out.gradient += residuals_[row];
    out.rows = static_cast<double>(rows.size());
    return out;
  }

  [[nodiscard]] double score(const Sum& sum) const {
    return sum.gradient * sum.gradient / (sum.rows + options_.regularization);
  }

  [[nodiscard]] Split best_split(std::span<const std::size_t> rows, const Sum& all) const {
    Split best;
    for (const std::size_t column : columns_) {
      std::array<Sum, kBins + 1> sums{};
      const auto& bins = binned_.bins[column];
      for (const std::size_t row : rows) {
        sums[bins[row]].gradient += residuals_[row];
        sums[bins[row]].rows += 1;
      }
      Sum left;
      for (std::size_t bin = 0; bin < binned_.edges[column].size(); ++bin) {
        left.gradient += sums[bin].gradient;
        left.rows += sums[bin].rows;
        const Sum right{all.gradient - left.gradient, all.rows - left.rows};
        if (left.rows < options_.least_rows || right.rows < options_.least_rows) continue;
        const double gain = score(left) + score(right) - score(all);
        if (gain > best.gain) best = {gain, column, bin};
      }
    }
    return best;
  }

  const Binned& binned_;
  const BoostedTrees::Options& options_;
  std::span<const double> residuals_;
  std::span<const std::size_t> columns_;
  std::vector<BoostedTrees::Node>& nodes_;
};

}  // namespace

BoostedTrees BoostedTrees::fit(const FeatureRows& rows, std::span<const double> targets, const Options& options) {
  BoostedTrees out;
  if (targets.empty()) return out;
  out.base_ = std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(targets.size());
  const Binned binned(rows);
  std::vector<double> residuals(targets.begin(), targets.end());
  for (double& residual : residuals) residual -= out.base_;
  std::vector<std::size_t> usable;  // a column with one value splits nothing
  for (std::size_t column = 0; column < rows.columns; ++column) {
    const auto [least, most] = std::minmax_element(binned.bins[column].begin(), binned.bins[column].end());
    if (*least != *most) usable.push_back(column);
  }
  Random random(options.seed);
  const auto share_of = [&](std::size_t count, double share) {
    std::vector<std::size_t> picked = shuffled_indices(count, random.below(std::size_t{1} << 62));
    picked.resize(static_cast<std::size_t>(std::ceil(share * static_cast<double>(count))));
    std::sort(picked.begin(), picked.end());
    return picked;
  };
  for (int tree = 0; tree < options.trees; ++tree) {
    std::vector<std::size_t> columns = share_of(usable.size(), options.column_share);
    for (std::size_t& column : columns) column = usable[column];
    std::vector<std::size_t> grown_on = share_of(residuals.size(), options.row_share);
    out.roots_.push_back(
        static_cast<std::int32_t>(TreeBuilder(binned, options, residuals, columns, out.nodes_).grow(grown_on)));
    for (std::size_t row = 0; row < residuals.size(); ++row)
      residuals[row] -= out.leaf(out.roots_.back(), rows.row(row));
  }
  return out;
}

double BoostedTrees::leaf(std::int32_t root, const float* row) const {
  const Node* node = &nodes_[static_cast<std::size_t>(root)];
  while (node->first >= 0) {
    const float value = row[node->column];
    node = &nodes_[static_cast<std::size_t>(node->first) + (value > node->threshold ? 1 : 0)];  // NaN: false
  }
  return node->value;
}

double BoostedTrees::predict(const float* row) const {
  double sum = base_;
  for (const std::int32_t root : roots_) sum += leaf(root, row);
  return sum;
}

}  // namespace pgtune::search
