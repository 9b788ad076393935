// SPDX-License-Identifier: MIT
// A GEMM among the tuned ones.
#pragma once

#include "exported/dispatch.hpp"
#include "exported/gemm_facts.hpp"

namespace pgtune_export::detail {

/// Same types, layout and epilogue, and both read C or neither does. `Known` is an Entry or a Family.
template <typename Known>
bool same_kind(const Known& e, const Problem& p, const Operands& o) noexcept {
  return e.problem.type == p.type && e.problem.out == out_of(p) && e.problem.layout == p.layout &&
         e.problem.epilogue.bias == p.epilogue.bias && e.problem.epilogue.activation == p.epilogue.activation &&
         e.adds_c == (o.beta != 0);
}

/// Whether both are the same but for m. Precondition: same_kind(), and `p` is complete().
inline bool same_but_for_m(const Problem& t, const Problem& p) noexcept {
  const bool packed =
      p.batch == 1 || (p.stride_a == rows_a(p) * p.lda && p.stride_b == rows_b(p) * p.ldb && p.stride_c == p.m * p.ldc);
  return t.n == p.n && t.k == p.k && t.batch == p.batch && t.lda == p.lda && t.ldb == p.ldb && t.ldc == p.ldc && packed;
}

/// The interval of an m of the family's.
inline const Interval& interval_of(const Family& family, Int m) noexcept {
  int first = 0, last = family.interval_count - 1;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (family.intervals[middle].last_m < m) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return family.intervals[first];
}

/// The kind of the variants that were compiled for such a problem; -1: none was.
inline int kind_of(const Problem& p) noexcept {
  for (int i = 0; i < kGemmKindCount; ++i) {
    const GemmKind& kind = kGemmKinds[i];
    if (kind.type == p.type && kind.out == out_of(p) && kind.epilogue.bias == p.epilogue.bias &&
        kind.epilogue.activation == p.epilogue.activation)
      return i;
  }
  return -1;
}

/// Borrows both; `problem` is complete().
class GemmQuery {
 public:
  static constexpr const char* nothing_tuned = "nothing is tuned for such sizes, types, layout, epilogue and scalars";

  GemmQuery(const Problem& problem, const Operands& operands) noexcept
      : problem_(problem), operands_(operands), kind_(kind_of(problem)) {}
  int kind() const noexcept { return kind_; }
  const Entry* begin() const noexcept { return kEntries; }
  const Entry* end() const noexcept { return kEntries + kEntryCount; }
  bool is_alike(const Entry& e) const noexcept { return same_kind(e, problem_, operands_); }
  bool is_same(const Entry& e) const noexcept {
    return e.problem.m == problem_.m && same_but_for_m(e.problem, problem_);
  }
  double guessed_loss(const Entry& e) const noexcept { return e.guessed ? e.guessed_loss : -1; }
  /// The first family there that covers the problem; `one_order`: whose kernels add in one order.
  bool family(int device_class, bool one_order, FamilyKernels& out) const noexcept {
    for (int i = 0; i < kFamilyCount; ++i) {
      const Family& known = kFamilies[i];
      if (known.device_class != device_class || problem_.m < known.first_m || problem_.m > known.problem.m ||
          (one_order && known.sum_order[0] == 0) || !same_kind(known, problem_, operands_) ||
          !same_but_for_m(known.problem, problem_))
        continue;
      const Interval& own = interval_of(known, problem_.m);
      out = {own.variant, own.spare, known.median_loss, known.largest_loss};
      return true;
    }
    return false;
  }
  /// The length of the vector of log2 ratios of m, n, k and batch.
  double distance(const Entry& e) const noexcept {
    const Problem &a = e.problem, &b = problem_;
    return std::sqrt(squared_doublings(a.m, b.m) + squared_doublings(a.n, b.n) + squared_doublings(a.k, b.k) +
                     squared_doublings(a.batch, b.batch));
  }
  Neighbourhood neighbourhood() const noexcept {
    Neighbourhood out{0, 0};
    for (const NeighbourLoss& known : kNeighbourLosses) {
      if (known.type == problem_.type) out = {known.radius, known.median};
    }
    return out;
  }

 private:
  const Problem& problem_;
  const Operands& operands_;
  int kind_;
};

}  // namespace pgtune_export::detail
