// SPDX-License-Identifier: MIT
// How launches that are compared reach the GPU, on a simulated one: one by one or in graphs, the same for all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/simulated_gpu.hpp"
#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/measure/round.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

using simulated::Kernel;
using testing::Each;
using testing::ElementsAre;

class OnSimulatedGpu : public testing::Test {
 protected:
  void SetUp() override {
    simulated::reset();
    timer_ = SampleTimer::create(ClockMeter(), Telemetry(), &simulated::host_s).value();
  }
  void TearDown() override {
    series_.clear();
    EXPECT_EQ(simulated::live_graphs(), 0);
  }

  /// A calibrated series of the rotation that all of a test share.
  LaunchSeries& calibrated(Kernel& kernel) {
    LaunchSeries& series = series_.emplace_back(kernel, rotation_, nullptr);
    EXPECT_TRUE(calibrate(series, *timer_));
    return series;
  }
  /// Of contenders in their order; those without a sample are left out.
  std::vector<Sample> round_of(const std::vector<RoundContender>& contenders, double settle_s = 0) {
    protocol::RoundRequest request;
    for (int i = 0; i < static_cast<int>(contenders.size()); ++i) request.order.push_back(i);
    request.settle_s = settle_s;
    timed_ = time_round(contenders, request, Regime::kSustained, *timer_);
    std::vector<Sample> samples;
    for (const auto& sample : timed_) {
      if (sample && *sample) samples.push_back(**sample);
    }
    return samples;
  }
  static std::vector<bool> ways(const std::vector<Sample>& samples) {
    std::vector<bool> out;
    for (const Sample& sample : samples) out.push_back(sample.graph);
    return out;
  }

  std::unique_ptr<SampleTimer> timer_;
  Rotation rotation_{4};
  std::deque<LaunchSeries> series_;
  std::vector<std::optional<CudaResult<Sample>>> timed_;
};

TEST_F(OnSimulatedGpu, TheFirstContendersTimeChoosesForThoseOnTheOtherSideOfTheLimit) {
  for (const double first_s : {19e-6, 21e-6}) {
    rotation_ = Rotation{4};
    Kernel first(first_s), shorter(15e-6), longer(30e-6);
    std::vector<RoundContender> contenders;
    for (Kernel* kernel : {&first, &shorter, &longer}) contenders.push_back({&calibrated(*kernel), 20e-6});
    const auto samples = round_of(contenders);
    ASSERT_EQ(samples.size(), 3U);
    EXPECT_THAT(ways(samples), Each(first_s < 20e-6));
    const double saved_s = first_s < 20e-6 ? 2e-6 : 0;
    EXPECT_NEAR(samples[1].per_launch_s(), 15e-6 - saved_s, 1e-7);
    EXPECT_NEAR(samples[2].per_launch_s(), 30e-6 - saved_s, 1e-7);
  }
}

TEST_F(OnSimulatedGpu, AContenderFarSlowerThanWhatGraphsAreForGetsItsGraphOnlyInARound) {
  Kernel first(10e-6), slow(150e-6);
  LaunchSeries& fast_series = calibrated(first);
  LaunchSeries& slow_series = calibrated(slow);
  EXPECT_TRUE(fast_series.captured());
  EXPECT_FALSE(slow_series.captured());
  EXPECT_THAT(ways(round_of({{&fast_series, 10e-6}, {&slow_series, 150e-6}})), ElementsAre(true, true));
}

/// However many copies the launches go over: a graph of a hundred launches would take ten times the sample.
TEST_F(OnSimulatedGpu, SamplesOfSlowContendersInGraphsAreAsLongAsOthers) {
  for (const std::size_t copies : {1, 4, 100, 1000}) {
    rotation_ = Rotation{copies};
    Kernel first(10e-6), slow(2e-3);
    LaunchSeries& fast_series = calibrated(first);
    LaunchSeries& slow_series = calibrated(slow);
    const auto samples = round_of({{&fast_series, 10e-6}, {&slow_series, 2e-3}});
    EXPECT_THAT(ways(samples), ElementsAre(true, true));
    for (const Sample& sample : samples) EXPECT_NEAR(sample.time_s, 20e-3, 5e-3) << copies << " copies";
    EXPECT_GE(fast_series.granule(), 64);
    EXPECT_LE(slow_series.granule(), 4);
  }
}

