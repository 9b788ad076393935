// SPDX-License-Identifier: MIT
// What is expected of variants before any of them is measured, by what was measured on other problems.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

/// DescribedVariants::offsets of all of a template's variants by their costs.
[[nodiscard]] std::vector<double> cost_offsets(const std::vector<std::optional<double>>& costs);

struct Experience {
  DescribedVariants variants;
  std::vector<double> log_times;  ///< over the problem's best, at most kMostLog, which failures have too
  std::string problem;            ///< what is the same in experiences that say much the same
  std::string hardware;           ///< DeviceClass::hardware()
  std::string template_name;      ///< whose variants they are: whether a template was seen is asked, no feature
  std::size_t table = 0;          ///< what is the same in experiences whose times are over the same best
};

/// What is expected of each variant of a space.
struct Expectation {
  std::vector<double> log_times;  ///< over the problem's best; only their differences matter
  double deviation = 0;           ///< how far they are off on problems they were not fitted to
  bool of_templates = true;       ///< they were fitted to searches of all these templates: else they are a first guess
};

/// What says how far off a predictor is: problems that trees were not fitted to, each with all that was measured of it.
enum class Validation {
  kHoldout,   ///< every fifth problem, when the trees were fitted to the others: one fit beside the predictor's own
  kFiveFold,  ///< cross-validation, every problem once: five fits beside it, and no luck in which fifth it is
};

/// Boosted trees on what the offsets miss.
class Predictor {
 public:
  [[nodiscard]] std::vector<double> predict(const DescribedVariants& variants) const;
  /// The standard deviation of its errors on what its validation held out.
  [[nodiscard]] double deviation() const { return deviation_; }
  /// Whether it was fitted to something of these devices.
  [[nodiscard]] bool has_seen(const std::string& hardware) const;
  /// Whether it was fitted to something of this template.
  [[nodiscard]] bool has_seen_template(const std::string& name) const;
  [[nodiscard]] std::size_t problems() const { return problems_; }  ///< that it was fitted to
  /// What taking the variant expected to be the fastest loses against the best that was measured (0.01 is 1 % slower),
  /// on what its validation held out. Nothing where that is nothing.
  struct Loss {
    double median = 0, p90 = 0;
    std::size_t tables = 0;
  };
  [[nodiscard]] const Loss& loss() const { return loss_; }

  /// As bytes for a file, for machines of the same byte order.
  [[nodiscard]] std::string bytes() const;
  /// Nothing where these are not bytes(), or damaged: safe for any text.
  [[nodiscard]] static std::optional<Predictor> from_bytes(std::string_view bytes);

 private:
  friend class PredictorTrainer;
  std::vector<std::string> names_;  ///< of the trees' columns, sorted
  BoostedTrees trees_;
  double deviation_ = 0;
  std::set<std::string> seen_, seen_templates_;
  std::size_t problems_ = 0;
  Loss loss_;
};

/// Fits predictors to experiences or parts of them, which share the work.
class PredictorTrainer {
 public:
  explicit PredictorTrainer(const std::vector<Experience>& experiences);

  /// To those whose place in `chosen` is set. Of none: it predicts the offsets. For several threads at once.
  [[nodiscard]] Predictor fit(const std::vector<bool>& chosen, std::uint64_t seed,
                              Validation validation = Validation::kHoldout) const;
  [[nodiscard]] Predictor fit_all(std::uint64_t seed, Validation validation = Validation::kHoldout) const;

 private:
  struct Source {
    std::uint32_t first_row, end_row;
    std::string problem, hardware, template_name;
    std::size_t table;
    std::vector<double> offsets;
  };
  /// Sources, by their places, and the trees that were not fitted to them.
  struct Fold {
    std::vector<std::size_t> held_out;
    BoostedTrees without;
  };
  /// What trees are off by on what they were not fitted to, and what their choices lose there.
  void judge(const std::vector<Fold>& folds, Predictor& out) const;

  std::vector<std::string> names_;
  std::vector<Source> sources_;  ///< of each experience
  std::vector<double> targets_;
  FeatureRows features_;
  BinnedRows rows_;
};

}  // namespace pgtune::search
