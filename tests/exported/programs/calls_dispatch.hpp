// SPDX-License-Identifier: MIT
// Scenarios of calls.cpp: which kernel serves.
#pragma once

#include <cstring>

#include "tests/exported/programs/calls_common.hpp"

inline Status called(const Problem&, const Operands&, void* given, std::size_t bytes, CUstream, void* user) {
  CHECK(given == workspace && bytes >= 4096);
  ++*static_cast<int*>(user);
  return Status::ok;
}

/// The variant of the cheapest tuned neighbour that serves the problem; `first`: of the first one in the table.
inline int cheapest_neighbour(Problem p, const Operands& o, int& first) {
  CHECK(detail::complete(p, o));
  const detail::GemmQuery query(p, o);
  detail::GemmFacts facts{};
  detail::describe(facts, detail::state.devices[0]);
  detail::describe(facts, p, o, true);
  int variant = -1;
  double least = 0;
  for (const Entry& e : query) {
    detail::Plan plan;
    if (e.guessed || !query.is_alike(e) || query.distance(e) > query.neighbourhood().radius) continue;
    if (!detail::serves(e.variant, query.kind(), detail::state.devices[0], facts, plan)) continue;
    const double cost = plan.cost < 0 ? 1e300 : static_cast<double>(plan.cost);
    if (first < 0) first = e.variant;
    if (variant >= 0 && cost >= least) continue;
    variant = e.variant, least = cost;
  }
  return variant;
}

/// What neighbours of the type lose by the header's table; -1: the table lacks it.
inline double neighbours_lose(Type type) {
  int count = 0;
  const NeighbourLoss* const all = neighbour_losses(&count);
  for (int i = 0; i < count; ++i) {
    if (all[i].type == type) return all[i].median;
  }
  return -1;
}

inline void dispatch() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int calls = 0;
  Policy policy;
  policy.fallback = called;
  policy.user = &calls;
  policy.fallback_workspace_bytes = 4096;
  Problem far = entry(0).problem;
  far.m = far.n = far.k = 3, far.lda = far.ldb = far.ldc = 0;
  Gemm gemm;
  CHECK(Gemm::select(far, operands_of(entry(0)), 0, policy, gemm) == Status::ok);
  CHECK(gemm.choice().match == Match::fallback && gemm.choice().variant == -1 && gemm.workspace_bytes() == 4096);
  CHECK(gemm.run(operands_of(entry(0)), workspace, 4096, stream()) == Status::ok);
  CHECK(calls == 1 && fake().launches == 0);

  // Somewhat larger problems are served by neighbours, none that the policy forbids.
  int count = 0, neighbours = 0, others = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    Problem p = all[i].problem;
    p.m += p.m / 4 / 64 * 64;
    p.lda = p.ldb = p.ldc = 0;
    if (p.m == all[i].problem.m) continue;
    CHECK(Gemm::select(p, operands_of(all[i]), 0, policy, gemm) == Status::ok);
    if (gemm.choice().match != Match::neighbour) continue;
    ++neighbours;
    int first = -1;
    CHECK(gemm.choice().variant == cheapest_neighbour(p, operands_of(all[i]), first));
    others += gemm.choice().variant != first ? 1 : 0;
    CHECK(gemm.choice().expected_loss == neighbours_lose(p.type));
    Policy strict = policy;
    strict.largest_loss = 0.001;
    CHECK(Gemm::select(p, operands_of(all[i]), 0, strict, gemm) == Status::ok);
    CHECK(gemm.choice().match == Match::fallback);
    strict = policy;
    strict.worst = Match::exact;
    strict.fallback = nullptr;
    CHECK(Gemm::select(p, operands_of(all[i]), 0, strict, gemm) == Status::not_supported);
    CHECK(gemm.choice().match == Match::none && std::strlen(gemm.choice().why) > 3);
  }
  CHECK(neighbours > 10 && others > 10);
}

/// How many entries of its kind lie within the radius of the problem, which is complete: guesses, or tuned ones.
inline int neighbours_of(const Problem& p, const Operands& o, bool guessed) {
  const detail::GemmQuery query(p, o);
  int found = 0;
  for (const Entry& e : query)
    found += e.guessed == guessed && query.is_alike(e) && query.distance(e) <= query.neighbourhood().radius ? 1 : 0;
  return found;
}

