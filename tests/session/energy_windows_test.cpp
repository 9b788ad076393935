// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr BaselineAlgorithm kBaselineAlgorithm{1};

protocol::BuiltVariant contender(std::int64_t a) {
  protocol::BuiltVariant out;
  out.variant = {"fake", {{"A", a}, {"B", std::int64_t{1}}}};
  out.build.cubin_hash = "cubin";
  return out;
}

std::string name(const protocol::EnergyRequest& request) {
  if (!request.contender) return "idle";
  const auto* const built = variant_of(*request.contender);
  return built == nullptr ? "ref" : built->variant.key();
}

EnergyWindow window(double power_w, double per_launch_s) {
  EnergyWindow out;
  out.window_s = 5;
  out.energy_j = power_w * out.window_s;
  out.per_launch_s = per_launch_s;
  out.launches = per_launch_s > 0 ? 5000 : 0;
  return out;
}

/// Idle 80 W; the baseline draws 600 W for 1 ms; the variant A=a draws 500 W for a ms.
Result<EnergyWindow> plain_energy(const protocol::EnergyRequest& request) {
  if (!request.contender) return window(80, 0);
  const auto* const built = variant_of(*request.contender);
  if (built == nullptr) return window(600, 1e-3);
  return window(500, 1e-3 * static_cast<double>(parameter(built->variant, "A")));
}

struct EnergyTrial {
  TestSearch search;
  FakeDevice device = search.device();
  std::vector<protocol::BuiltVariant> variants{contender(1), contender(2), contender(3)};

  EnergyTrial() { device.energy = plain_energy; }

  Result<EnergyResult> run() {
    const Clock clock{[this] { return device.now_s; }, [] { return std::string(); }, [](double) {}};
    const SessionContext context{search.problem, search.definition, device, search.store,
                                 search.options, search.stop,       clock,  device.now_s};
    const ProgressCallback callback = [this](const Progress& update) { search.progress.push_back(update); };
    ProgressReporter progress(context, callback);
    return measure_energy(context, progress, variants, kBaselineAlgorithm);
  }

  [[nodiscard]] std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const protocol::EnergyRequest& request : device.energy_requests) names.push_back(name(request));
    return names;
  }
};

TEST(EnergyStage, EveryPassLiesBetweenTwoWindowsOfTheBaseline) {
  EnergyTrial stage;
  ASSERT_TRUE(stage.run());
  const auto order = stage.order();
  ASSERT_EQ(order.size(), 2U + 3 * 4);
  EXPECT_EQ(order[0], "idle");
  EXPECT_EQ(order[1], "ref");
  std::vector<std::vector<std::string>> passes;
  for (std::size_t start = 2; start < order.size(); start += 4) {
    passes.emplace_back(order.begin() + static_cast<long>(start), order.begin() + static_cast<long>(start + 3));
    EXPECT_EQ(order[start + 3], "ref");
    EXPECT_THAT(passes.back(), testing::UnorderedElementsAre("A=1,B=1", "A=2,B=1", "A=3,B=1"));
  }
  EXPECT_FALSE(passes[0] == passes[1] && passes[1] == passes[2]) << "the passes are not shuffled";
}

TEST(EnergyStage, TheSeedDecidesTheOrder) {
  EnergyTrial first, same, other;
  other.search.options.seed = 77;
  ASSERT_TRUE(first.run() && same.run() && other.run());
  EXPECT_EQ(first.order(), same.order());
  EXPECT_NE(first.order(), other.order());
}

TEST(EnergyStage, WindowsAreNumberedAndTheFirstLoadWarmsUpLonger) {
  EnergyTrial stage;
  ASSERT_TRUE(stage.run());
  std::map<std::string, std::vector<int>> indices;
  for (const protocol::EnergyRequest& request : stage.device.energy_requests) {
    indices[name(request)].push_back(request.index);
  }
  EXPECT_THAT(indices["idle"], ElementsAre(0));
  EXPECT_THAT(indices["ref"], ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(indices["A=2,B=1"], ElementsAre(0, 1, 2));
  EXPECT_GT(stage.device.energy_requests[1].lead_in_s, stage.device.energy_requests[2].lead_in_s);
  EXPECT_EQ(protocol::contender_of(*stage.device.energy_requests[1].contender), Contender(kBaselineAlgorithm));
}

TEST(EnergyStage, SummariesAndRatiosToTheBaseline) {
  EnergyTrial stage;
  const auto result = stage.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->idle_power_w, 80);
  ASSERT_TRUE(result->baseline);
  EXPECT_EQ(result->baseline->windows, 4);
  EXPECT_DOUBLE_EQ(result->baseline->energy_j, 0.6);
  EXPECT_EQ(result->baseline->ratio_to_baseline, 0);
  ASSERT_EQ(result->variants.size(), 3U);
  ASSERT_TRUE(result->variants[1]);
  EXPECT_EQ(result->variants[1]->windows, 3);
  EXPECT_DOUBLE_EQ(result->variants[1]->energy_j, 1.0);
  EXPECT_DOUBLE_EQ(result->variants[1]->ratio_to_baseline, 0.6);
  EXPECT_THAT(result->notes, IsEmpty());
  EXPECT_FALSE(result->interrupted);
}

