// SPDX-License-Identifier: MIT
// Which variant serves a problem: the one tuned for it, else the one guessed for it, else a neighbour within the radius
// whose loss is known.
#pragma once

#include <cmath>

#include "exported/driver.hpp"

namespace pgtune_export::detail {

inline void describe(Facts& f, const Device& device) noexcept {
  f.v_ARCH = device.arch, f.v_SM_COUNT = device.sm_count, f.v_SMEM_LIMIT = device.smem_limit;
  f.v_SMEM_PER_SM = device.smem_per_sm, f.v_REGS_PER_SM = device.registers_per_sm, f.v_L2_BYTES = device.l2_bytes;
}

/// Same types, layout and epilogue, and both read C or neither does.
inline bool same_kind(const Entry& e, const Problem& p, const Operands& o) noexcept {
  return e.problem.type == p.type && e.problem.out == out_of(p) && e.problem.layout == p.layout &&
         e.problem.epilogue.bias == p.epilogue.bias && e.problem.epilogue.activation == p.epilogue.activation &&
         e.adds_c == (o.beta != 0);
}

/// Precondition: same_kind(), and `p` is complete().
inline bool same_problem(const Entry& e, const Problem& p) noexcept {
  const Problem& t = e.problem;
  const bool packed =
      p.batch == 1 || (p.stride_a == rows_a(p) * p.lda && p.stride_b == rows_b(p) * p.ldb && p.stride_c == p.m * p.ldc);
  return t.m == p.m && t.n == p.n && t.k == p.k && t.batch == p.batch && t.lda == p.lda && t.ldb == p.ldb &&
         t.ldc == p.ldc && packed;
}

/// In doublings: the length of the vector of log2 ratios of m, n, k and batch.
inline double distance(const Problem& a, const Problem& b) noexcept {
  const Int pairs[4][2] = {{a.m, b.m}, {a.n, b.n}, {a.k, b.k}, {a.batch, b.batch}};
  double squares = 0;
  for (const auto& pair : pairs) {
    const double doublings = std::log2(static_cast<double>(pair[0]) / static_cast<double>(pair[1]));
    squares += doublings * doublings;
  }
  return std::sqrt(squares);
}

/// Whether the variant computes the problem there; Plan::why says why it does not.
inline bool serves(int variant, const Problem& p, const Device& device, const Facts& f, Plan& plan) noexcept {
  const VariantRow& row = kVariantRows[variant];
  plan.kernel_count = plan.map_count = 0;
  plan.workspace_bytes = plan.zero_from = plan.zero_to = 0;
  plan.cost = -1;
  plan.why = nullptr;
  if (row.type != p.type || row.out != out_of(p) || row.epilogue.bias != p.epilogue.bias ||
      row.epilogue.activation != p.epilogue.activation)
    return refuse(plan, "the kernel was compiled for other types or another epilogue");
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
      a.zero_from != b.zero_from)
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
    if (m.operand != n.operand || m.type != n.type || m.rank != n.rank || m.swizzle != n.swizzle ||
        m.promotion != n.promotion)
      return false;
    for (unsigned d = 0; d < m.rank; ++d) {
      if (m.dims[d] != n.dims[d] || m.box[d] != n.box[d]) return false;
      if (d + 1 < m.rank && m.strides_bytes[d] != n.strides_bytes[d]) return false;
    }
  }
  return true;
}

/// Kernels whose CTAs wait for each other share the sums of a row by the grid, which depends on the problem.
inline bool fixed_order(const Plan& plan) noexcept {
  for (int i = 0; i < plan.kernel_count; ++i) {
    if (plan.kernels[i].co_resident) return false;
  }
  return true;
}

/// Choice::why is the reason of the last refusal where there is no match.
inline Choice choose(const Problem& p, const Operands& o, const Device& device, const Facts& f, const Policy& policy,
                     Plan& plan) noexcept {
  Choice choice;
  choice.why = "no problem of these types, layout and epilogue is tuned";
  if (policy.pinned >= 0) {
    if (policy.pinned >= kVariantCount) {
      choice.why = "there is no variant of the pinned number";
    } else if (!serves(policy.pinned, p, device, f, plan)) {
      choice.why = plan.why;
    } else if (!fixed_order(plan)) {
      choice.why = "the pinned variant adds a row's products in an order that depends on the problem";
    } else {
      choice = {Match::neighbour, policy.pinned, -1, "pinned"};
      for (const Entry& e : kEntries) {
        if (e.variant == policy.pinned && e.device_class == device.device_class && same_kind(e, p, o) &&
            same_problem(e, p))
          choice = e.guessed
                       ? Choice{Match::guess, policy.pinned, e.guessed_loss, "pinned, and the guess for this problem"}
                       : Choice{Match::exact, policy.pinned, 0, "pinned, and tuned for this problem"};
      }
    }
    return choice;
  }
  const bool known = device.device_class >= 0;
  if (!known && policy.worst < Match::other_device) {
    choice.why = "no problem is tuned on this class of device";
    return choice;
  }
  for (const Entry& e : kEntries) {
    if ((known && e.device_class != device.device_class) || !same_kind(e, p, o) || !same_problem(e, p)) continue;
    if (e.guessed && (policy.worst < Match::guess || e.guessed_loss > policy.largest_loss)) {
      choice.why = "the guess for this problem is less certain than the policy allows";
      continue;
    }
    if (!serves(e.variant, p, device, f, plan)) {
      choice.why = plan.why;
      continue;
    }
    if (!known) return {Match::other_device, e.variant, -1, "chosen for this problem on another device"};
    return e.guessed ? Choice{Match::guess, e.variant, e.guessed_loss, "chosen by what was measured on other problems"}
                     : Choice{Match::exact, e.variant, 0, "tuned for this problem on this class of device"};
  }
  if (policy.worst < Match::neighbour) return choice;
  double radius = 0, loss = 0;
  for (const NeighbourLoss& known_loss : kNeighbourLosses) {
    if (known_loss.type == p.type) radius = known_loss.radius, loss = known_loss.median;
  }
  if (radius > 0 && loss > policy.largest_loss) {
    choice.why = "neighbours of this type lose more than the policy allows";
    return choice;
  }
  Plan other;
  int best = -1;
  for (const Entry& e : kEntries) {
    if (e.guessed || (known && e.device_class != device.device_class) || !same_kind(e, p, o)) continue;
    if (distance(e.problem, p) > radius || radius == 0) {
      if (best < 0) choice.why = "no tuned problem is near enough";
      continue;
    }
    if (e.variant == best || !serves(e.variant, p, device, f, other)) continue;
    if (best >= 0 && (other.cost < 0 || (plan.cost >= 0 && other.cost >= plan.cost))) continue;
    plan = other;
    best = e.variant;
  }
  if (best < 0) return choice;
  return known ? Choice{Match::neighbour, best, loss, "the cheapest, by its template's cost, of the problems near it"}
               : Choice{Match::other_device, best, -1, "tuned near this problem on another device"};
}

}  // namespace pgtune_export::detail
