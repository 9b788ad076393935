// SPDX-License-Identifier: MIT
// What the programs that check exported headers on a GPU share. They include it after best_gemm.hpp.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::gpu {

inline int failures = 0;

inline void expect(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  fmt::print("FAILED: {}\n", what);
}

inline void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  fmt::print("{}: {}\n", what, cudaGetErrorString(code));
  std::exit(1);
}

template <typename Value>
void require(const CudaResult<Value>& result) {
  if (result) return;
  fmt::print("{}\n", result.error().text);
  std::exit(1);
}

inline Problem problem_of(const best_gemm::Entry& entry) {
  const best_gemm::Problem& p = entry.problem;
  Problem out;
  out.m = p.m, out.n = p.n, out.k = p.k, out.batch = p.batch;
  out.lda = p.lda, out.ldb = p.ldb, out.ldc = p.ldc;
  out.dtype = static_cast<Dtype>(p.type);
  out.output = static_cast<ElementType>(static_cast<int>(p.out) - 1);
  out.trans_a = p.layout == best_gemm::Layout::tn || p.layout == best_gemm::Layout::tt;
  out.trans_b = p.layout == best_gemm::Layout::nt || p.layout == best_gemm::Layout::tt;
  out.epilogue = {p.epilogue.bias, static_cast<Activation>(p.epilogue.activation)};
  out.beta = entry.adds_c ? 1 : 0;
  return out;
}

inline best_gemm::Operands operands_of(const OperandSet& set, const Problem& problem) {
  best_gemm::Operands o;
  o.a = device_pointer(set.a.address), o.b = device_pointer(set.b.address), o.c = device_pointer(set.c.address);
  o.d = device_pointer(set.d.address), o.bias = device_pointer(set.bias.address);
  o.alpha = static_cast<float>(problem.alpha), o.beta = static_cast<float>(problem.beta);
  return o;
}

inline std::vector<char> bytes_of(const DeviceSpan& span) {
  std::vector<char> bytes(static_cast<std::size_t>(span.bytes));
  must(cudaMemcpy(bytes.data(), device_pointer(span.address), bytes.size(), cudaMemcpyDeviceToHost), "reading D");
  return bytes;
}

struct Memory {
  explicit Memory(std::size_t bytes) { must(cudaMalloc(&data, bytes > 0 ? bytes : 256), "allocating"); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cudaFree(data); }
  void* data = nullptr;
};

/// An exported kernel, to be timed as pgtune times everything.
class ExportedLaunchable : public Launchable {
 public:
  ExportedLaunchable(const best_gemm::Gemm& gemm, std::vector<best_gemm::Operands> copies, void* workspace)
      : gemm_(gemm), copies_(std::move(copies)), workspace_(workspace) {}
  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    if (gemm_.run(copies_[copy], workspace_, gemm_.workspace_bytes(), stream) == best_gemm::Status::ok) return {};
    return check(cudaErrorUnknown, "an exported kernel");
  }

 private:
  best_gemm::Gemm gemm_;
  std::vector<best_gemm::Operands> copies_;
  void* workspace_;
};

/// Seconds of a launch of each of two, by samples in turn.
struct TimesOfTwo {
  double first_s = 0, second_s = 0;
  double ratio = 0;  ///< median of the rounds'
};

inline TimesOfTwo time_in_turn(SampleTimer& timer, LaunchSeries& first, LaunchSeries& second, double about_s) {
  constexpr int kRounds = 6;
  constexpr double kSample_s = 0.02, kLeadIn_s = 0.005, kShort_s = 40e-6;
  for (LaunchSeries* series : {&first, &second}) {
    require(series->enqueue(3));  // loaded before a capture
    if (about_s < kShort_s) require(series->capture());
  }
  std::vector<double> firsts, seconds, ratios;
  for (int round = 0; round < kRounds; ++round) {
    double times[2] = {};
    for (int i = 0; i < 2; ++i) {
      const bool second_now = (i + round) % 2 != 0;
      LaunchSeries& series = second_now ? second : first;
      const auto launches = [&](double seconds_long) {
        return launches_for(seconds_long, about_s, 3, series.granule());
      };
      const auto sample = timer.time(series, launches(kSample_s), launches(kLeadIn_s));
      require(sample);
      times[second_now ? 1 : 0] = sample->per_launch_s();
    }
    firsts.push_back(times[0]);
    seconds.push_back(times[1]);
    ratios.push_back(times[0] / times[1]);
  }
  return {stats::median(firsts), stats::median(seconds), stats::median(ratios)};
}

}  // namespace pgtune::gpu