inline void guess() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, guesses = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    if (!all[i].guessed) continue;
    ++guesses;
    CHECK(all[i].time_s == 0 && all[i].ratio == 0 && all[i].guessed_loss > 0.02);
    const Gemm gemm = selected(all[i]);
    CHECK(gemm.choice().match == Match::guess && gemm.choice().variant == all[i].variant);
    CHECK(gemm.choice().expected_loss == all[i].guessed_loss);
    CHECK(gemm.run(operands_of(all[i]), workspace, kPlenty, stream()) == Status::ok);
    Gemm other;
    Policy careful;
    careful.largest_loss = 0.013;  // a neighbour's here is 0.012
    const bool has_neighbour = neighbours_of(all[i].problem, operands_of(all[i]), false) > 0;
    CHECK((Gemm::select(all[i].problem, operands_of(all[i]), 0, careful, other) == Status::ok) == has_neighbour);
    CHECK((other.choice().match == Match::neighbour) == has_neighbour);
    // Near the guess alone nothing is served.
    Problem beside = all[i].problem;
    beside.m = beside.m / 4 * 11, beside.stride_a = beside.stride_c = 0;
    CHECK(detail::complete(beside, operands_of(all[i])));
    CHECK(neighbours_of(beside, operands_of(all[i]), false) == 0 &&
          neighbours_of(beside, operands_of(all[i]), true) == 1);
    CHECK(Gemm::select(beside, operands_of(all[i]), 0, {}, other) == Status::not_supported);
    careful.worst = Match::exact;
    careful.largest_loss = 1;
    CHECK(Gemm::select(all[i].problem, operands_of(all[i]), 0, careful, other) == Status::not_supported);
    CHECK(std::strstr(other.choice().why, "the policy takes none") != nullptr);
  }
  CHECK(guesses == 1);
}

/// The family with this number of columns, sum and largest m.
inline const Family& family_of(std::int64_t n, std::int64_t k, std::int64_t m) {
  int count = 0;
  const Family* const all = families(&count);
  for (int i = 0; i < count; ++i) {
    if (all[i].problem.n == n && all[i].problem.k == k && all[i].problem.m == m) return all[i];
  }
  CHECK(count < 0);
  return all[0];
}

/// One kernel whose tiles may reach beyond the matrices serves those that they divide, too.
inline void edges() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const Family& family = family_of(1536, 1024, 512);
  Problem p{Type::bf16, Layout::nt, 0, 1536, 1024};
  Policy policy;
  policy.worst = Match::family;
  Gemm gemm;
  for (p.m = 1; p.m <= 512; ++p.m) {
    CHECK(Gemm::select(p, operands_of(entry(0)), 0, policy, gemm) == Status::ok);
    CHECK(gemm.choice().variant == family.intervals[0].variant);
  }
}

