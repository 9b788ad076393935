// SPDX-License-Identifier: MIT
// A family: GEMMs that differ in M alone, the kernels that cover a range of M, and the loss that was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

/// A variant, and the content of the template that it belongs to.
struct FamilyKernel {
  Variant variant;
  std::string template_hash;

  PGTUNE_FIELDS(variant, template_hash)
  friend bool operator==(const FamilyKernel&, const FamilyKernel&) = default;
};

/// Where the time of an interval comes from.
enum class FamilyBasis {
  kMeasured,   ///< the kernel was timed at a M of the interval
  kPredicted,  ///< timed at another M, and multiplied by the cost model's ratio
};
[[nodiscard]] EnumTable<FamilyBasis> enum_table(FamilyBasis basis);

/// The M after the interval before, up to last_m. Kernels are indices in Family::kernels.
struct FamilyInterval {
  std::int64_t last_m = 0;
  int kernel = 0;
  /// The fastest other kernel that runs at every M of the interval: for operands whose alignment does for it and not
  /// for the first one. Absent where there is none.
  std::optional<int> spare = {};
  double time_s = 0;  ///< of the kernel at last_m
  FamilyBasis basis = FamilyBasis::kPredicted;

  PGTUNE_FIELDS(last_m, kernel, spare, time_s, basis)
  friend bool operator==(const FamilyInterval&, const FamilyInterval&) = default;
};

/// A M that choosing the kernels did not use, measured afterwards: the family's kernel, the winner of a plain search of
/// that M, and the baseline, all in the same rounds.
struct FamilyProbe {
  std::int64_t m = 0;
  double family_s = 0, best_s = 0;
  double baseline_first_s = 0, baseline_best_s = 0;  ///< 0 where there is no baseline
  FamilyKernel best;                                 ///< the winner of the plain search

  PGTUNE_FIELDS(m, family_s, best_s, baseline_first_s, baseline_best_s, best)
  friend bool operator==(const FamilyProbe&, const FamilyProbe&) = default;
  /// What the family's kernel loses: 0.01 if it takes 1 % longer than the winner. Negative if it is faster.
  [[nodiscard]] double loss() const { return family_s / best_s - 1; }
};

struct FamilyLoss {
  double median = 0, largest = 0;

  PGTUNE_FIELDS(median, largest)
  friend bool operator==(const FamilyLoss&, const FamilyLoss&) = default;
  /// The share of M that may lose more than the largest of so many probes, at 95 % confidence: 1 - 0.05^(1/probes).
  /// Probes of different parts of the range promise no less than independent ones: their chances to miss such M have a
  /// product that is at most the power of the mean (by Maclaurin's inequality where parts have no probe).
  [[nodiscard]] static double unproven_share(std::size_t probes);
};

struct Family {
  Problem problem;           ///< the one with the largest M; the others differ from it in M alone
  std::int64_t first_m = 1;  ///< the smallest M
  /// The one order in which all kernels add the products of an element; empty if they may differ.
  std::string sum_order;
  Conditions conditions;
  std::vector<FamilyKernel> kernels;
  std::vector<FamilyInterval> intervals;  ///< ascending, the last up to last_m()
  std::vector<FamilyProbe> probes;        ///< ascending by m
  /// With one order: at how many M rows were compared on the GPU, and were those of the largest M bit for bit.
  std::int64_t compared_m = 0;

  PGTUNE_FIELDS(problem, first_m, (sum_order, kUnlessDefault), conditions, kernels, intervals, probes,
                (compared_m, kUnlessDefault))
  friend bool operator==(const Family&, const Family&) = default;

  [[nodiscard]] std::int64_t last_m() const { return problem.m; }
  /// The problem of one M.
  [[nodiscard]] Problem at(std::int64_t m) const;
  /// Whether the problem is one of the family's.
  [[nodiscard]] bool covers(const Problem& other) const;
  /// The interval of a M. Precondition: first_m <= m <= last_m().
  [[nodiscard]] const FamilyInterval& interval_of(std::int64_t m) const;
  /// Of the probes; nothing without any.
  [[nodiscard]] std::optional<FamilyLoss> loss() const;
  /// "1..8192x4096x14336", and with what a problem's title has beyond its shape.
  [[nodiscard]] std::string shape() const;
  [[nodiscard]] std::string title() const;
  /// Checks an untrusted record. Errors (database): no problem with a range of M, intervals that do not cover it one
  /// after the other, a kernel that is none of the family's, a probe outside the range, no time, or rows
  /// that cannot have been compared.
  [[nodiscard]] Result<void> validate() const;
};

}  // namespace pgtune
