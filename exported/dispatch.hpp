// SPDX-License-Identifier: MIT
// Which variant serves a problem: the one tuned for it, else its family's, else the one guessed for it, else a
// neighbour within the radius whose loss is known. What a problem is, its Query knows: gemm_dispatch.hpp's, or
// operation.hpp's.
#pragma once

#include <cmath>

#include "exported/driver.hpp"

namespace pgtune_export::detail {

inline void describe(DeviceFacts& f, const Device& device) noexcept {
  f.v_ARCH = device.arch, f.v_SM_COUNT = device.sm_count, f.v_SMEM_LIMIT = device.smem_limit;
  f.v_SMEM_PER_SM = device.smem_per_sm, f.v_REGS_PER_SM = device.registers_per_sm, f.v_L2_BYTES = device.l2_bytes;
}

/// In doublings, squared.
inline double squared_doublings(Int a, Int b) noexcept {
  const double doublings = std::log2(static_cast<double>(a) / static_cast<double>(b));
  return doublings * doublings;
}

/// How far neighbours of a kind of problems may be, in doublings (0: there are none), and what they lose in the median.
struct Neighbourhood {
  double radius, loss;
};

/// A family's kernels for one m.
struct FamilyKernels {
  int variant, spare;
  double median_loss, largest_loss;  ///< below 0: not known
};

/// Whether the variant computes the problem there, which is of `kind` (VariantRow) and has the facts `f`; Plan::why
/// says why it does not.
template <typename Facts>
bool serves(int variant, int kind, const Device& device, const Facts& f, Plan& plan) noexcept {
  const VariantRow& row = kVariantRows[variant];
  plan.kernel_count = plan.map_count = 0;
  plan.workspace_bytes = 0;
  plan.zeroes_workspace = false;
  plan.cost = -1;
  plan.why = nullptr;
  if (row.kind != kind)
    return refuse(plan, "the kernel was compiled for another operation, other types or another epilogue");
  if (!runs_on(kImages[row.image], device.arch))
    return refuse(plan, "the kernel was compiled for another architecture");
  if (!evaluate(row, f, plan)) return false;
  for (int i = 0; i < plan.kernel_count; ++i) {
    if (state.kernels[row.image][plan.kernels[i].symbol] == nullptr) return refuse(plan, kOtherBuild);
  }
  return true;
}

/// Whether both launch the same; costs may differ.
inline bool same_launch(const Plan& a, const Plan& b) noexcept {
  if (a.kernel_count != b.kernel_count || a.map_count != b.map_count || a.workspace_bytes != b.workspace_bytes ||
      a.zeroes_workspace != b.zeroes_workspace)
    return false;
  for (int i = 0; i < a.kernel_count; ++i) {
    const KernelPlan &k = a.kernels[i], &l = b.kernels[i];
    if (k.symbol != l.symbol || k.smem_bytes != l.smem_bytes || k.overlaps != l.overlaps ||
        k.co_resident != l.co_resident)
      return false;
    for (int d = 0; d < 3; ++d) {
      if (k.grid[d] != l.grid[d] || k.block[d] != l.block[d] || k.cluster[d] != l.cluster[d]) return false;
    }
    for (int n = 0; n < k.argument_count; ++n) {
      if (k.arguments[n].value != l.arguments[n].value) return false;
    }
  }
  for (int i = 0; i < a.map_count; ++i) {
    const MapPlan &m = a.maps[i], &n = b.maps[i];
    if (m.buffer != n.buffer || m.type != n.type || m.rank != n.rank || m.swizzle != n.swizzle ||
        m.promotion != n.promotion)
      return false;
    for (unsigned d = 0; d < m.rank; ++d) {
      if (m.dims[d] != n.dims[d] || m.box[d] != n.box[d]) return false;
      if (d + 1 < m.rank && m.strides_bytes[d] != n.strides_bytes[d]) return false;
    }
  }
  return true;
}

/// Whether a row has the same bits in every problem that the variant serves. Where its template does not say, kernels
/// whose CTAs wait for each other are taken to share sums by the grid, which depends on the problem.
inline bool fixed_order(int variant, const Plan& plan) noexcept {
  if (const char* const order = kVariants[variant].sum_order) return order[0] != 0;
  for (int i = 0; i < plan.kernel_count; ++i) {
    if (plan.kernels[i].co_resident) return false;
  }
  return true;
}

/// A query has begin() and end() of its entries, and of an entry is_alike() (same types and so on), is_same() (this
/// very problem), distance() and guessed_loss() (below 0: it was tuned); beside that kind(), family(), neighbourhood()
/// and nothing_tuned, a reason for people.

/// By a kernel that was tuned for this very problem, or guessed.
template <typename Query, typename Facts>
bool serve_by_own(const Query& query, const Device& device, const Facts& f, const Limits& policy, bool guessed,
                  Plan& plan, Choice& choice) noexcept {
  const bool known = device.device_class >= 0;
  for (const auto& e : query) {
    const double loss = query.guessed_loss(e);
    if ((loss >= 0) != guessed || (known && e.device_class != device.device_class) || !query.is_alike(e) ||
        !query.is_same(e))
      continue;
    if (guessed && (policy.worst < Match::guess || loss > policy.largest_loss)) {
      choice.why = policy.worst < Match::guess ? "there is a guess for this problem, and the policy takes none"
                                               : "the guess for this problem is less certain than the policy allows";
    } else if (!serves(e.variant, query.kind(), device, f, plan)) {
      choice.why = plan.why;
    } else {
      choice = !known    ? Choice{Match::other_device, e.variant, -1, "chosen for this problem on another device"}
               : guessed ? Choice{Match::guess, e.variant, loss, "chosen by what was measured on other problems"}
                         : Choice{Match::exact, e.variant, 0, "tuned for this problem on this class of device"};
      return true;
    }
  }
  return false;
}

template <typename Query, typename Facts>
bool serve_by_family(const Query& query, const Device& device, const Facts& f, const Limits& policy, Plan& plan,
                     Choice& choice) noexcept {
  FamilyKernels own;
  if (!query.family(device.device_class, policy.batch_invariant, own)) return false;
  const bool affordable = own.largest_loss >= 0 && own.largest_loss <= policy.largest_loss;
  if (!policy.batch_invariant && (policy.worst < Match::family || !affordable)) {
    choice.why = policy.worst < Match::family ? "there is a family for this problem, and the policy takes none"
                                              : "the family of this problem loses more than the policy allows";
    return false;
  }
  const int either[] = {own.variant, own.spare};
  for (const int variant : either) {
    if (variant < 0) continue;
    if (serves(variant, query.kind(), device, f, plan)) {
      choice = {Match::family, variant, own.median_loss, "of the kernels for every m of these problems"};
      return true;
    }
    choice.why = plan.why;
  }
  return false;
}

/// Choice::why is the reason of the last refusal where there is no match.
template <typename Query, typename Facts>
Choice choose(const Query& query, const Device& device, const Facts& f, const Limits& policy, Plan& plan) noexcept {
  Choice choice;
  choice.why = Query::nothing_tuned;
  if (policy.pinned >= 0) {
    if (policy.pinned >= kVariantCount) {
      choice.why = "there is no variant of the pinned number";
    } else if (!serves(policy.pinned, query.kind(), device, f, plan)) {
      choice.why = plan.why;
    } else if (!fixed_order(policy.pinned, plan)) {
      choice.why = "the pinned variant adds a row's products in an order that depends on the problem";
    } else {
      choice = {Match::neighbour, policy.pinned, -1, "pinned"};
      for (const auto& e : query) {
        if (e.variant == policy.pinned && e.device_class == device.device_class && query.is_alike(e) &&
            query.is_same(e)) {
          const double loss = query.guessed_loss(e);
          choice = loss >= 0 ? Choice{Match::guess, policy.pinned, loss, "pinned, and the guess for this problem"}
                             : Choice{Match::exact, policy.pinned, 0, "pinned, and tuned for this problem"};
        }
      }
    }
    return choice;
  }
  const bool known = device.device_class >= 0;
  if (!known && policy.worst < Match::other_device) {
    choice.why = "no problem is tuned on this class of device";
    return choice;
  }
  if (policy.batch_invariant) {
    choice.why = "no family of one order covers the problem";
    serve_by_family(query, device, f, policy, plan, choice);
    return choice;
  }
  if (serve_by_own(query, device, f, policy, false, plan, choice) ||
      serve_by_family(query, device, f, policy, plan, choice) ||
      serve_by_own(query, device, f, policy, true, plan, choice))
    return choice;
  if (policy.worst < Match::neighbour) return choice;
  const Neighbourhood near = query.neighbourhood();
  if (near.radius > 0 && near.loss > policy.largest_loss) {
    choice.why = "neighbours of this type lose more than the policy allows";
    return choice;
  }
  Plan other;
  int best = -1;
  for (const auto& e : query) {
    if (query.guessed_loss(e) >= 0 || (known && e.device_class != device.device_class) || !query.is_alike(e)) continue;
    if (near.radius == 0 || query.distance(e) > near.radius) {
      if (best < 0) choice.why = "no tuned problem is near enough";
      continue;
    }
    if (e.variant == best || !serves(e.variant, query.kind(), device, f, other)) continue;
    if (best >= 0 && (other.cost < 0 || (plan.cost >= 0 && other.cost >= plan.cost))) continue;
    plan = other;
    best = e.variant;
  }
  if (best < 0) return choice;
  return known ? Choice{Match::neighbour, best, near.loss,
                        "the cheapest, by its template's cost, of the problems near it"}
               : Choice{Match::other_device, best, -1, "tuned near this problem on another device"};
}

}  // namespace pgtune_export::detail
