// SPDX-License-Identifier: MIT
// The variants that may become kernels of a family, with what is known of each: its facts at any M, and measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/model/family.hpp"
#include "tuner/session/family/cover.hpp"
#include "tuner/session/family/measurements.hpp"
#include "tuner/space/variant_facts.hpp"

namespace pgtune::session {

/// What was measured tells of M within this factor.
constexpr std::int64_t kNear = 4;
constexpr bool are_near(std::int64_t m, std::int64_t other) { return m <= kNear * other && other <= kNear * m; }
/// Within this factor, a settled sample tells something of a kind's clock at the power cap.
constexpr std::int64_t kBeside = 2;
constexpr bool are_beside(std::int64_t m, std::int64_t other) { return m <= kBeside * other && other <= kBeside * m; }

class Pool {
 public:
  /// References must outlive it.
  Pool(const Family& family, const space::TemplateSet& templates, const DeviceInfo& device)
      : family_(family), templates_(templates), device_(device) {}

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
  /// kind_of() at the first M at which it is asked, where the variant must be legal. At the power cap the clock of one
  /// variant tells that of another of its kind at the same M to 1.7 % (docs/results/settled-clocks.csv).
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
  /// At the last M of each class.
  [[nodiscard]] Rows rows(const std::vector<std::int64_t>& tops);

 private:
  [[nodiscard]] std::map<std::int64_t, bool>::const_iterator first_capped() const;
  /// Of the best at any M up to `m` where many were measured; 0 if there is none.
  [[nodiscard]] double least_cycles(std::int64_t m) const;
  /// In proportion to the energy of a launch: its operations, and what it copies into shared memory.
  [[nodiscard]] double work(std::size_t index, std::int64_t m);
  /// At the power cap the clock falls with the cube root of the work of a cycle: power grows with that work, the clock
  /// and the square of the voltage, which rises with the clock.
  [[nodiscard]] double slowed_by_work(std::size_t index, std::int64_t m, double cycles);
  /// Seconds of a cycle at the power cap, in a launch that takes `cycles`. Precondition: is_capped(m).
  [[nodiscard]] double capped_seconds_of_cycle(std::size_t index, std::int64_t m, double cycles);

  const Family& family_;
  const space::TemplateSet& templates_;
  const DeviceInfo& device_;
  std::vector<Variant> variants_;
  std::map<std::string, std::size_t> by_id_;
  std::set<std::size_t> failed_;  ///< indices
  std::vector<Measured> measured_;
  std::map<std::int64_t, std::vector<space::VariantFacts>> facts_;
  std::map<std::int64_t, std::vector<double>> work_;  ///< by M, beside variants_; 0: not known yet
  std::map<std::int64_t, double> usual_;  ///< at M at the cap: seconds of a cycle of unit work, the mean of samples
  std::map<std::int64_t, int> samples_;   ///< the number of those samples
  std::map<std::int64_t, bool> capped_;   ///< whether a kernel was slowed down there
  std::map<std::int64_t, std::pair<double, int>> least_;  ///< cycles at M: the least, and of how many
  std::vector<std::string> kinds_;                        ///< beside variants_; empty: not known yet
  /// By kind, of its settled samples: M, and seconds of a cycle of unit work.
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> settled_;
  double highest_clock_hz_ = 0;
};

}  // namespace pgtune::session
