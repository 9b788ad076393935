// SPDX-License-Identifier: MIT
// Predictions for variants before any of them is measured, from measurements on other problems.
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
  /// The cost's prediction: the logarithm of the variant's cost over the least, at most kMostLog; 0 if the template has
  /// no cost.
  std::vector<double> offsets;
};

/// Times are compared as logarithms of their ratio to the problem's best; four times as long is as bad as failing.
inline constexpr double kMostLog = 1.3862943611198906;

/// DescribedVariants::offsets of all of a template's variants from their costs.
[[nodiscard]] std::vector<double> cost_offsets(const std::vector<std::optional<double>>& costs);

struct Experience {
  DescribedVariants variants;
  std::vector<double> log_times;  ///< over the problem's best, at most kMostLog, which failures have too
  std::string problem;            ///< equal in experiences that are nearly redundant
  std::string hardware;           ///< DeviceClass::hardware()
  std::string template_name;      ///< whose variants they are: whether a template was seen is asked, no feature
  std::size_t table = 0;          ///< what is the same in experiences whose times are over the same best
  std::string kind = {};          ///< of problems whose losses are compared: what is computed in which types
};

/// Predictions for each variant of a space.
struct Expectation {
  std::vector<double> log_times;  ///< over the problem's best; only their differences matter
  double deviation = 0;           ///< standard deviation of the errors on problems not used for fitting
  bool of_templates = true;       ///< fitted to searches of all these templates; otherwise a first guess
};

/// How a predictor's error is estimated: on held-out problems, each with all its measurements.
enum class Validation {
  kHoldout,   ///< every fifth problem is held out: one fit in addition to the predictor's own
  kFiveFold,  ///< cross-validation, every problem once: five additional fits, without dependence on one split
};

/// Boosted trees on the offsets' errors.
class Predictor {
 public:
  [[nodiscard]] std::vector<double> predict(const DescribedVariants& variants) const;
  /// The standard deviation of its errors on held-out problems.
  [[nodiscard]] double deviation() const { return deviation_; }
  /// Whether it was fitted to experience of these devices.
  [[nodiscard]] bool has_seen(const std::string& hardware) const;
  /// Whether one's hardware contains `part`, such as ", sm_90, 132 SMs, ".
  [[nodiscard]] bool has_seen_part(std::string_view part) const;
  /// Whether it was fitted to experience of this template.
  [[nodiscard]] bool has_seen_template(const std::string& name) const;
  [[nodiscard]] std::size_t problems() const { return problems_; }  ///< of the fit
  /// The loss of the variant predicted fastest against the best measured (0.01 is 1 % slower), on held-out problems.
  /// Nothing if there were none.
  struct Loss {
    double median = 0, p90 = 0;
    std::size_t tables = 0;
  };
  [[nodiscard]] const Loss& loss() const { return loss_; }
  /// The same of the held out problems nearest to one: of its kind, as far as there are enough, and by the numbers in
  /// its name (Experience::problem), as logarithms.
  [[nodiscard]] Loss loss_near(const std::string& kind, const std::string& problem) const;

  /// As bytes for a file, for machines of the same byte order.
  [[nodiscard]] std::string bytes() const;
  /// Nothing if these are not bytes(), or damaged: safe for any text.
  [[nodiscard]] static std::optional<Predictor> from_bytes(std::string_view bytes);

 private:
  friend class PredictorTrainer;
  std::vector<std::string> names_;  ///< of the trees' columns, sorted
  BoostedTrees trees_;
  double deviation_ = 0;
  std::set<std::string> seen_, seen_templates_;
  std::size_t problems_ = 0;
  Loss loss_;
  /// Of each table that was held out.
  struct HeldOut {
    std::string kind, problem;
    double loss = 0;
  };
  std::vector<HeldOut> held_out_;
};

/// Fits predictors to experiences or parts of them, and shares work between fits.
class PredictorTrainer {
 public:
  explicit PredictorTrainer(const std::vector<Experience>& experiences);

  /// Fits to the experiences set in `chosen`; without any, the predictor returns the offsets. Thread-safe.
  [[nodiscard]] Predictor fit(const std::vector<bool>& chosen, std::uint64_t seed,
                              Validation validation = Validation::kHoldout) const;
  [[nodiscard]] Predictor fit_all(std::uint64_t seed, Validation validation = Validation::kHoldout) const;

 private:
  struct Source {
    std::uint32_t first_row, end_row;
    std::string problem, hardware, template_name;
    std::size_t table;
    std::vector<double> offsets;
    std::string kind;
  };
  /// Indices of held-out sources, and the trees that were fitted without them.
  struct Fold {
    std::vector<std::size_t> held_out;
    BoostedTrees without;
  };
  /// The trees' errors on held-out sources, and the losses of their choices there.
  void judge(const std::vector<Fold>& folds, Predictor& out) const;

  std::vector<std::string> names_;
  std::vector<Source> sources_;  ///< of each experience
  std::vector<double> targets_;
  FeatureRows features_;
  BinnedRows rows_;
};

}  // namespace pgtune::search