/// A launch on what the one before has left would have nothing to do.
TEST_F(OnSimulatedGpu, LaunchesThatReadWhatTheyWriteFindTheirDataRestoredAndOnlyTheyAreTimed) {
  for (const double launch_s : {10e-6, 30e-6}) {
    rotation_ = Rotation{4};
    int restored = 0, launched = 0;
    const bool in_graphs = launch_s < 20e-6;  // whose launches take what they took when they were captured
    Kernel restorer(50e-6), kernel([&] { return in_graphs || restored-- > 0 ? launch_s : 1e-9; });
    rotation_.restore = [&](std::size_t copy, cudaStream_t stream) {
      restored = copy == 0 ? 1 : restored + 1;
      ++launched;
      return restorer.launch(copy, stream);
    };
    LaunchSeries& series = calibrated(kernel);
    EXPECT_EQ(series.captured(), in_graphs);
    launched = 0;
    for (const std::int64_t launches : {3, 16, 400}) {
      const auto sample = timer_->time(series, launches, 2);
      ASSERT_TRUE(sample) << sample.error().text;
      EXPECT_NEAR(sample->per_launch_s(), launch_s - (in_graphs ? 2e-6 : 0), 2e-7) << launches;
      EXPECT_GE(sample->launches, launches);
      EXPECT_LT(sample->launches, launches + 4);
    }
    EXPECT_NEAR(launched, 3 + 16 + 400 + 3 * 2, 16) << "each copy is restored once a turn";
    const auto settled = timer_->time_settled(series, launch_s, 20e-3, SettlingRule(0.05));
    ASSERT_TRUE(settled) << settled.error().text;
    EXPECT_NEAR(settled->per_launch_s(), launch_s - (in_graphs ? 2e-6 : 0), 2e-7);
    EXPECT_FALSE(settled->power_w);
  }
}

/// Takes 30 us, and the host 3 us to launch it, or so long in the next `late` launches.
struct LateHost {
  int late = 0;
  double late_s = 1e-3;
  Kernel kernel{[] { return 30e-6; }, [this] { return late-- > 0 ? late_s : 3e-6; }};
};

TEST_F(OnSimulatedGpu, AHostThatIsLateOnceChangesNothing) {
  LateHost host;
  LaunchSeries& series = calibrated(host.kernel);
  host.late = 10;  // all launches of the sample
  const auto sample = timer_->time(series, 10);
  ASSERT_TRUE(sample) << sample.error().text;
  EXPECT_FALSE(sample->graph);
  EXPECT_FALSE(series.mode().in_graphs());
  EXPECT_NEAR(sample->per_launch_s(), 30e-6, 4e-7) << "the late sample is void";
}

/// The queue holds 31 ms of launches, and the host is away for 60: at the sample's end it is ahead again.
TEST_F(OnSimulatedGpu, AHostThatIsLateOnTheWayMakesASampleVoid) {
  for (const int late : {1, 2}) {
    rotation_ = Rotation{4};
    int launched = 0, left = late;
    Kernel kernel([] { return 30e-6; }, [&] { return ++launched % 8000 == 4000 && left-- > 0 ? 60e-3 : 3e-6; });
    LaunchSeries& series = calibrated(kernel);
    launched = 0;
    const auto sample = timer_->time(series, 8000);
    ASSERT_TRUE(sample) << sample.error().text;
    EXPECT_EQ(sample->graph, late == 2);
    EXPECT_NEAR(sample->per_launch_s(), late == 2 ? 28e-6 : 30e-6, 1e-7);
  }
}

TEST_F(OnSimulatedGpu, AProbeOfAFewLaunchesThatTheHostInterruptsChoosesNothing) {
  for (const int before : {0, 1, 5, 12}) {
    rotation_ = Rotation{4};
    int launched = 0;
    // Compilers are busy beside: the probe of 300 us, which follows a warm-up and one launch, takes a millisecond.
    Kernel kernel([] { return 30e-6; }, [&] { return launched++ == 2 + before ? 1e-3 : 3e-6; });
    EXPECT_FALSE(calibrated(kernel).captured()) << before;
  }
}

