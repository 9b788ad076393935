// SPDX-License-Identifier: MIT
// How a kernel's time settles at the power cap after a switch and after idling: a GPU's own evidence for
// docs/explanation/measuring.md, printed as tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/gpu/settling_fixture.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::array<double, 17> kUpTo_ms{10,  20,  30,   50,   75,   100,  150,  200, 250,
                                          350, 500, 1000, 1500, 2000, 3000, 4000, 6000};

/// By how much a launch takes longer than once settled, by the time since its load began.
using Curve = std::map<double, std::vector<double>>;

/// Some variants of gemm_wgmma on one problem, and what watches a load of each settle.
class CurvesAtTheCap : public SettlingOnDevice {
 protected:
  void SetUp() override {
    SettlingOnDevice::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    int max_window_bytes = 0;
    ASSERT_EQ(cudaDeviceGetAttribute(&max_window_bytes, cudaDevAttrMaxAccessPolicyWindowSize, 0), cudaSuccess);
    driver_ = Driver::load().value();
    stream_ = create_stream().value();
    kernels_ = HelperKernels::load(*driver_, info_.architecture, info_.sm_count).value();
    timer_ = SampleTimer::create(*kernels_, info_.sm_count, Telemetry()).value();
    own_ = operation_kernels(*driver_, *kernels_, problem_, info_.architecture);
    buffers_.emplace(OperandBuffers::allocate(*kernels_, *own_, {}, 2, stream_.get()).value());
    loads_ = loads(problem_);
    ASSERT_GE(loads_.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      auto loaded = LoadedVariant::load(*driver_, *kernels_, loads_[i].build, loads_[i].plan, buffers_->copies(),
                                        max_window_bytes, stream_.get());
      ASSERT_TRUE(loaded) << loaded.error().text;
      variants_.push_back(std::move(*loaded));
    }
    for (const auto& variant : variants_) series_.emplace_back(*variant, Rotation{2}, stream_.get());
  }

  /// Runs a load for `watched_s` and adds how it settled to `curve`, if any. Returns the sample at its end.
  Sample watch(std::size_t load, double watched_s, Curve* curve) {
    SettlingRule rule(watched_s);
    rule.piece_s = 5e-3;
    rule.steady = 1;  // the whole of it is watched, and no more
    const auto sample = timer_->time_settled(series_[load], 0.2e-3, 0.3, rule);
    EXPECT_TRUE(sample) << sample.error().text;
    if (!sample) return {};
    if (curve == nullptr) return *sample;
    for (const SettlingPoint& point : timer_->settling()) {
      const auto bin = std::find_if(kUpTo_ms.begin(), kUpTo_ms.end(),
                                    [&](double up_to_ms) { return point.end_s <= up_to_ms * kMilli; });
      if (bin != kUpTo_ms.end()) (*curve)[*bin].push_back(point.per_launch_s / sample->per_launch_s());
    }
    return *sample;
  }

  static void print_bins() {
    fmt::print("  up to ms");
    for (const double up_to_ms : kUpTo_ms) fmt::print(" {:>6}", up_to_ms);
    fmt::print("\n");
  }
  static void print(const Curve& curve) {
    fmt::print("          ");
    for (const double up_to_ms : kUpTo_ms) {
      const auto points = curve.find(up_to_ms);
      if (points != curve.end()) fmt::print(" {:6.3f}", stats::median(points->second));
    }
    fmt::print("\n");
  }

  const Problem problem_ = typed("4096x4096x4096", Dtype::kBf16);
  std::optional<Driver> driver_;
  Stream stream_;
  std::unique_ptr<HelperKernels> kernels_;
  std::unique_ptr<SampleTimer> timer_;
  std::unique_ptr<OperationKernels> own_;
  std::optional<OperandBuffers> buffers_;
  std::vector<Load> loads_;
  std::vector<std::unique_ptr<LoadedVariant>> variants_;
  std::vector<LaunchSeries> series_;
};

/// Time of a launch after a switch, over its time once settled.
TEST_F(CurvesAtTheCap, OfThreeKernelsAfterASwitch) {
  constexpr int kTurns = 4;
  std::array<Curve, 3> curves;
  std::array<std::vector<double>, 3> clocks_hz;
  for (int turn = 0; turn <= kTurns; ++turn) {
    for (std::size_t i = 0; i < 3; ++i) {
      // The first turn's first load follows nothing.
      const Sample sample = watch(i, 1.5, turn == 0 ? nullptr : &curves.at(i));
      if (turn > 0) clocks_hz.at(i).push_back(sample.sm_clock_hz);
    }
  }
  fmt::print("time of a launch after a switch, over its time once settled; {}, medians of {} switches\n",
             problem_.title(), kTurns);
  print_bins();
  for (std::size_t i = 0; i < 3; ++i) {
    fmt::print("{:<22} settled at {:.0f} MHz, after {}:\n", loads_[i].name, stats::median(clocks_hz.at(i)) / 1e6,
               loads_[(i + 2) % 3].name);
    print(curves.at(i));
    EXPECT_NEAR(stats::median(curves.at(i)[500]), 1, 0.01);
  }
}

/// Time of a launch after the GPU idled, over its time once settled.
TEST_F(CurvesAtTheCap, AfterIdling) {
  constexpr int kTurns = 3;
  fmt::print("time of a launch of {} after idling, over its time once settled; {}, medians of {}\n", loads_[0].name,
             problem_.title(), kTurns);
  print_bins();
  for (const int idle_ms : {100, 300, 1000, 3000}) {
    Curve curve;
    for (int turn = 0; turn < kTurns; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(idle_ms));
      watch(0, 6, &curve);
    }
    fmt::print("idle for {} ms:\n", idle_ms);
    print(curve);
    EXPECT_LT(stats::median(curve[500]), 1);           // the rule for idling is there for this
    EXPECT_NEAR(stats::median(curve[3000]), 1, 0.03);  // and leaves this
    EXPECT_NEAR(stats::median(curve[6000]), 1, 0.02);
  }
}

}  // namespace
}  // namespace pgtune::gpu
