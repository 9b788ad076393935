// SPDX-License-Identifier: MIT
// What is known about every variant of one search, from this session and from earlier ones.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/search/strategy.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {

using FailureExamples = std::map<OutcomeKind, std::vector<std::pair<std::string, std::string>>>;

class SearchState {
 public:
  explicit SearchState(space::VariantList list);

  [[nodiscard]] std::size_t size() const { return variants_.size(); }
  [[nodiscard]] const Variant& variant(std::size_t index) const { return variants_[index]; }
  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  [[nodiscard]] std::optional<std::size_t> find(const Variant& variant) const;
  /// How many variants each template has; they lie one template after another.
  [[nodiscard]] std::vector<std::size_t> template_sizes() const;

  /// Takes over trials of earlier sessions, by Variant::id().
  void resume(const std::map<std::string, StoredTrial>& trials);
  /// Forgets resumed times that are of launches in graphs where the others will be of launches one by one, or the other
  /// way round: either takes some percent longer than the same launch in the other way. What was cut is slower anyway.
  void forget_launched_otherwise(bool in_graphs);
  /// Notes what another board found right, by Variant::id(), fastest first: it is not decided here.
  void expect_right(const std::vector<std::string>& ids);
  [[nodiscard]] const std::vector<std::size_t>& right_elsewhere() const { return right_elsewhere_; }
  /// Notes a variant's outcome; a later one replaces an earlier one.
  void record(std::size_t index, BuildInfo build, TrialReport report);

  [[nodiscard]] bool decided(std::size_t index) const { return trials_[index].has_value(); }
  [[nodiscard]] std::size_t decided_count() const { return decided_count_; }
  [[nodiscard]] std::size_t resumed_count() const { return resumed_count_; }
  /// Precondition: decided(index).
  [[nodiscard]] const StoredTrial& trial(std::size_t index) const { return *trials_[index]; }
  [[nodiscard]] search::Observation observation(std::size_t index) const;

  /// Variants that are right and were screened to the end, fastest first (equal times: in the space's order). Includes
  /// variants that were cut by one that later proved wrong, if the present best would not cut them.
  [[nodiscard]] std::vector<std::size_t> ranked() const;
  /// Likewise with those that were cut in screening.
  [[nodiscard]] std::vector<std::size_t> right() const;
  /// Device time of the screening samples of this session's own trials.
  [[nodiscard]] double screen_time_s() const;
  /// Median per launch of the fastest; 0 while there is none.
  [[nodiscard]] double best_s() const { return best_ ? screening_s_[*best_] : 0; }
  /// Variants that were tried and failed.
  [[nodiscard]] std::int64_t failed_count() const;
  [[nodiscard]] std::int64_t cut_count() const;
  [[nodiscard]] CountsRecord counts() const;
  /// At most three for each kind, in the space's order; named by id where there are several templates.
  [[nodiscard]] FailureExamples failure_examples() const;

 private:
  [[nodiscard]] bool ranks(std::size_t index) const;
  [[nodiscard]] std::vector<std::size_t> by_screening(bool with_cut) const;
  [[nodiscard]] double all_screen_time_s() const;
  void find_best();
  void count_resumed();

  std::int64_t space_ = 0;
  std::vector<Variant> variants_;
  std::map<std::string, std::size_t> index_of_id_;
  std::vector<std::optional<StoredTrial>> trials_;
  std::vector<double> screening_s_;  ///< median per launch; 0 where undecided or failed
  std::vector<std::size_t> right_elsewhere_;
  std::size_t decided_count_ = 0, resumed_count_ = 0;
  double resumed_screen_s_ = 0;
  std::optional<std::size_t> best_;
};

/// Median per launch over samples; 0 without samples.
[[nodiscard]] double median_per_launch_s(const std::vector<Sample>& samples);

}  // namespace pgtune::session
