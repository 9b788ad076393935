// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/search/boosted_trees.hpp"

namespace pgtune::search {
namespace {

/// A bin for each distinct value if there are few, else bins of about equal row counts.
std::vector<float> edges_of(std::vector<float> known) {
  std::sort(known.begin(), known.end());
  std::vector<float> unique = known;
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  if (unique.size() < BinnedRows::kBins) return unique;
  std::vector<float> out;
  for (std::size_t i = 1; i < BinnedRows::kBins; ++i)
    out.push_back(known[i * (known.size() - 1) / (BinnedRows::kBins - 1)]);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The last edge is the largest value.
std::uint8_t bin_of(const std::vector<float>& edges, float value) {
  if (std::isnan(value)) return 0;
  return static_cast<std::uint8_t>(std::lower_bound(edges.begin(), edges.end(), value) - edges.begin() + 1);
}

}  // namespace

BinnedRows::BinnedRows(const FeatureRows& rows) : rows_(rows.rows()) {
  for (std::size_t feature = 0; feature < rows.columns; ++feature) {
    std::vector<float> known;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (const float value = rows.row(row)[feature]; !std::isnan(value)) known.push_back(value);
    }
    const bool misses = known.size() < rows_;
    std::vector<float> edges = edges_of(std::move(known));
    if (edges.size() + (misses ? 1 : 0) > 1) columns_.push_back({feature, std::move(edges)});
  }
  bins_.reserve(rows_ * columns_.size());
  for (std::size_t row = 0; row < rows_; ++row) {
    for (const Column& column : columns_) bins_.push_back(bin_of(column.edges, rows.row(row)[column.feature]));
  }
}

}  // namespace pgtune::search
