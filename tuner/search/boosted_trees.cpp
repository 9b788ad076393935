// SPDX-License-Identifier: MIT
#include "tuner/search/boosted_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "tuner/search/byte_file.hpp"
#include "tuner/search/shuffle.hpp"

namespace pgtune::search {
namespace {

constexpr std::size_t kBins = BinnedRows::kBins;

/// The sum of gradients and the number of rows in one word: the number in the low 24 bits, above it the gradient as an
/// integer number of units. A row thus costs one addition per column, and a node's sums are exactly its parent's minus
/// its sibling's.
using Packed = std::int64_t;
constexpr int kCountBits = 24;

Packed pack(std::int64_t units) { return units * (Packed{1} << kCountBits) + 1; }
std::int64_t count_of(Packed sum) { return sum & ((Packed{1} << kCountBits) - 1); }
std::int64_t units_of(Packed sum) { return (sum - count_of(sum)) >> kCountBits; }

/// Units per 1 of gradient such that the sum of `rows` gradients of at most `most` fits.
double scale_of(double most, std::size_t rows) {
  constexpr int kSumBits = 62 - kCountBits;
  return std::ldexp(1.0, kSumBits - std::ilogb(std::max(most * static_cast<double>(rows), 1e-30)) - 1);
}

struct Split {
  double gain = 0;
  std::size_t column = 0, bin = 0;
};

/// Grows one tree after another on the residuals of the targets.
class TreeBuilder {
 public:
  using Rows = std::span<std::uint32_t>;  ///< places in the residuals

  TreeBuilder(const BinnedRows& binned, std::span<const std::uint32_t> chosen, const BoostedTrees::Options& options,
              std::vector<BoostedTrees::Node>& nodes)
      : binned_(binned), chosen_(chosen), options_(options), nodes_(nodes), packed_(chosen.size()) {
    histograms_.resize(2 * static_cast<std::size_t>(std::max(options.depth, 1)) + 1);
  }

  /// Returns the index of the tree's root. Grows it on `rows`, which it reorders, and subtracts it from all residuals.
  std::size_t grow(Rows rows, std::span<const std::size_t> columns, std::span<double> residuals) {
    double most = 0;
    for (const double residual : residuals) most = std::max(most, std::abs(residual));
    const double scale = scale_of(most, residuals.size());
    unit_ = 1 / scale;
    for (const std::uint32_t row : rows) packed_[row] = pack(std::llround(residuals[row] * scale));
    columns_ = columns;
    bins_.resize(nodes_.size());
    const std::size_t root = add_node();
    Packed all = 0;
    for (const std::uint32_t row : rows) all += packed_[row];
    if (options_.depth > 0) fill(rows, histograms_.front());
    grow_node(root, rows, all, 0, options_.depth);
    for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= leaf_of(root, binned_.row(chosen_[i]));
    return root;
  }

 private:
  using Histogram = std::vector<Packed>;  ///< all bins of each of columns_

  /// Each node's split in bins, parallel to nodes_.
  struct BinSplit {
    std::uint32_t column = 0;
    std::uint8_t bin = 0;
  };

  std::size_t add_node() {
    nodes_.emplace_back();
    bins_.emplace_back();
    return nodes_.size() - 1;
  }

  /// Precondition: histograms_[place] has the sums over `rows`, unless the depth is used up.
  void grow_node(std::size_t node, Rows rows, Packed all, std::size_t place, int depth) {
    const Split split = depth > 0 ? best_split(histograms_[place], all) : Split{};
    if (split.gain <= 1e-12) {
      const double gradient = static_cast<double>(units_of(all)) * unit_;
      nodes_[node].value =
          static_cast<float>(options_.rate * gradient / (static_cast<double>(count_of(all)) + options_.regularization));
      return;
    }
    const auto middle = std::stable_partition(rows.begin(), rows.end(), [&](std::uint32_t row) {
      return binned_.row(chosen_[row])[split.column] <= split.bin;
    });
    const std::size_t first = add_node();
    add_node();
    nodes_[node].column = static_cast<std::uint32_t>(binned_.feature(split.column));
    nodes_[node].threshold =
        split.bin == 0 ? -std::numeric_limits<float>::infinity() : binned_.edges(split.column)[split.bin - 1];
    nodes_[node].first = static_cast<std::int32_t>(first);
    bins_[node] = {static_cast<std::uint32_t>(split.column), static_cast<std::uint8_t>(split.bin)};
    const auto count = static_cast<std::size_t>(middle - rows.begin());
    const Rows left = rows.first(count), right = rows.subspan(count);
    Packed left_all = 0;
    for (const std::uint32_t row : left) left_all += packed_[row];
    // The smaller child's rows are summed; the larger child's sums are the node's minus these.
    const bool left_is_smaller = left.size() < right.size();
    const std::size_t smaller = 2 * static_cast<std::size_t>(options_.depth - depth) + 1, larger = smaller + 1;
    if (depth > 1) {
      fill(left_is_smaller ? left : right, histograms_[smaller]);
      histograms_[larger].resize(histograms_[place].size());
      for (std::size_t i = 0; i < histograms_[place].size(); ++i)
        histograms_[larger][i] = histograms_[place][i] - histograms_[smaller][i];
    }
    grow_node(first, left, left_all, left_is_smaller ? smaller : larger, depth - 1);
    grow_node(first + 1, right, all - left_all, left_is_smaller ? larger : smaller, depth - 1);
  }