inline void every_m() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const Family& free_order = family_of(1536, 768, 512);
  const Family& one_order = family_of(1536, 768, 1024);
  CHECK(free_order.probes == 3 && free_order.median_loss == 0.012 && free_order.largest_loss == 0.025);
  CHECK(one_order.largest_loss == 0.08 && std::strcmp(one_order.sum_order, "plain") == 0 &&
        free_order.sum_order[0] == 0);
  const Operands o = operands_of(entry(0));
  Problem p{Type::bf16, Layout::nt, 0, 1536, 768};
  Policy strict;
  strict.worst = Match::family;
  Gemm gemm;
  for (p.m = 1; p.m <= 1100; ++p.m) {
    const bool served = Gemm::select(p, o, 0, strict, gemm) == Status::ok;
    CHECK(served == (p.m >= 2 && p.m <= 512));
    if (!served) continue;
    CHECK(gemm.choice().match == Match::family && gemm.choice().expected_loss == 0.012);
    int i = 0;
    while (free_order.intervals[i].last_m < p.m) ++i;
    CHECK(gemm.choice().variant == free_order.intervals[i].variant ||
          gemm.choice().variant == free_order.intervals[i].spare);
  }
  // What is not the family's: another leading dimension, batch, epilogue, C.
  p.m = 100;
  CHECK(Gemm::select(p, o, 0, strict, gemm) == Status::ok);
  Problem other = p;
  other.lda = 1536;
  CHECK(Gemm::select(other, o, 0, strict, gemm) == Status::not_supported);
  other = p;
  other.batch = 2;
  CHECK(Gemm::select(other, o, 0, strict, gemm) == Status::not_supported);
  other = p;
  other.epilogue.bias = true;
  CHECK(Gemm::select(other, o, 0, strict, gemm) == Status::not_supported);
  Operands adds = o;
  adds.beta = 1;
  CHECK(Gemm::select(p, adds, 0, strict, gemm) == Status::not_supported);

  // What the family lost where it was measured is compared with the policy.
  CHECK(Policy().largest_loss == 0.05);
  Policy policy = strict;
  policy.largest_loss = 0.02;
  CHECK(Gemm::select(p, o, 0, policy, gemm) == Status::not_supported);
  CHECK(std::strstr(gemm.choice().why, "loses more") != nullptr);
  policy.largest_loss = 0.025;
  CHECK(Gemm::select(p, o, 0, policy, gemm) == Status::ok);
  policy.worst = Match::exact;
  CHECK(Gemm::select(p, o, 0, policy, gemm) == Status::not_supported);
  p.m = 600;  // only in the family of one order, which lost 8 %
  policy.worst = Match::family;
  CHECK(Gemm::select(p, o, 0, policy, gemm) == Status::not_supported);
  policy.largest_loss = 0.08;
  CHECK(Gemm::select(p, o, 0, policy, gemm) == Status::ok && gemm.choice().match == Match::family);

  // Of the two families of f32 one was never measured, so its loss is not known.
  Problem f32{Type::f32, Layout::nn, 40, 1280, 64};
  CHECK(Gemm::select(f32, o, 0, strict, gemm) == Status::not_supported);
  f32.k = 128;
  const Family& aligned = family_of(1280, 128, 96);
  CHECK(Gemm::select(f32, o, 0, strict, gemm) == Status::ok && gemm.choice().variant == aligned.intervals[0].variant);
  Operands moved = o;
  moved.a = at(0x10000010);
  CHECK(Gemm::select(f32, moved, 0, strict, gemm) == Status::ok && gemm.choice().variant == aligned.intervals[0].spare);
  f32.m = 65;
  CHECK(Gemm::select(f32, o, 0, strict, gemm) == Status::ok && gemm.choice().variant == aligned.intervals[1].variant);
}

inline void batch_invariant() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const Family& one_order = family_of(1536, 768, 1024);
  const Operands o = operands_of(entry(0));
  int calls = 0, count = 0, number = 0;
  Policy policy;
  policy.batch_invariant = true;
  policy.fallback = called;
  policy.user = &calls;
  policy.fallback_workspace_bytes = 4096;
  policy.largest_loss = 0;  // bits come first
  policy.worst = Match::exact;
  const Variant* const all_variants = variants(&number);
  Problem p{Type::bf16, Layout::nt, 0, 1536, 768};
  Gemm gemm;
  for (p.m = 1; p.m <= 1025; ++p.m) {
    const Status status = Gemm::select(p, o, 0, policy, gemm);
    CHECK(status == (p.m <= 1024 ? Status::ok : Status::not_supported));
    if (status != Status::ok) continue;
    CHECK(gemm.choice().match == Match::family &&
          gemm.choice().variant == one_order.intervals[p.m <= 16 ? 0 : 1].variant);
    CHECK(std::strcmp(all_variants[gemm.choice().variant].sum_order, one_order.sum_order) == 0);
  }
  CHECK(std::strstr(gemm.choice().why, "no family of one order") != nullptr);
  // Not even what was tuned for the very problem.
  const Entry* const all = entries(&count);
  for (int i = 0; i < count; ++i)
    CHECK(Gemm::select(all[i].problem, operands_of(all[i]), 0, policy, gemm) == Status::not_supported);
  CHECK(calls == 0);
}

inline void cache() {
  CHECK(Gemm::prepare(0) == Status::ok);
  Policy strict;
  strict.worst = Match::family;
  static GemmCache<8> kept(0, strict);
  const Operands o = operands_of(entry(0));
  Status status = Status::no_driver;
  Problem p{Type::bf16, Layout::nt, 100, 1536, 768};
  const Gemm* const first = kept.find(p, o, status);
  CHECK(first != nullptr && status == Status::ok && first->choice().match == Match::family);
  const int encodes = fake().encodes;
  CHECK(kept.find(p, o, status) == first && status == Status::ok && fake().encodes == encodes);
  Operands moved = o;
  moved.a = at(0x10000010);
  CHECK(kept.find(p, moved, status) != nullptr && fake().encodes > encodes);
  for (p.m = 1; p.m < 200; ++p.m) {
    const Gemm* const found = kept.find(p, o, status);
    CHECK((found != nullptr) == (status == Status::ok) && (found != nullptr) == (p.m >= 2));
    if (found != nullptr) CHECK(found->run(o, workspace, kPlenty, stream()) == Status::ok);
  }
}

