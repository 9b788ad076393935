// SPDX-License-Identifier: MIT
#include "tuner/search/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "tuner/search/byte_file.hpp"

namespace pgtune::search {
namespace {

constexpr std::size_t kFolds = 5;  ///< that problems are divided into

/// The index of each of `names` in the trees' columns; names that no experience has are left out.
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

Predictor::Loss loss_of(std::vector<double> losses) {
  if (losses.empty()) return {};
  std::sort(losses.begin(), losses.end());
  return {losses[losses.size() / 2], losses[losses.size() * 9 / 10], losses.size()};
}

/// Of the whole numbers in a problem's name.
std::vector<double> logarithms_in(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::vector<double> out;
  for (std::size_t at = 0; at < name.size();) {
    double number = 0;
    const std::size_t begin = at;
    for (; at < name.size() && is_digit(name[at]); ++at) number = 10 * number + (name[at] - '0');
    if (at > begin) out.push_back(std::log2(std::max(number, 1.0)));
    if (at == begin) ++at;
  }
  return out;
}

}  // namespace

std::vector<double> cost_offsets(const std::vector<std::optional<double>>& costs) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& cost : costs) least = std::min(least, cost.value_or(least));
  std::vector<double> out;
  for (const auto& cost : costs)
    out.push_back(cost ? std::min(kMostLog, std::log(std::max(*cost, 1.0) / std::max(least, 1.0))) : 0);
  return out;
}

PredictorTrainer::PredictorTrainer(const std::vector<Experience>& experiences)
    : names_(names_of(experiences)), features_(rows_of(experiences, names_)), rows_(features_) {
  for (const Experience& experience : experiences) {
    const auto first = static_cast<std::uint32_t>(targets_.size());
    for (std::size_t i = 0; i < experience.log_times.size(); ++i)
      targets_.push_back(experience.log_times[i] - experience.variants.offsets[i]);
    sources_.push_back({first, static_cast<std::uint32_t>(targets_.size()), experience.problem, experience.hardware,
                        experience.template_name, experience.table, experience.variants.offsets, experience.kind});
  }
}

Predictor PredictorTrainer::fit(const std::vector<bool>& chosen, std::uint64_t seed, Validation validation) const {
  Predictor out;
  out.names_ = names_;
  std::map<std::string, std::size_t> problems;
  std::vector<std::uint32_t> all;
  std::vector<Fold> folds(validation == Validation::kFiveFold ? kFolds : 1);
  std::vector<std::vector<std::uint32_t>> others(folds.size());  // rows outside each fold
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!chosen[i]) continue;
    const Source& source = sources_[i];
    out.seen_.insert(source.hardware);
    out.seen_templates_.insert(source.template_name);
    const std::size_t problem = problems.emplace(source.problem, problems.size()).first->second;
    for (std::uint32_t row = source.first_row; row < source.end_row; ++row) all.push_back(row);
    for (std::size_t fold = 0; fold < folds.size(); ++fold) {
      if (problem % kFolds == fold) {
        folds[fold].held_out.push_back(i);
      } else {
        others[fold].insert(others[fold].end(), all.end() - (source.end_row - source.first_row), all.end());
      }
    }
  }
  out.problems_ = problems.size();
  BoostedTrees::Options options;
  options.seed = seed;
  // In parallel, because a search waits for both before its first variant.
  std::vector<std::future<BoostedTrees>> without;
  for (const auto& rows : others) {
    without.push_back(
        std::async(std::launch::async, [&] { return BoostedTrees::fit(rows_, targets_, rows, options); }));
  }
  out.trees_ = BoostedTrees::fit(rows_, targets_, all, options);
  for (std::size_t fold = 0; fold < folds.size(); ++fold) folds[fold].without = without[fold].get();
  judge(folds, out);
  return out;
}

void PredictorTrainer::judge(const std::vector<Fold>& folds, Predictor& out) const {
  struct Choice {
    double expected = std::numeric_limits<double>::infinity(), log_time = 0;
    const Source* of = nullptr;
  };
  std::map<std::size_t, Choice> choices;  // by table
  double squares = 0;
  std::size_t rows = 0;
  for (const Fold& fold : folds) {
    for (const std::size_t i : fold.held_out) {
      const Source& source = sources_[i];
      Choice& choice = choices[source.table];
      for (std::uint32_t row = source.first_row; row < source.end_row; ++row, ++rows) {
        const double offset = source.offsets[row - source.first_row],
                     corrected = fold.without.predict(features_.row(row));
        squares += std::pow(targets_[row] - corrected, 2);
        if (offset + corrected < choice.expected) choice = {offset + corrected, offset + targets_[row], &source};
      }
    }
  }
  out.deviation_ = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(rows, 1)));
  std::vector<double> losses;
  for (const auto& [table, choice] : choices) {
    losses.push_back(std::expm1(choice.log_time));
    if (choice.of != nullptr) out.held_out_.push_back({choice.of->kind, choice.of->problem, losses.back()});
  }
  out.loss_ = loss_of(std::move(losses));
}