TEST(EnergyStage, DriftCancelsInTheRatio) {
  EnergyTrial stage;
  stage.variants = {contender(1)};
  double leakage = 1;  // grows by as much from window to window
  stage.device.energy = [&](const protocol::EnergyRequest& request) {
    auto out = plain_energy(request);
    out->energy_j *= leakage;
    leakage += 0.01;
    return out;
  };
  const auto result = stage.run();
  ASSERT_TRUE(result && result->variants[0]);
  EXPECT_GT(result->variants[0]->high_j / result->variants[0]->low_j, 1.03);
  EXPECT_NEAR(result->variants[0]->ratio_low, 1.2, 1e-9);
  EXPECT_NEAR(result->variants[0]->ratio_high, 1.2, 1e-9);
}

TEST(EnergyStage, EveryWindowIsSavedAtOnce) {
  EnergyTrial stage;
  std::vector<std::size_t> saved;
  stage.device.energy = [&](const protocol::EnergyRequest& request) {
    saved.push_back(stage.search.store.energy.size());
    return plain_energy(request);
  };
  ASSERT_TRUE(stage.run());
  for (std::size_t i = 0; i < saved.size(); ++i) EXPECT_EQ(saved[i], i);
  const auto& records = stage.search.store.energy;
  ASSERT_EQ(records.size(), 14U);
  EXPECT_FALSE(records[0].contender);
  EXPECT_EQ(records[0].window, window(80, 0));
  EXPECT_EQ(records[1].contender, Contender(kBaselineAlgorithm));
  ASSERT_TRUE(records[2].contender);
  EXPECT_NE(variant_of(*records[2].contender), nullptr);
  EXPECT_EQ(records.back().index, 3);
}

TEST(EnergyStage, WithoutACounterTheStageEndsWithANote) {
  EnergyTrial stage;
  stage.device.energy = {};
  const auto result = stage.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(stage.order(), std::vector<std::string>{"idle"});
  EXPECT_THAT(result->notes, ElementsAre("energy was not measured: the fake GPU has no energy counter"));
  ASSERT_EQ(result->variants.size(), 3U);
  EXPECT_FALSE(result->variants[0] || result->variants[1] || result->variants[2]);
  EXPECT_FALSE(result->idle_power_w || result->baseline || result->interrupted);
}

TEST(EnergyStage, AWindowTooShortIsTheCallersError) {
  EnergyTrial stage;
  stage.device.energy = [](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
    if (request.contender) return fail(ErrorKind::kUsage, "5 s are too short for 1 %: 12 s would do");
    return plain_energy(request);
  };
  const auto result = stage.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(result.error().text(), "measuring energy: 5 s are too short for 1 %: 12 s would do");
}

TEST(EnergyStage, AVariantThatFailsLeavesTheOthersTheirs) {
  for (const ErrorKind kind : {ErrorKind::kInternal, ErrorKind::kEnvironment}) {
    EnergyTrial stage;
    stage.device.energy = [&](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
      if (name(request) == "A=2,B=1" && request.index == 1) return fail(kind, "illegal address");
      return plain_energy(request);
    };
    const auto result = stage.run();
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->variants[0] && result->variants[2]);
    EXPECT_FALSE(result->variants[1]);
    EXPECT_EQ(result->variants[2]->windows, 3);
    EXPECT_THAT(result->notes, ElementsAre("the energy of A=2,B=1 was not measured: illegal address"));
    EXPECT_EQ(std::count_if(stage.device.energy_requests.begin(), stage.device.energy_requests.end(),
                            [](const auto& request) { return name(request) == "A=2,B=1"; }),
              2);
  }
}

TEST(EnergyStage, ABaselineThatFailsCostsTheRatiosNotTheVariants) {
  for (const int fails_at : {0, 1}) {
    EnergyTrial stage;
    stage.device.energy = [&](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
      if (name(request) == "ref" && request.index == fails_at) return fail(ErrorKind::kInternal, "crashed");
      return plain_energy(request);
    };
    const auto result = stage.run();
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->baseline);
    ASSERT_TRUE(result->variants[0]);
    EXPECT_EQ(result->variants[0]->windows, 3);
    EXPECT_DOUBLE_EQ(result->variants[0]->ratio_to_baseline, fails_at == 0 ? 0 : 1.2);
    EXPECT_THAT(result->notes, ElementsAre(HasSubstr("energy of the baseline")));
  }
}

