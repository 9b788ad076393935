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
  int count = 0, neighbours = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    Problem p = all[i].problem;
    p.m += p.m / 4 / 64 * 64;
    p.lda = p.ldb = p.ldc = 0;
    if (p.m == all[i].problem.m) continue;
    CHECK(Gemm::select(p, operands_of(all[i]), 0, policy, gemm) == Status::ok);
    if (gemm.choice().match != Match::neighbour) continue;
    ++neighbours;
    CHECK(gemm.choice().expected_loss > 0 && gemm.choice().expected_loss <= 0.03);
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
  CHECK(neighbours > 10);
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
    if (Gemm::select(all[i].problem, operands_of(all[i]), 0, careful, other) == Status::ok)
      CHECK(other.choice().match == Match::neighbour);
    careful.worst = Match::exact;
    careful.largest_loss = 1;
    CHECK(Gemm::select(all[i].problem, operands_of(all[i]), 0, careful, other) == Status::not_supported);
    CHECK(std::strstr(other.choice().why, "less certain") != nullptr);
  }
  CHECK(guesses == 1);
}

inline void pin() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, pinned = 0, refused = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    Policy policy;
    policy.pinned = all[i].variant;
    Gemm gemm;
    const bool waits = Gemm::select(all[i].problem, operands_of(all[i]), 0, policy, gemm) != Status::ok;
    if (waits) {  // a kernel whose sums depend on the grid
      ++refused;
      continue;
    }
    ++pinned;
    CHECK(gemm.choice().variant == all[i].variant &&
          gemm.choice().match == (all[i].guessed ? Match::guess : Match::exact));
    Problem p = all[i].problem;
    p.m *= 2;
    p.lda = p.ldb = p.ldc = 0;
    if (Gemm::select(p, operands_of(all[i]), 0, policy, gemm) == Status::ok)
      CHECK(gemm.choice().variant == all[i].variant && gemm.choice().match == Match::neighbour);
  }
  CHECK(pinned > 10 && refused > 0);
  Policy none;
  none.pinned = 1 << 20;
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, none, gemm) == Status::not_supported);
}

inline void alignment() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, looser = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    const Entry& e = all[i];
    Operands o = operands_of(e);
    const Gemm gemm = selected(e);
    // Aligned to 16 bytes alone: either the kernel is right for that, or it says so; never a launch of another plan.
    o.a = at(0x10000010);
    const Status status = gemm.run(o, workspace, kPlenty, stream());
    CHECK(status == Status::ok || status == Status::misaligned);
    if (status == Status::ok) ++looser;
    Gemm odd;
    o.a = at(0x10000008);
    CHECK(Gemm::select(e.problem, o, 0, {}, odd) == Status::misaligned);
    CHECK(odd.run(o, workspace, kPlenty, stream()) == Status::not_supported);
  }
  CHECK(looser > count / 2);
}