/// What is left of a lead-in of 30 ms and what is enqueued ahead fill the queue, so that the host waits all the time.
TEST_F(OnSimulatedGpu, AHostThatWaitsForRoomInTheQueueIsNotTooSlow) {
  for (const double launch_s : {20.5e-6, 30e-6, 60e-6, 240e-6}) {
    rotation_ = Rotation{4};
    Kernel kernel(launch_s);
    LaunchSeries& series = calibrated(kernel);
    for (int i = 0; i < 4; ++i) {
      const auto sample = timer_->time_settled(series, launch_s, 0.25, SettlingRule(0.5));
      ASSERT_TRUE(sample) << sample.error().text;
      EXPECT_FALSE(sample->graph) << launch_s;
      EXPECT_NEAR(sample->per_launch_s(), launch_s, 1e-8);
    }
  }
}

TEST_F(OnSimulatedGpu, AHostThatIsTooSlowPutsAllOfARoundIntoGraphs) {
  for (const double settle_s : {0.0, 0.5}) {
    rotation_ = Rotation{4};
    Kernel first(25e-6), last(28e-6);
    LateHost host;
    LaunchSeries& first_series = calibrated(first);
    LaunchSeries& slow_series = calibrated(host.kernel);
    LaunchSeries& last_series = calibrated(last);
    EXPECT_FALSE(first_series.captured() || slow_series.captured() || last_series.captured());
    host.late_s = 40e-6;
    host.late = 1 << 30;
    const auto samples = round_of({{&first_series, 25e-6}, {&slow_series, 30e-6}, {&last_series, 28e-6}}, settle_s);
    ASSERT_EQ(samples.size(), 3U);
    EXPECT_THAT(ways(samples), Each(true)) << "the first one was timed one by one at first";
    EXPECT_NEAR(samples[0].per_launch_s(), 23e-6, 1e-7);
    EXPECT_NEAR(samples[1].per_launch_s(), 28e-6, 1e-7);
    EXPECT_THAT(samples, ElementsAre(testing::Field(&Sample::position, 0), testing::Field(&Sample::position, 1),
                                     testing::Field(&Sample::position, 2)));
  }
}

TEST_F(OnSimulatedGpu, WhoFailedStaysOutOfTheRoundThatIsTimedAgain) {
  Kernel first(25e-6), failing(26e-6);
  LateHost host;
  LaunchSeries& first_series = calibrated(first);
  LaunchSeries& failing_series = calibrated(failing);
  LaunchSeries& slow_series = calibrated(host.kernel);
  host.late_s = 40e-6;
  host.late = 1 << 30;
  failing.fail_with({1, "cudaErrorInvalidValue", "invalid argument", "launching it", false});
  EXPECT_THAT(ways(round_of({{&first_series, 25e-6}, {&failing_series, 26e-6}, {&slow_series, 30e-6}})),
              ElementsAre(true, true));
  ASSERT_TRUE(timed_[1]);
  ASSERT_FALSE(*timed_[1]);
  EXPECT_EQ(timed_[1]->error().call, "launching it");
  EXPECT_FALSE(failing_series.captured());
}

TEST_F(OnSimulatedGpu, AfterALostContextNobodyIsTimed) {
  Kernel first(25e-6), failing(26e-6), last(28e-6);
  const std::vector<RoundContender> contenders{
      {&calibrated(first), 25e-6}, {&calibrated(failing), 26e-6}, {nullptr, 0}, {&calibrated(last), 28e-6}};
  failing.fail_with({700, "cudaErrorIllegalAddress", "an illegal address", "launching it", true});
  EXPECT_EQ(round_of(contenders).size(), 1U);
  EXPECT_TRUE(timed_[0] && *timed_[0]);
  EXPECT_TRUE(timed_[1] && !*timed_[1]);
  EXPECT_FALSE(timed_[2]);
  EXPECT_FALSE(timed_[3]);
}

