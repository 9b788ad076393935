// SPDX-License-Identifier: MIT
#include "tuner/search/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tuner/search/byte_file.hpp"

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

std::vector<std::string> names_of(const std::vector<Experience>& experiences) {
  std::set<std::string> names;
  for (const Experience& experience : experiences)
    names.insert(experience.variants.names.begin(), experience.variants.names.end());
  return {names.begin(), names.end()};
}

FeatureRows rows_of(const std::vector<Experience>& experiences, const std::vector<std::string>& columns) {
  FeatureRows out{columns.size(), {}};
  for (const Experience& experience : experiences) {
    const auto places = columns_of(experience.variants.names, columns);
    for (std::size_t i = 0; i < experience.log_times.size(); ++i) {
      out.values.resize(out.values.size() + columns.size());
      take_row(experience.variants.features.row(i), places, out.values.data() + out.values.size() - columns.size(),
               columns.size());
    }
  }
  return out;
}

}  // namespace

double cost_offset(std::optional<double> cost, double least) {
  if (!cost) return 0;
  return std::min(kMostLog, std::log(std::max(*cost, 1.0) / std::max(least, 1.0)));
}

PredictorTrainer::PredictorTrainer(const std::vector<Experience>& experiences)
    : names_(names_of(experiences)), features_(rows_of(experiences, names_)), rows_(features_) {
  for (const Experience& experience : experiences) {
    const auto first = static_cast<std::uint32_t>(targets_.size());
    for (std::size_t i = 0; i < experience.log_times.size(); ++i)
      targets_.push_back(experience.log_times[i] - experience.variants.offsets[i]);
    sources_.push_back({first, static_cast<std::uint32_t>(targets_.size()), experience.problem, experience.hardware});
  }
}

Predictor PredictorTrainer::fit(const std::vector<bool>& chosen, std::uint64_t seed) const {
  Predictor out;
  out.names_ = names_;
  std::map<std::string, std::size_t> problems;
  std::vector<std::uint32_t> all, most, held_out;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!chosen[i]) continue;
    const Source& source = sources_[i];
    out.seen_.insert(source.hardware);
    const std::size_t problem = problems.emplace(source.problem, problems.size()).first->second;
    for (std::uint32_t row = source.first_row; row < source.end_row; ++row) {
      all.push_back(row);
      (problem % kHeldOut == 0 ? held_out : most).push_back(row);
    }
  }
  out.problems_ = problems.size();
  BoostedTrees::Options options;
  options.seed = seed;
  const BoostedTrees without = BoostedTrees::fit(rows_, targets_, most, options);
  double squares = 0;
  for (const std::uint32_t row : held_out) squares += std::pow(targets_[row] - without.predict(features_.row(row)), 2);
  out.deviation_ = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(held_out.size(), 1)));
  out.trees_ = BoostedTrees::fit(rows_, targets_, all, options);
  return out;
}

Predictor PredictorTrainer::fit_all(std::uint64_t seed) const {
  return fit(std::vector<bool>(sources_.size(), true), seed);
}

bool Predictor::has_seen(const std::string& hardware) const { return seen_.contains(hardware); }

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

namespace {

constexpr std::string_view kMagic = "pgtune model 1\n";

}  // namespace

std::string Predictor::bytes() const {
  ByteWriter out;
  out.text(kMagic);
  out.number(deviation_);
  out.number(std::uint64_t{problems_});
  out.texts({seen_.begin(), seen_.end()});
  out.texts(names_);
  trees_.write(out);
  return std::move(out).bytes();
}

std::optional<Predictor> Predictor::from_bytes(std::string_view bytes) {
  ByteReader in(bytes);
  Predictor out;
  std::uint64_t problems = 0;
  if (in.text() != kMagic) return std::nullopt;
  in.number(out.deviation_);
  in.number(problems);
  out.problems_ = static_cast<std::size_t>(problems);
  const std::vector<std::string> seen = in.texts();
  out.seen_.insert(seen.begin(), seen.end());
  out.names_ = in.texts();
  auto trees = BoostedTrees::read(in, out.names_.size());
  if (!trees || !in.at_end() || !std::is_sorted(out.names_.begin(), out.names_.end())) return std::nullopt;
  if (!std::isfinite(out.deviation_) || out.deviation_ < 0) return std::nullopt;
  out.trees_ = std::move(*trees);
  return out;
}

}  // namespace pgtune::search
