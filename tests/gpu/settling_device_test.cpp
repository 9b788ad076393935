// SPDX-License-Identifier: MIT
// What settled samples say at the power cap, beside windows of seconds of each contender alone: a GPU's own evidence
// for docs/measurements/power-cap.md, printed as tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

/// A variant of gemm_wgmma, built for a problem.
struct Load {
  std::string name;
  Variant variant;
  LaunchPlan plan;
  BuildInfo build;
};

class SettlingOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    const auto ordinal = find_gpu("0");
    if (!ordinal) GTEST_SKIP() << "needs a GPU: " << ordinal.error().text();
    info_ = describe_gpu(*ordinal).value();
    if (info_.architecture != "sm_90a") GTEST_SKIP() << "gemm_wgmma needs sm_90a";
    auto definition = space::load_template(fs::path(PGTUNE_SOURCE_DIR) / "configs" / "gemm_wgmma.json", shipped_header);
    ASSERT_TRUE(definition) << definition.error().text();
    definition_ = std::move(*definition);
    definition_.preset.clear();
  }

  /// Tiles that differ in joules as well as in cycles; those that are legal for the problem.
  [[nodiscard]] std::vector<Load> loads(const Problem& problem) const {
    const auto space = space::enumerate(definition_, problem, info_);
    EXPECT_TRUE(space) << space.error().text();
    std::vector<Load> out;
    const auto add = [&](const std::string& name, const std::vector<Assignment>& wanted) {
      Variant like = definition_.default_variant();
      for (const Assignment& assignment : wanted) {
        for (Assignment& has : like.parameters) {
          if (has.name == assignment.name) has.value = assignment.value;
        }
      }
      const auto variant = nearest(space->variants, like, nullptr);
      if (!variant) return;
      for (const Load& load : out) {
        if (load.variant == *variant) return;
      }
      const auto plan = space::make_launch_plan(definition_, *variant, problem, info_);
      const auto defines = space::make_defines(definition_, *variant, problem, info_);
      ASSERT_TRUE(plan && defines);
      const auto done = builder_.build({1, *variant, definition_.source, *defines, info_.architecture});
      ASSERT_TRUE(done) << done.error().text();
      if (done->outcome.kind == OutcomeKind::kOk) out.push_back({name, *variant, *plan, done->build});
    };
    const auto number = [](std::string name, std::int64_t value) { return Assignment{std::move(name), value}; };
    const Assignment pingpong{"SCHEDULE", "pingpong"}, cooperative{"SCHEDULE", "cooperative"};
    add("128x256 cooperative", {cooperative, number("WARPGROUPS_M", 2), number("BN", 256)});
    add("128x192 pingpong", {pingpong, number("WARPGROUPS_M", 1), number("BN", 192), number("RASTER_GROUP", 16)});
    add("128x128 pingpong", {pingpong, number("WARPGROUPS_M", 1), number("BN", 128), number("STAGES", 6)});
    add("128x64 pingpong", {pingpong, number("WARPGROUPS_M", 1), number("BN", 64), number("STAGES", 6)});
    return out;
  }

  [[nodiscard]] static Problem typed(const std::string& shape, Dtype dtype) {
    Problem types = problem_of(shape, "nt");
    types.dtype = dtype;
    return types;
  }

  const TestFolder folder_;
  const Builder builder_{CubinCache::open(folder_.path()).value(), find_toolkit().value()};
  DeviceInfo info_;
  space::TemplateDefinition definition_;
};

constexpr double kMilli = 1e-3;
constexpr double kSettle_s = 0.5;

constexpr std::array<double, 14> kUpTo_ms{10, 20, 30, 50, 75, 100, 150, 200, 250, 350, 500, 1000, 1500, 3000};

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
    buffers_.emplace(OperandBuffers::allocate(*kernels_, problem_, {}, 2, stream_.get()).value());
    loads_ = loads(problem_);
    ASSERT_GE(loads_.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      auto loaded = LoadedVariant::load(*driver_, *kernels_, loads_[i].build, loads_[i].plan, buffers_->copies(),
                                        max_window_bytes, stream_.get());
      ASSERT_TRUE(loaded) << loaded.error().text;
      variants_.push_back(std::move(*loaded));
    }
    for (const auto& variant : variants_) series_.emplace_back(*variant, 2, stream_.get());
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
      watch(0, 3, &curve);
    }
    fmt::print("idle for {} ms:\n", idle_ms);
    print(curve);
    EXPECT_NEAR(stats::median(curve[3000]), 1, 0.015);
    EXPECT_LT(stats::median(curve[500]), 1);  // the rule for idling is there for this
  }
}

struct PairProblem {
  std::string shape;
  Dtype dtype = Dtype::kBf16;
};

