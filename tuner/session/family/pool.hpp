// SPDX-License-Identifier: MIT
// The variants that may become kernels of a family, with what is known of each: its facts at any M, and measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/model/family.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/session/family/cover.hpp"
#include "tuner/session/family/measurements.hpp"
#include "tuner/space/variant_facts.hpp"

namespace pgtune::session {

/// What was measured tells of M within this factor.
constexpr std::int64_t kNear = 4;
constexpr bool are_near(std::int64_t m, std::int64_t other) { return m <= kNear * other && other <= kNear * m; }
/// Within a factor of 4/3, a settled sample tells a kernel's clock at the power cap. Samples from a factor of 5 away
/// tell hardly more than what is usual: the expectation is off by 3.6 % instead of 3.9 % (root of the mean square).
constexpr bool are_beside(std::int64_t m, std::int64_t other) { return 3 * m <= 4 * other && 3 * other <= 4 * m; }

class Pool {
 public:
  /// References must outlive it. `clocks`: SessionOptions::settled_clocks; null: nothing was learnt.
  Pool(const Family& family, const space::TemplateSet& templates, const DeviceInfo& device,
       std::shared_ptr<const search::Predictor> clocks)
      : family_(family), templates_(templates), device_(device), clocks_(std::move(clocks)) {}

  [[nodiscard]] std::size_t size() const { return variants_.size(); }
  [[nodiscard]] const Variant& variant(std::size_t index) const { return variants_[index]; }
  /// Its index; added if it is new.
  std::size_t add(const Variant& variant);
  /// It serves no M: it failed.
  void drop(const Variant& variant);
  /// Takes in what was measured at one M.
  void take(std::int64_t m, const MeasuredM& measured);

  [[nodiscard]] const space::VariantFacts& facts(std::size_t index, std::int64_t m);
  /// Whether it is legal at `m` and failed at no M: what is wrong for some rows is trusted with none.
  [[nodiscard]] bool may_serve(std::size_t index, std::int64_t m);
  [[nodiscard]] const Measured& measured(std::size_t index) const { return measured_[index]; }
  /// Where the power cap slows launches down: there seconds of a cycle differ from variant to variant.
  [[nodiscard]] bool is_capped(std::int64_t m) const;
  /// How a M is to be sampled: known at and above the smallest M at the cap, and up to the largest one below it.
  [[nodiscard]] std::optional<Sampling> sampling(std::int64_t m) const;
  /// Whether the variant was measured at a M within a factor of four.
  [[nodiscard]] bool is_measured_near(std::size_t index, std::int64_t m) const;
  /// kind_of(); at `m` it must be legal. Variants of one kind keep the same clock at the power cap: on an H200 theirs
  /// differ by 1.7 %, no more than two samples of one variant do, and those of all kinds by 4 %.
  [[nodiscard]] const std::string& kind(std::size_t index, std::int64_t m);
  /// Whether one of its kind was settled at the cap beside `m`.
  [[nodiscard]] bool is_settled(std::size_t index, std::int64_t m);

  /// space::sum_order(); empty where it has none.
  [[nodiscard]] std::string order(std::size_t index, std::int64_t m) const;

  /// Whether its time at `m` can be told: from near there, and not below what the best takes at a smaller M.
  [[nodiscard]] bool is_expected(std::size_t index, std::int64_t m);

  /// Seconds of a launch; nothing if the variant may not serve there or was measured nowhere.
  [[nodiscard]] std::optional<double> time_s(std::size_t index, std::int64_t m);

  /// A row for each build of each variant, and each order in which it adds.
  struct Rows {
    std::vector<std::size_t> variants;  ///< indices, beside the table
    std::vector<std::string> orders;    ///< space::sum_order(), beside the table
    TimeTable times;
  };
  /// At the last M of each class. Times of a variant of whose kind none was settled beside a class at the power cap are
  /// multiplied by 1.05 there: the expected clocks of many kinds are off by 4 %, and the fastest of many such times is
  /// told too fast.
  [[nodiscard]] Rows rows(const std::vector<std::int64_t>& tops);

 private:
  [[nodiscard]] std::map<std::int64_t, bool>::const_iterator first_capped() const;
  /// Of the best at any M up to `m` where many were measured; 0 if there is none.
  [[nodiscard]] double least_cycles(std::int64_t m) const;
  /// Seconds of a cycle at the power cap, in a launch that takes `cycles`. Precondition: is_capped(m).
  [[nodiscard]] double capped_seconds_of_cycle(std::size_t index, std::int64_t m, double cycles);
  /// How much longer the variant's cycles are expected to last at the power cap than the median candidate's.
  [[nodiscard]] double expected_slowness(std::size_t index, std::int64_t m);

  const Family& family_;
  const space::TemplateSet& templates_;
  const DeviceInfo& device_;
  std::shared_ptr<const search::Predictor> clocks_;
  std::vector<Variant> variants_;
  std::map<std::string, std::size_t> by_id_;
  std::set<std::size_t> failed_;  ///< indices
  std::vector<Measured> measured_;
  std::map<std::int64_t, std::vector<space::VariantFacts>> facts_;
  /// At M at the cap: seconds of a cycle that computes one row of D, as settled samples say; sum and number.
  std::map<std::int64_t, std::pair<double, int>> usual_;
  std::map<std::int64_t, bool> capped_;                   ///< whether a kernel was slowed down there
  std::map<std::int64_t, std::pair<double, int>> least_;  ///< cycles at M: the least, and of how many
  std::map<std::int64_t, std::vector<double>> slowness_;
  std::vector<std::string> kinds_;  ///< beside variants_; empty: not known yet
  /// By kind, of its settled samples: M, and seconds of a cycle that computes one row of D.
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> settled_;
  double highest_clock_hz_ = 0;
};

}  // namespace pgtune::session
