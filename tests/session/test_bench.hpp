// SPDX-License-Identifier: MIT
// A bench over the fake device of search tests.
#pragma once

#include <algorithm>

#include "test_search.hpp"
#include "tuner/session/bench_session.hpp"

namespace pgtune::session {

inline Variant variant(std::int64_t a, std::int64_t b) { return {"fake", {{"A", a}, {"B", b}}}; }

struct TestBench {
  TestSearch search;
  BenchRequest request{{variant(5, 3), variant(1, 1)}, 12, false};

  Result<BenchResult> run(device::Device& device, double* now_s) {
    const Clock clock{[now_s] { return *now_s; }, [] { return std::string("2026-01-02T00:00:00Z"); },
                      [now_s](double seconds) { *now_s += seconds; }};
    return run_bench(
        search.problem, search.definition, device, search.store, request, search.options, search.stop,
        [this](const Progress& update) { search.progress.push_back(update); }, clock);
  }
  Result<BenchResult> run(FakeDevice& device) { return run(device, &device.now_s); }
};

/// That variant's row of the answer; nullptr where it has none.
inline const RankedVariant* find(const BenchResult& result, const Variant& variant) {
  for (const RankedVariant& row : result.answer->ranking) {
    if (row.variant == variant) return &row;
  }
  return nullptr;
}

}  // namespace pgtune::session