inline void pin() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, number = 0, pinned = 0, refused = 0, split = 0;
  const Entry* all = entries(&count);
  const Variant* all_variants = variants(&number);
  for (int i = 0; i < count; ++i) {
    Policy policy;
    policy.pinned = all[i].variant;
    Gemm gemm;
    const char* const order = all_variants[all[i].variant].sum_order;
    const bool is_refused = Gemm::select(all[i].problem, operands_of(all[i]), 0, policy, gemm) != Status::ok;
    if (order != nullptr) CHECK(is_refused == (order[0] == 0));
    if (is_refused) {
      CHECK(std::strstr(gemm.choice().why, "order") != nullptr);
      ++refused;
      continue;
    }
    ++pinned;
    split += order != nullptr && std::strstr(order, " parts") != nullptr ? 1 : 0;
    CHECK(gemm.choice().variant == all[i].variant &&
          gemm.choice().match == (all[i].guessed ? Match::guess : Match::exact));
    Problem p = all[i].problem;
    p.m *= 2;
    p.lda = p.ldb = p.ldc = 0;
    if (Gemm::select(p, operands_of(all[i]), 0, policy, gemm) == Status::ok)
      CHECK(gemm.choice().variant == all[i].variant && gemm.choice().match == Match::neighbour);
  }
  CHECK(pinned > 10 && refused > 0 && split > 0);
  Policy none;
  none.pinned = 1 << 20;
  none.fallback = called;  // which need not add in the variant's order
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, none, gemm) == Status::not_supported);
}

/// Operands that are aligned to 16 bytes alone: kernels that count on more say so, of each operand that they read.
inline void alignment() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, tight = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    const Entry& e = all[i];
    const Gemm gemm = selected(e);
    const bool counts_on_64 = e.problem.m == 64 && e.problem.n == 1280;
    tight += counts_on_64 ? 1 : 0;
    const Status expected = counts_on_64 ? Status::misaligned : Status::ok;
    for (const void* Operands::*pointer : {&Operands::a, &Operands::b, &Operands::c}) {
      Operands o = operands_of(e);
      o.*pointer = at(0x10000010);
      const bool read = pointer != &Operands::c || e.adds_c;
      CHECK(gemm.run(o, workspace, kPlenty, stream()) == (read ? expected : Status::ok));
    }
    Operands o = operands_of(e);
    o.d = at(0x10000010);
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == expected);
    Gemm odd;
    o = operands_of(e);
    o.a = at(0x10000008);
    CHECK(Gemm::select(e.problem, o, 0, {}, odd) == Status::misaligned);
    CHECK(odd.run(o, workspace, kPlenty, stream()) == Status::not_supported);
  }
  CHECK(tight == 2);
}

/// A select() that fails leaves an empty call, whatever it held before.
inline void failing_select() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, with_maps = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count && with_maps == 0; ++i) {
    const int encodes = fake().encodes;
    Gemm gemm = selected(all[i]);
    with_maps += fake().encodes > encodes ? 1 : 0;
    fake().encode_result = CUDA_ERROR_INVALID_VALUE;
    const Status status = Gemm::select(all[i].problem, operands_of(all[i]), 0, {}, gemm);
    fake().encode_result = 0;
    CHECK(status == (with_maps > 0 ? Status::cuda_error : Status::ok));
    CHECK((gemm.choice().match == Match::none) == (with_maps > 0));
  }
  CHECK(with_maps == 1);
  Gemm gemm = selected(entry(0));
  Problem wrong = entry(0).problem;
  wrong.m = 0;
  CHECK(Gemm::select(wrong, operands_of(entry(0)), 0, {}, gemm) == Status::invalid_argument);
  CHECK(gemm.choice().match == Match::none && gemm.workspace_bytes() == 0);
  CHECK(gemm.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::not_supported);
}