/// Adds kernels as it is told, without a check.
class OwnBaseline final : public Baseline {
 public:
  explicit OwnBaseline(const Rotation& rotation) : Baseline(rotation, nullptr) {}
  void add_kernel(std::unique_ptr<Kernel> kernel, SampleTimer& timer) {
    EXPECT_EQ(add(std::move(kernel), {}, "", nullptr, timer).value(), "");
  }
  void finish() { Baseline::finish("own", 1); }
  void go_on_from(const BaselineReport& report, std::unique_ptr<Kernel> kernel, SampleTimer& timer) {
    EXPECT_TRUE(restore({report, {""}}, [&](const std::string&) { return std::move(kernel); }));
    EXPECT_TRUE(warm_up(nullptr, timer));
  }
  Result<void> find(const BaselineParts&) override { return {}; }
  Result<std::unique_ptr<Launchable>> launchable(const BaselineParts&, const std::string&) override {
    return unreadable();
  }
};

/// Slower by half until the GPU has worked for 20 ms.
std::unique_ptr<Kernel> kernel_of(double warm_s) {
  return std::make_unique<Kernel>([warm_s] { return warm_s * (simulated::gpu_s() < 20e-3 ? 1.5 : 1); },
                                  [] { return 3e-6; });
}

TEST_F(OnSimulatedGpu, ABaselineChoosesOnceTheClocksHaveRisen) {
  OwnBaseline baseline(rotation_);
  baseline.add_kernel(kernel_of(15e-6), *timer_);  // 22.5 us at first
  baseline.add_kernel(kernel_of(40e-6), *timer_);
  baseline.finish();
  EXPECT_TRUE(baseline.report().in_graphs);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto series = baseline.series(i, *timer_);
    ASSERT_TRUE(series);
    EXPECT_TRUE((*series)->captured()) << i;
  }
  Kernel variant(35e-6);
  EXPECT_TRUE(calibrated(variant).captured());
}

TEST_F(OnSimulatedGpu, ABaselineThatIsTakenOverGoesOnInItsMode) {
  for (const bool in_graphs : {false, true}) {
    simulated::reset();
    BaselineReport before;
    before.algorithms.resize(1);
    before.algorithms[0].time_s = 20e-6;
    before.in_graphs = in_graphs;
    OwnBaseline baseline{Rotation{4}};
    // On the other side of the limit than what was decided.
    baseline.go_on_from(before, std::make_unique<Kernel>(in_graphs ? 21e-6 : 19e-6), *timer_);
    const auto series = baseline.series(0, *timer_);
    ASSERT_TRUE(series);
    EXPECT_EQ((*series)->captured(), in_graphs);
    EXPECT_EQ(baseline.report().in_graphs, in_graphs);
  }
}

/// One launch alone, from which estimates come, waits for its host and finds a cold cache.
TEST_F(OnSimulatedGpu, ASettledSampleIsAsLongAsAskedHoweverWrongTheEstimate) {
  for (const double estimate_s : {20e-6, 100e-6, 600e-6}) {
    Kernel kernel(100e-6);
    const auto sample = timer_->time_settled(calibrated(kernel), estimate_s, 0.25, SettlingRule(0.5));
    ASSERT_TRUE(sample) << sample.error().text;
    EXPECT_GE(sample->time_s, 0.25) << estimate_s;
    EXPECT_LE(sample->time_s, 0.26) << estimate_s;
  }
}

TEST_F(OnSimulatedGpu, ASettledSampleAfterAPauseHasALongerLeadIn) {
  Kernel kernel(100e-6);
  LaunchSeries& series = calibrated(kernel);
  const SettlingRule rule(0.5);
  const auto lead_in_after = [&](double pause_s) {
    simulated::host_works(pause_s);
    const auto sample = timer_->time_settled(series, 100e-6, 0.25, rule);
    return sample ? sample->lead_in_s.value_or(-1) : -1;
  };
  EXPECT_GE(lead_in_after(0), kLeadInAfterIdling_s) << "the first";
  EXPECT_NEAR(lead_in_after(1e-3), 0.55, 0.05);
  EXPECT_GE(lead_in_after(0.1), kLeadInAfterIdling_s);
  EXPECT_NEAR(lead_in_after(1e-3), 0.55, 0.05);
}

}  // namespace
}  // namespace pgtune::gpu
