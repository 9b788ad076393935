// SPDX-License-Identifier: MIT
// The call: prepare a device, select a kernel for a problem, run it as often as wanted.
#pragma once

#include "exported/call.hpp"
#include "exported/gemm_dispatch.hpp"

namespace pgtune_export {

/// A problem with its kernel: a plain value, to be copied and kept. Every function may be called by any thread at any
/// time. Nothing here allocates, prints, throws, uses the default stream or changes a setting of the device.
class Gemm : public detail::Selected {
 public:
  /// The same as prepare() of the header.
  static Status prepare(int device) noexcept { return detail::prepare_numbered(device); }

  /// Chooses the kernel. Of the operands only alpha, beta and how pointers are aligned count; a null pointer counts as
  /// aligned to 256 bytes. On any status but ok `out` is empty, and out.choice().why says why.
  static Status select(const Problem& problem, const Operands& operands, int device, const Policy& policy,
                       Gemm& out) noexcept {
    out = Gemm();
    Problem p = problem;
    if (device < 0 || device >= detail::kMaxDevices || !detail::complete(p, operands)) return Status::invalid_argument;
    const detail::Device& on = detail::state.devices[device];
    if (!on.ready.load(std::memory_order_acquire)) return Status::not_prepared;
    detail::GemmFacts f{};
    detail::describe(f, on);
    detail::describe(f, p, operands, true);
    Status missing = Status::not_supported;
    if (!least_aligned(operands, p)) {
      out.choice_.why = "a pointer is aligned to less than 16 bytes";
      missing = Status::misaligned;
    } else {
      out.choice_ = detail::choose(detail::GemmQuery(p, operands), on, f, policy, out.plan_);
    }
    if (out.choice_.match != Match::none) {
      out.problem_ = p;
      out.device_ = &on;
      out.alpha_is_one_ = operands.alpha == 1;
      out.beta_is_zero_ = operands.beta == 0;
      out.loosen_alignment(f, on);
      const Status status = out.encode_maps(bindings(operands));
      if (status != Status::ok) out = Gemm();
      return status;
    }
    if (policy.fallback != nullptr && policy.pinned < 0 && !policy.batch_invariant) {
      out.choice_.match = Match::fallback;
      out.problem_ = p;
      out.device_ = &on;
      out.fallback_ = policy.fallback;
      out.user_ = policy.user;
      out.plan_.workspace_bytes = static_cast<detail::Int>(policy.fallback_workspace_bytes);
      return Status::ok;
    }
    return missing == Status::not_supported && alignment_is_why(p, operands, on, policy) ? Status::misaligned : missing;
  }

  /// Enqueues the product on the stream, and nothing on any other. May be captured in a graph: the pointers and scalars
  /// are then the graph's. Pointers may change from call to call, but must stay as aligned as they were selected for.
  /// So may scalars, where select() had an alpha of 1 or a beta of 0 just as here: else it returns invalid_argument.
  Status run(const Operands& o, void* workspace, std::size_t bytes, CUstream stream) const noexcept {
    if (choice_.match == Match::none) return Status::not_supported;
    if (o.a == nullptr || o.b == nullptr || o.d == nullptr || (o.beta != 0 && o.c == nullptr) ||
        (problem_.epilogue.bias && o.bias == nullptr) || !detail::scalars_fit(problem_, o))
      return Status::invalid_argument;
    if (!is_enough(workspace, bytes)) return Status::workspace_too_small;
    if (fallback_ != nullptr) return fallback_(problem_, o, workspace, bytes, stream, user_);
    if (!aligned(o)) return Status::misaligned;
    if (detail::asks_for_scalars(detail::kVariantRows[choice_.variant].template_number) &&
        ((o.alpha == 1) != alpha_is_one_ || (o.beta == 0) != beta_is_zero_))
      return Status::invalid_argument;
    return enqueue(bindings(o), workspace, stream);
  }

 private:
  static bool least_aligned(const Operands& o, const Problem& p) noexcept {
    detail::Int bits = detail::address(o.a) | detail::address(o.b) | detail::address(o.d);
    if (o.beta != 0) bits |= detail::address(o.c);
    if (p.epilogue.bias) bits |= detail::address(o.bias);
    return bits % detail::kLeastAlignment == 0;
  }

  bool aligned(const Operands& o) const noexcept {
    return least_aligned(o, problem_) && detail::address(o.a) % align_a_ == 0 && detail::address(o.b) % align_b_ == 0 &&
           detail::address(o.d) % align_c_ == 0 && (o.beta == 0 || detail::address(o.c) % align_c_ == 0);
  }

  /// Where nothing is served: whether a variant would, were the pointers aligned to 256 bytes.
  static bool alignment_is_why(const Problem& p, const Operands& o, const detail::Device& on,
                               const Policy& policy) noexcept {
    detail::GemmFacts f{};
    detail::describe(f, on);
    detail::describe(f, p, o, false);
    detail::Plan plan;
    return detail::choose(detail::GemmQuery(p, o), on, f, policy, plan).match != Match::none;
  }

