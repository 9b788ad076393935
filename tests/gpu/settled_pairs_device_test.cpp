// SPDX-License-Identifier: MIT
// What settled samples say at the power cap, beside windows of seconds of each contender alone: a GPU's own evidence
// for docs/measurements/power-cap.md, printed as tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kMilli = 1e-3;

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
    auto definition =
        space::load_template(std::filesystem::path(PGTUNE_SOURCE_DIR) / "configs" / "gemm_wgmma.json", shipped_header);
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

constexpr double kSettle_s = 0.5;

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
    const auto report = measurer_->prepare({as_sent(problem), {}});
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
        if (sample.lead_in_s) lead_ins_s_.push_back(*sample.lead_in_s);
        if (sample.power_w) rows_[i].sample_joules.push_back(*sample.power_w * sample.per_launch_s());
      }
      std::shuffle(request.order.begin(), request.order.end(), random_);  // other predecessors
    }
  }

  std::unique_ptr<Measurer> measurer_;
  std::vector<Row> rows_;
  std::vector<double> lead_ins_s_;
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