class PairsAtTheCap : public SettlingOnDevice, public testing::WithParamInterface<PairProblem> {
 protected:
  struct Row {
    std::string name;
    protocol::BuiltContender contender;
    std::vector<double> alone_s, settled_s, short_s, joules, sample_joules;
    double clock_hz = 0;
  };

  void SetUp() override {
    SettlingOnDevice::SetUp();
    if (IsSkipped()) return;
    auto opened = Measurer::open("0");
    ASSERT_TRUE(opened) << opened.error().text();
    measurer_ = std::move(*opened);
  }

  void add_rows(const Problem& problem) {
    const auto report = measurer_->prepare({problem, {}});
    ASSERT_TRUE(report) << report.error().text();
    std::vector<std::size_t> algorithms(report->algorithms.size());
    for (std::size_t i = 0; i < algorithms.size(); ++i) algorithms[i] = i;
    std::stable_sort(algorithms.begin(), algorithms.end(), [&](std::size_t a, std::size_t b) {
      return report->algorithms[a].time_s < report->algorithms[b].time_s;
    });
    algorithms.resize(std::min<std::size_t>(algorithms.size(), 2));
    for (const std::size_t algorithm : algorithms)
      rows_.push_back(
          {fmt::format("cuBLASLt {}", algorithm), BaselineAlgorithm{static_cast<int>(algorithm)}, {}, {}, {}, {}, {}});
    for (const Load& load : loads(problem))
      rows_.push_back({load.name, protocol::BuiltVariant{load.variant, load.plan, load.build}, {}, {}, {}, {}, {}});
  }

  void window(Row& row) {
    const protocol::EnergyRequest request{
        .contender = row.contender, .lead_in_s = 0.5, .window_s = 3, .max_uncertainty = 0.02, .index = 0};
    const auto window = measurer_->energy(request);
    ASSERT_TRUE(window) << window.error().text();
    row.alone_s.push_back(window->per_launch_s);
    row.joules.push_back(window->energy_per_launch_j());
    row.clock_hz = window->sm_clock_hz;
  }

  void rounds(int count, bool settled, double sample_s, std::vector<double> Row::*times_s) {
    protocol::RoundRequest request;
    request.settle_s = settled ? kSettle_s : 0;
    request.sample_s = sample_s;
    for (const Row& row : rows_) {
      request.order.push_back(static_cast<int>(request.contenders.size()));
      request.contenders.push_back(row.contender);
    }
    for (request.round = 1; request.round <= count; ++request.round) {
      const auto report = measurer_->round(request);
      ASSERT_TRUE(report) << report.error().text();
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        ASSERT_TRUE(report->samples[i]) << report->outcomes[i].reason;
        const Sample& sample = *report->samples[i];
        (rows_[i].*times_s).push_back(sample.per_launch_s());
        samples_.push_back(sample);
        if (sample.lead_in_s) lead_ins_s_.push_back(*sample.lead_in_s);
        if (sample.power_w) rows_[i].sample_joules.push_back(*sample.power_w * sample.per_launch_s());
      }
      std::shuffle(request.order.begin(), request.order.end(), random_);  // other predecessors
    }
  }

  std::unique_ptr<Measurer> measurer_;
  std::vector<Row> rows_;
  std::vector<double> lead_ins_s_;
  std::vector<Sample> samples_;  ///< of every round, in the rows' order
  std::mt19937 random_{1};
};

TEST_P(PairsAtTheCap, ASettledRatioIsTheRatioOfWindowsOfSecondsAlone) {
  constexpr double kAgree = 0.005;
  const Problem problem = typed(GetParam().shape, GetParam().dtype);
  add_rows(problem);
  if (HasFatalFailure()) return;
  ASSERT_GE(rows_.size(), 4U);
  // Forwards and backwards, so that warming up cancels.
  for (Row& row : rows_) window(row);
  rounds(12, false, 20e-3, &Row::short_s);
  rounds(8, true, 0.25, &Row::settled_s);
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) window(*row);
  const Row& baseline = rows_.front();
  const auto ratio = [&](const Row& row, std::vector<double> Row::*times) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < (row.*times).size(); ++i) ratios.push_back((baseline.*times)[i] / (row.*times)[i]);
    return stats::median(ratios);
  };
  fmt::print("{}: speed over {}'s; lead-ins of {:.0f} ms (median), at most {:.0f}\n", problem.title(), baseline.name,
             stats::median(lead_ins_s_) / kMilli, *std::max_element(lead_ins_s_.begin(), lead_ins_s_.end()) / kMilli);
  fmt::print("{:<22} {:>9} {:>6} {:>8} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "", "alone us", "MHz", "joules", "J/J",
             "alone", "settled", "short", "J settled", "spread %");
  for (const Row& row : rows_) {
    const double joules = stats::median(row.joules);
    fmt::print("{:<22} {:9.1f} {:6.0f} {:8.4f} {:6.3f} {:8.4f} {:8.4f} {:8.4f} {:8.4f} {:8.2f}\n", row.name,
               stats::median(row.alone_s) * 1e6, row.clock_hz / 1e6, joules, joules / stats::median(baseline.joules),
               ratio(row, &Row::alone_s), ratio(row, &Row::settled_s), ratio(row, &Row::short_s),
               row.sample_joules.empty() ? 0 : stats::median(row.sample_joules),
               100 * (*std::max_element(row.settled_s.begin(), row.settled_s.end()) /
                          *std::min_element(row.settled_s.begin(), row.settled_s.end()) -
                      1));
    for (const double t : row.settled_s) fmt::print(" {:.1f}", t * 1e6);
    fmt::print("\n");
  }
  for (const Row& row : rows_)
    EXPECT_NEAR(ratio(row, &Row::settled_s) / ratio(row, &Row::alone_s), 1, kAgree) << row.name;
}