  /// What pointers have to be aligned to from now on: as they are, or to 16 bytes where the same is launched then.
  void loosen_alignment(const detail::GemmFacts& f, const detail::Device& on) noexcept {
    align_a_ = f.v_ALIGN_A, align_b_ = f.v_ALIGN_B, align_c_ = f.v_ALIGN_C;
    detail::GemmFacts looser = f;
    detail::Int* const alignments[] = {&looser.v_ALIGN_A, &looser.v_ALIGN_B, &looser.v_ALIGN_C};
    for (detail::Int* alignment : alignments) *alignment = detail::smaller(*alignment, detail::kLeastAlignment);
    detail::Plan plan;
    if (!detail::serves(choice_.variant, detail::kind_of(problem_), on, looser, plan) ||
        !detail::same_launch(plan, plan_))
      return;
    align_a_ = looser.v_ALIGN_A, align_b_ = looser.v_ALIGN_B, align_c_ = looser.v_ALIGN_C;
  }

  static detail::Bindings bindings(const Operands& o) noexcept {
    return {{o.a, o.b, o.beta != 0 ? o.c : o.d, o.d, o.bias != nullptr ? o.bias : o.d}, {o.alpha, o.beta}};
  }

  Problem problem_{};
  Fallback fallback_ = nullptr;
  void* user_ = nullptr;
  bool alpha_is_one_ = true, beta_is_zero_ = true;
  detail::Int align_a_ = detail::kBufferAlignment, align_b_ = detail::kBufferAlignment,
              align_c_ = detail::kBufferAlignment;
};

/// Selected kernels of problems that mostly differ in m, for one thread at a time: a problem that was there before
/// costs a comparison, and a new one select(). Nothing is allocated; a kernel takes some KB.
template <int kSlots = 64>
class GemmCache {
 public:
  GemmCache(int device, const Policy& policy) noexcept : policy_(policy), device_(device) {}

  /// Null where nothing serves the problem, with select()'s status. The result stays valid until the next call.
  const Gemm* find(const Problem& problem, const Operands& operands, Status& status) noexcept {
    const std::uint64_t place = place_of(operands);
    const auto mixed = static_cast<std::uint64_t>(problem.m) * 0x9e3779b97f4a7c15U ^
                       static_cast<std::uint64_t>(problem.n) * 0xc2b2ae3d27d4eb4fU ^
                       static_cast<std::uint64_t>(problem.k) * 0x165667b19e3779f9U;
    Slot& slot = slots_[(mixed >> 32) % kSlots];
    if (slot.selected && slot.place == place && same(slot.problem, problem) && detail::scalars_fit(problem, operands)) {
      status = Status::ok;
      return &slot.gemm;
    }
    status = Gemm::select(problem, operands, device_, policy_, slot.gemm);
    slot.selected = status == Status::ok;
    slot.problem = problem;
    slot.place = place;
    return slot.selected ? &slot.gemm : nullptr;
  }

 private:
  struct Slot {
    bool selected = false;
    std::uint64_t place = 0;
    Problem problem{};
    Gemm gemm;
  };

  /// What select() asks of operands: how each is aligned, and of the scalars whether they are 1 and 0.
  static std::uint64_t place_of(const Operands& o) noexcept {
    std::uint64_t out = (o.alpha == 1 ? 1U : 0U) | (o.beta == 0 ? 2U : 0U);
    const void* const pointers[] = {o.a, o.b, o.c, o.bias, o.d};
    for (const void* const pointer : pointers) {
      const auto bits = static_cast<std::uint64_t>(detail::address(pointer) | detail::kBufferAlignment);
      out = out << 9 | (bits & (0 - bits));
    }
    return out;
  }

  static bool same(const Problem& a, const Problem& b) noexcept {
    return a.m == b.m && a.n == b.n && a.k == b.k && a.type == b.type && a.layout == b.layout && a.batch == b.batch &&
           a.lda == b.lda && a.ldb == b.ldb && a.ldc == b.ldc && a.stride_a == b.stride_a && a.stride_b == b.stride_b &&
           a.stride_c == b.stride_c && a.out == b.out && a.epilogue.bias == b.epilogue.bias &&
           a.epilogue.activation == b.epilogue.activation;
  }

  Policy policy_;
  int device_;
  Slot slots_[static_cast<std::size_t>(kSlots)];
};

inline const Entry* entries(int* count) noexcept {
  *count = detail::kEntryCount;
  return detail::kEntries;
}
inline const Family* families(int* count) noexcept {
  *count = detail::kFamilyCount;
  return detail::kFamilies;
}
inline const NeighbourLoss* neighbour_losses(int* count) noexcept {
  *count = detail::kNeighbourLossCount;
  return detail::kNeighbourLosses;
}

}  // namespace pgtune_export