TEST(EnergyStage, AnEnvironmentErrorLaterKeepsWhatIsThere) {
  EnergyTrial stage;
  stage.device.energy = [](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
    if (name(request) == "ref" && request.index == 1) return fail(ErrorKind::kEnvironment, "the GPU is lost");
    return plain_energy(request);
  };
  const auto result = stage.run();
  ASSERT_TRUE(result && result->variants[0]);
  EXPECT_EQ(result->variants[0]->windows, 1);
  EXPECT_DOUBLE_EQ(result->variants[0]->ratio_to_baseline, 1.2) << "the neighbour before it counts alone";
  EXPECT_THAT(result->notes, ElementsAre("energy was not wholly measured: the GPU is lost"));
}

TEST(EnergyStage, AStopKeepsWhatIsThere) {
  EnergyTrial stage;
  stage.device.energy = [&](const protocol::EnergyRequest& request) {
    if (stage.device.energy_requests.size() == 6) stage.search.stop = true;
    return plain_energy(request);
  };
  const auto result = stage.run();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(stage.device.energy_requests.size(), 6U);
  EXPECT_EQ(stage.search.store.energy.size(), 6U);
  EXPECT_TRUE(result->variants[0]);
}

TEST(EnergyStage, AnErrorAfterAStopBlamesNobody) {
  EnergyTrial stage;
  stage.device.energy = [&](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
    if (!request.contender) return plain_energy(request);
    stage.search.stop = true;
    return fail(ErrorKind::kEnvironment, "the worker was interrupted");
  };
  const auto result = stage.run();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_THAT(result->notes, IsEmpty());
}

TEST(EnergyStage, ATimeBudgetEndsItBeforeAWindowThatWouldNotFit) {
  EnergyTrial stage;
  stage.search.options.budget.seconds = 50;  // idle 10 s, the first load 15 s, then windows of 7 s
  const auto result = stage.run();
  ASSERT_TRUE(result);
  EXPECT_LE(stage.device.now_s, 50);
  EXPECT_EQ(stage.device.energy_requests.size(), 5U);
  EXPECT_TRUE(result->variants[0] && result->variants[1] && result->variants[2]);
  EXPECT_FALSE(result->interrupted);
  EXPECT_THAT(result->notes, ElementsAre(HasSubstr("5 of its 14 windows: the time budget was over")));
}

TEST(EnergyStage, ABudgetTooShortForAnyLoadIsToldBeforeItIsTried) {
  EnergyTrial stage;
  stage.search.options.budget.seconds = 12;
  const auto result = stage.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(stage.order(), std::vector<std::string>{"idle"});
  EXPECT_THAT(result->notes, ElementsAre(HasSubstr("1 of its 14 windows")));
}

TEST(EnergyStage, ItsLengthIsKnownBefore) {
  EnergyTrial stage;
  ASSERT_TRUE(stage.run());
  EXPECT_DOUBLE_EQ(stage.device.now_s, expected_energy_s(3));
}

TEST(EnergyStage, ProgressCountsWindows) {
  EnergyTrial stage;
  ASSERT_TRUE(stage.run());
  std::vector<Progress> energy;
  for (const Progress& update : stage.search.progress) {
    if (update.phase == Progress::Phase::kEnergy) energy.push_back(update);
  }
  ASSERT_EQ(energy.size(), 15U);
  EXPECT_EQ(energy.front().round, 0);
  EXPECT_EQ(energy.front().rounds, 14);
  EXPECT_EQ(energy.front().contenders, 3);
  EXPECT_NEAR(energy.front().remaining_s.value(), 10 + 15 + 12 * 7, 1e-9);
  EXPECT_EQ(energy.back().round, 14);
  EXPECT_EQ(energy.back().remaining_s, 0);
  for (std::size_t i = 1; i < energy.size(); ++i) EXPECT_LT(energy[i].remaining_s, energy[i - 1].remaining_s);
}

TEST(EnergyStage, NotesTellWhatSpoilsTheFigures) {
  EnergyTrial stage;
  stage.search.options.conditions.regime = Regime::kBurst;
  stage.device.energy = [](const protocol::EnergyRequest& request) {
    auto out = plain_energy(request);
    if (request.index != 1) return out;
    if (name(request) == "A=1,B=1") out->averaged_power_w = 400;  // the counter says 500
    if (name(request) == "A=3,B=1") out->thermal_share = 0.1;
    return out;
  };
  const auto result = stage.run();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->variants[0]->suspect);
  EXPECT_THAT(result->notes,
              ElementsAre(HasSubstr("1 of 14 energy windows are suspect"),
                          HasSubstr("heat or power brake held the clocks down in 1 of 14"), HasSubstr("steady load")));
}

}  // namespace
}  // namespace pgtune::session
