// SPDX-License-Identifier: MIT
// What the scenarios of calls.cpp share: addresses that nobody reads, and entries.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "best_gemm.hpp"
#include "tests/exported/programs/check.hpp"

using namespace best_gemm;

inline Operands operands_of(const Entry& entry) {
  Operands o;
  o.a = at(0x10000000), o.b = at(0x20000000), o.c = at(0x30000000), o.d = at(0x40000000), o.bias = at(0x50000000);
  o.beta = entry.adds_c ? 2.0F : 0.0F;
  return o;
}
inline void* const workspace = at(0x60000000);
constexpr std::size_t kPlenty = std::size_t{1} << 34;

inline const Entry& entry(int i) {
  int count = 0;
  return entries(&count)[i];
}
inline CUstream stream(int device = 0, bool own = false) { return stream_of<CUstream>(device, own); }

inline Gemm selected(const Entry& e, const Policy& policy = {}) {
  Gemm gemm;
  CHECK(Gemm::select(e.problem, operands_of(e), 0, policy, gemm) == Status::ok);
  return gemm;
}

/// An entry whose kernel adds through flags in the workspace.
inline const Entry& entry_with_flags() {
  int count = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    Gemm gemm;
    if (Gemm::select(all[i].problem, operands_of(all[i]), 0, {}, gemm) != Status::ok) continue;
    const int launches = fake().launches;
    CHECK(gemm.run(operands_of(all[i]), workspace, kPlenty, stream()) == Status::ok);
    for (std::size_t j = static_cast<std::size_t>(launches); j < fake().log.size(); ++j) {
      if (fake().log[j].find("clear_flags ") == 0) return all[i];
    }
  }
  std::puts("no entry has flags");
  std::exit(2);
}
