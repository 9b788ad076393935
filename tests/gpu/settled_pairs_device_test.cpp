// SPDX-License-Identifier: MIT
// What settled samples say at the power cap, beside windows of seconds of each contender alone: a GPU's own evidence
// for docs/explanation/measuring.md, printed as tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/settling_fixture.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::gpu {
namespace {

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
  rounds(12, false, 20e-3, &Row::short_s);
  // Forwards and backwards, so that warming up cancels; twice, as eight settled samples of a contender spread by 2 %.
  for (int pass = 0; pass < 2; ++pass) {
    for (Row& row : rows_) window(row);
    rounds(8, true, 0.25, &Row::settled_s);
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) window(*row);
  }
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
    const auto report = place->prepare({as_sent(problem), {}});
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