/// Several sets of operands, each where it happens to lie in memory, forwards and backwards.
TEST_P(PairsAtTheCap, ASettledRatioIsTheSameWhereverTheOperandsLie) {
  constexpr std::size_t kPlaces = 4;
  constexpr double kAgree = 0.015;  // medians of eight rounds each, whose ratios spread by 0.7 %
  const Problem problem = typed(GetParam().shape, GetParam().dtype);
  std::array<std::unique_ptr<Measurer>, kPlaces> places;
  for (auto& place : places) {
    place = std::move(Measurer::open("0").value());
    const auto report = place->prepare({problem, {}});
    ASSERT_TRUE(report) << report.error().text();
  }
  rows_.push_back({"cuBLASLt 0", BaselineAlgorithm{0}, {}, {}, {}, {}, {}});
  for (const Load& load : loads(problem))
    rows_.push_back({load.name, protocol::BuiltVariant{load.variant, load.plan, load.build}, {}, {}, {}, {}, {}});
  std::vector<std::array<std::vector<double>, kPlaces>> ratios(rows_.size());
  for (std::size_t turn = 0; turn < 2 * kPlaces; ++turn) {
    const std::size_t place = turn < kPlaces ? turn : 2 * kPlaces - 1 - turn;
    measurer_ = std::move(places.at(place));
    for (Row& row : rows_) row.settled_s.clear();
    samples_.clear();
    rounds(4, true, 0.25, &Row::settled_s);
    places.at(place) = std::move(measurer_);
    if (HasFatalFailure()) return;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double median_s = stats::median(rows_[i].settled_s);
      for (std::size_t r = 0; r < rows_[i].settled_s.size(); ++r) {
        ratios[i].at(place).push_back(rows_[0].settled_s[r] / rows_[i].settled_s[r]);
        const Sample& s = samples_[r * rows_.size() + i];
        if (std::abs(s.per_launch_s() / median_s - 1) > 0.015)
          fmt::print(
              "  place {} turn {} round {} position {}: {} {:.1f} us, median {:.1f}; {:.0f} MHz, lead-in {:.0f} ms, "
              "{:.0f} W, capped {:.0f} ms, thermal {:.0f} ms, {:.0f} C\n",
              place, turn, s.round, s.position, rows_[i].name, s.per_launch_s() * 1e6, median_s * 1e6,
              s.sm_clock_hz / 1e6, s.lead_in_s.value_or(0) / kMilli, s.power_w.value_or(0),
              s.power_cap_s.value_or(0) / kMilli, s.thermal_s.value_or(0) / kMilli, s.temperature_c.value_or(0));
      }
    }
  }
  fmt::print("{}: speed over {}'s in {} places\n", problem.title(), rows_.front().name, kPlaces);
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    fmt::print("{:<22}", rows_[i].name);
    std::array<double, kPlaces> medians{};
    for (std::size_t place = 0; place < kPlaces; ++place) {
      medians.at(place) = stats::median(ratios[i].at(place));
      fmt::print(" {:.4f}", medians.at(place));
    }
    fmt::print("\n");
    const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
    EXPECT_LT(*most / *least - 1, kAgree) << rows_[i].name;
  }
}

std::string pair_name(const testing::TestParamInfo<PairProblem>& info) {
  return std::string(to_string(info.param.dtype)) + "_" + info.param.shape.substr(0, info.param.shape.find('x'));
}

INSTANTIATE_TEST_SUITE_P(
    All, PairsAtTheCap,
    testing::Values(PairProblem{"4096x4096x4096", Dtype::kBf16}, PairProblem{"4096x4096x4096", Dtype::kE4m3},
                    PairProblem{"4096x4096x4096", Dtype::kTf32}, PairProblem{"8192x8192x8192", Dtype::kBf16},
                    PairProblem{"8192x8192x8192", Dtype::kE4m3}, PairProblem{"8192x8192x8192", Dtype::kTf32}),
    pair_name);

}  // namespace
}  // namespace pgtune::gpu
