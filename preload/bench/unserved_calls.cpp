// SPDX-License-Identifier: MIT
// Host time of calls that are forwarded, where the library behind does nothing: the fakes that pgtune run is tested
// with.
//
//   ninja unserved_calls; tests/preload/fakes/unserved_calls; pgtune run --trace shapes.txt --
//   tests/preload/fakes/unserved_calls
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "preload/tests/programs/cublas.hpp"

namespace {

constexpr float kOne = 1, kZero = 0;
constexpr int kF32 = 0, kF16 = 2, kBf16 = 14, kSum32 = 68;

/// The least of many bursts: other programs only add to it.
template <typename Call>
double least_ns(const Call& call) {
  constexpr int kBursts = 200, kCalls = 5000;
  double least = 1e9;
  for (int burst = 0; burst < kBursts; ++burst) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
    least = std::min(least, all.count() / kCalls);
  }
  return least;
}

FakeLtDescriptor layout(std::uint64_t rows, std::uint64_t cols) { return {{kF16, 0, rows, cols, rows, 1}}; }

}  // namespace

int main() {
  void* handle = nullptr;
  cublasCreate_v2(&handle);
  const FakeLtDescriptor desc{{kSum32, kF32, 0, 1}}, a = layout(128, 256), b = layout(128, 8), d = layout(256, 8);
  std::printf("cublasGemmEx %.1f ns\n", least_ns([&] {
                cublasGemmEx(handle, 1, 0, 32, 8, 128, &kOne, nullptr, kBf16, 128, nullptr, kBf16, 128, &kZero, nullptr,
                             kBf16, 32, kSum32, 99);
              }));
  std::printf("cublasLtMatmul %.1f ns\n", least_ns([&] {
                cublasLtMatmul(handle, &desc, &kOne, nullptr, &a, nullptr, &b, &kZero, nullptr, &d, nullptr, &d,
                               nullptr, nullptr, 0, nullptr);
              }));
}