Predictor::Loss Predictor::loss_near(const std::string& kind, const std::string& problem) const {
  constexpr std::size_t kNearest = 16, kEnoughOfAKind = 8;
  const auto of_kind = [&](const HeldOut& held) { return held.kind == kind; };
  const bool enough = std::count_if(held_out_.begin(), held_out_.end(), of_kind) >= std::ptrdiff_t{kEnoughOfAKind};
  const std::vector<double> wanted = logarithms_in(problem);
  std::vector<std::pair<double, double>> near;  // distance and loss
  for (const HeldOut& held : held_out_) {
    const std::vector<double> other = logarithms_in(held.problem);
    if ((enough && !of_kind(held)) || other.size() != wanted.size()) continue;
    double squares = 0;
    for (std::size_t i = 0; i < other.size(); ++i) squares += std::pow(other[i] - wanted[i], 2);
    near.emplace_back(squares, held.loss);
  }
  if (near.empty()) return loss_;
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), kNearest));
  std::vector<double> losses;
  for (const auto& [distance, loss] : near) losses.push_back(loss);
  return loss_of(std::move(losses));
}

Predictor PredictorTrainer::fit_all(std::uint64_t seed, Validation validation) const {
  return fit(std::vector<bool>(sources_.size(), true), seed, validation);
}

bool Predictor::has_seen(const std::string& hardware) const { return seen_.contains(hardware); }

bool Predictor::has_seen_part(std::string_view part) const {
  return std::any_of(seen_.begin(), seen_.end(), [&](const std::string& one) { return one.find(part) != one.npos; });
}

bool Predictor::has_seen_template(const std::string& name) const { return seen_templates_.contains(name); }

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

constexpr std::string_view kMagic = "pgtune model 3\n";

}  // namespace

std::string Predictor::bytes() const {
  ByteWriter out;
  out.text(kMagic);
  out.number(deviation_);
  out.number(std::uint64_t{problems_});
  out.number(loss_.median);
  out.number(loss_.p90);
  out.number(std::uint64_t{loss_.tables});
  out.texts({seen_.begin(), seen_.end()});
  out.texts({seen_templates_.begin(), seen_templates_.end()});
  out.texts(names_);
  std::vector<std::string> kinds, problems;
  for (const HeldOut& held : held_out_) {
    kinds.push_back(held.kind);
    problems.push_back(held.problem);
  }
  out.texts(kinds);
  out.texts(problems);
  for (const HeldOut& held : held_out_) out.number(held.loss);
  trees_.write(out);
  return std::move(out).bytes();
}

std::optional<Predictor> Predictor::from_bytes(std::string_view bytes) {
  ByteReader in(bytes);
  Predictor out;
  std::uint64_t problems = 0, tables = 0;
  if (in.text() != kMagic) return std::nullopt;
  in.number(out.deviation_);
  in.number(problems);
  in.number(out.loss_.median);
  in.number(out.loss_.p90);
  in.number(tables);
  out.loss_.tables = static_cast<std::size_t>(tables);
  out.problems_ = static_cast<std::size_t>(problems);
  const std::vector<std::string> seen = in.texts();
  out.seen_.insert(seen.begin(), seen.end());
  const std::vector<std::string> templates = in.texts();
  out.seen_templates_.insert(templates.begin(), templates.end());
  out.names_ = in.texts();
  const std::vector<std::string> kinds = in.texts(), shapes = in.texts();
  if (kinds.size() != shapes.size()) return std::nullopt;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    double loss = 0;
    in.number(loss);
    if (!std::isfinite(loss)) return std::nullopt;
    out.held_out_.push_back({kinds[i], shapes[i], loss});
  }
  auto trees = BoostedTrees::read(in, out.names_.size());
  if (!trees || !in.at_end() || !std::is_sorted(out.names_.begin(), out.names_.end())) return std::nullopt;
  if (!std::isfinite(out.deviation_) || out.deviation_ < 0) return std::nullopt;
  out.trees_ = std::move(*trees);
  return out;
}

}  // namespace pgtune::search