  void fill(std::span<const std::uint32_t> rows, Histogram& out) const {
    out.assign(columns_.size() * kBins, 0);
    for (const std::uint32_t row : rows) {
      const std::uint8_t* const bins = binned_.row(chosen_[row]);
      const Packed own = packed_[row];
      Packed* histogram = out.data();
      for (const std::size_t column : columns_) {
        histogram[bins[column]] += own;
        histogram += kBins;
      }
    }
  }

  [[nodiscard]] double score(double units, double rows) const {
    return units * units / (rows + options_.regularization);
  }

  [[nodiscard]] Split best_split(const Histogram& histogram, Packed all) const {
    Split best;
    const auto all_units = static_cast<double>(units_of(all)), all_rows = static_cast<double>(count_of(all));
    const double whole = score(all_units, all_rows);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      Packed left = 0;
      for (std::size_t bin = 0; bin < binned_.edges(columns_[i]).size(); ++bin) {
        left += histogram[i * kBins + bin];
        const auto rows = static_cast<double>(count_of(left));
        if (rows < options_.least_rows) continue;
        if (all_rows - rows < options_.least_rows) break;
        const auto units = static_cast<double>(units_of(left));
        const double gain = (score(units, rows) + score(all_units - units, all_rows - rows) - whole) * unit_ * unit_;
        if (gain > best.gain) best = {gain, columns_[i], bin};
      }
    }
    return best;
  }

  [[nodiscard]] double leaf_of(std::size_t root, const std::uint8_t* row) const {
    std::size_t at = root;
    while (nodes_[at].first >= 0)
      at = static_cast<std::size_t>(nodes_[at].first) + (row[bins_[at].column] > bins_[at].bin ? 1 : 0);
    return nodes_[at].value;
  }

  const BinnedRows& binned_;
  std::span<const std::uint32_t> chosen_;
  const BoostedTrees::Options& options_;
  std::vector<BoostedTrees::Node>& nodes_;
  std::vector<BinSplit> bins_;  ///< of nodes_
  std::vector<Packed> packed_;  ///< of each place in the residuals
  double unit_ = 1;
  std::span<const std::size_t> columns_;
  std::vector<Histogram> histograms_;  ///< the root's, then two for each level below
};

}  // namespace

BoostedTrees BoostedTrees::fit(const BinnedRows& rows, std::span<const double> targets,
                               std::span<const std::uint32_t> chosen, const Options& options) {
  BoostedTrees out;
  if (chosen.empty()) return out;
  for (const std::uint32_t row : chosen) out.base_ += targets[row] / static_cast<double>(chosen.size());
  std::vector<double> residuals;
  for (const std::uint32_t row : chosen) residuals.push_back(targets[row] - out.base_);
  std::mt19937_64 random(options.seed);  // its output is fixed by the standard
  const auto share_of = [&](std::size_t count, double share) {
    const std::vector<std::size_t> shuffled = shuffled_indices(count, random() % (std::uint64_t{1} << 62));
    const auto size = static_cast<std::size_t>(std::ceil(share * static_cast<double>(count)));
    std::vector<bool> is_picked(count, false);
    for (std::size_t i = 0; i < size; ++i) is_picked[shuffled[i]] = true;
    std::vector<std::size_t> picked;
    picked.reserve(size);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_picked[i]) picked.push_back(i);
    }
    return picked;
  };
  TreeBuilder builder(rows, chosen, options, out.nodes_);
  for (int tree = 0; tree < options.trees; ++tree) {
    const std::vector<std::size_t> columns = share_of(rows.columns(), options.column_share);
    const std::vector<std::size_t> picked = share_of(residuals.size(), options.row_share);
    std::vector<std::uint32_t> grown_on(picked.begin(), picked.end());
    out.roots_.push_back(static_cast<std::int32_t>(builder.grow(grown_on, columns, residuals)));
  }
  return out;
}

BoostedTrees BoostedTrees::fit(const FeatureRows& rows, std::span<const double> targets, const Options& options) {
  std::vector<std::uint32_t> all(targets.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  return fit(BinnedRows(rows), targets, all, options);
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

void BoostedTrees::write(ByteWriter& out) const {
  out.number(base_);
  out.number(std::uint64_t{nodes_.size()});
  for (const Node& node : nodes_) {
    out.number(node.column);
    out.number(node.threshold);
    out.number(node.first);
    out.number(node.value);
  }
  out.number(std::uint64_t{roots_.size()});
  for (const std::int32_t root : roots_) out.number(root);
}

std::optional<BoostedTrees> BoostedTrees::read(ByteReader& in, std::size_t columns) {
  BoostedTrees out;
  in.number(out.base_);
  out.nodes_.resize(in.count(sizeof(Node)));
  const auto count = static_cast<std::int64_t>(out.nodes_.size());
  for (std::int64_t i = 0; i < count; ++i) {
    Node& node = out.nodes_[static_cast<std::size_t>(i)];
    in.number(node.column);
    in.number(node.threshold);
    in.number(node.first);
    in.number(node.value);
    // Children come after their parent, so every path ends.
    const bool is_split = node.column < columns && node.first > i && std::int64_t{node.first} + 1 < count;
    if (node.first != -1 && !is_split) return std::nullopt;
  }
  out.roots_.resize(in.count(sizeof(std::int32_t)));
  for (std::int32_t& root : out.roots_) {
    in.number(root);
    if (root < 0 || root >= count) return std::nullopt;
  }
  return out;
}

}  // namespace pgtune::search
