// SPDX-License-Identifier: MIT
// Conditions on a GPU: what the operands hold under each distribution, and that every one is checked and timed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::uint64_t kSeed = 20231107;
constexpr DataDistribution kAll[] = {DataDistribution::kUniform, DataDistribution::kNormal, DataDistribution::kIntegers,
                                     DataDistribution::kZeros};

class Data : public MeasureOnDevice {
 protected:
  void SetUp() override {
    MeasureOnDevice::SetUp();
    if (measurer_ == nullptr) return;
    auto driver = Driver::load();
    ASSERT_TRUE(driver) << driver.error().text();
    driver_ = *driver;
    auto kernels = HelperKernels::load(driver_, measurer_->info().architecture, measurer_->info().sm_count);
    ASSERT_TRUE(kernels) << kernels.error().text();
    kernels_ = std::move(*kernels);
  }

  [[nodiscard]] std::vector<float> filled(DataDistribution distribution, std::uint64_t seed, std::int64_t rows,
                                          std::int64_t columns, std::int64_t ld) const {
    std::vector<float> values(static_cast<std::size_t>(rows * ld), -99);
    const std::size_t bytes = values.size() * sizeof(float);
    auto buffer = DeviceBuffer::allocate(static_cast<std::int64_t>(bytes));
    EXPECT_TRUE(buffer);
    EXPECT_EQ(cudaMemcpy(buffer->data(), values.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_TRUE(kernels_->fill_tensor(buffer->address(), matrix_of(ElementType::kFloat32, rows, columns, ld),
                                      distribution, seed, nullptr));
    EXPECT_EQ(cudaMemcpy(values.data(), buffer->data(), bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

  Driver driver_;
  std::unique_ptr<HelperKernels> kernels_;
};

/// The first release's uniform data: results recorded with it must stay repeatable bit by bit.
float uniform_value(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<float>(static_cast<int>(x >> 40) - (1 << 23)) * 0x1p-23F;
}

TEST_F(Data, UniformIsTheSameForEver) {
  const auto values = filled(DataDistribution::kUniform, kSeed, 7, 5, 6);
  for (std::size_t row = 0; row < 7; ++row) {
    for (std::size_t column = 0; column < 5; ++column) {
      EXPECT_EQ(values[row * 6 + column], uniform_value(kSeed, row * 5 + column));
    }
    EXPECT_EQ(values[row * 6 + 5], -99) << "padding was written";
  }
}

TEST_F(Data, NormalHasMeanZeroAndDeviationOne) {
  const auto values = filled(DataDistribution::kNormal, kSeed, 1000, 1000, 1000);
  double sum = 0, squares = 0, fourths = 0, within = 0;
  for (const float value : values) {
    ASSERT_TRUE(std::isfinite(value));
    const double square = static_cast<double>(value) * value;
    sum += value;
    squares += square;
    fourths += square * square;
    within += std::abs(value) < 1 ? 1 : 0;
  }
  const auto count = static_cast<double>(values.size());
  // A million draws: each tolerance is at least five standard errors.
  EXPECT_NEAR(sum / count, 0, 0.005);
  EXPECT_NEAR(squares / count, 1, 0.01);
  EXPECT_NEAR(fourths / count, 3, 0.06);
  EXPECT_NEAR(within / count, 0.682689, 0.003);
}

TEST_F(Data, IntegersAreAllOfMinusFourToFour) {
  const auto values = filled(DataDistribution::kIntegers, kSeed, 100, 900, 900);
  EXPECT_EQ(std::set<float>(values.begin(), values.end()), (std::set<float>{-4, -3, -2, -1, 0, 1, 2, 3, 4}));
  for (const float value : {-4.0F, 0.0F, 4.0F}) {
    const auto count = std::count(values.begin(), values.end(), value);
    EXPECT_GT(count, 9500) << value;
    EXPECT_LT(count, 10500) << value;
  }
}

TEST_F(Data, ZerosAreZero) {
  const auto values = filled(DataDistribution::kZeros, kSeed, 30, 30, 30);
  EXPECT_EQ(std::count(values.begin(), values.end(), 0.0F), 900);
}

TEST_F(Data, AnotherSeedIsOtherData) {
  for (const DataDistribution distribution : {kAll[0], kAll[1], kAll[2]}) {
    EXPECT_NE(filled(distribution, kSeed, 8, 8, 8), filled(distribution, kSeed + 1, 8, 8, 8));
  }
}

class ConditionsOnDevice : public MeasureOnDevice {};

TEST_F(ConditionsOnDevice, EveryDistributionIsCheckedAndTimed) {
  Problem problem = make_problem("127x129x131");
  problem.beta = -0.5;
  problem.alpha = 1.5;
  for (const DataDistribution distribution : kAll) {
    Conditions conditions;
    conditions.data = distribution;
    conditions.data_seed = 5;
    const BaselineReport baseline = prepare(problem, conditions);
    EXPECT_EQ(baseline.data_seed, 5U);
    EXPECT_FALSE(baseline.algorithms.empty());
    const TrialReport report = measurer_->trial(request(problem, ""));
    EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk) << to_string(distribution) << ": " << report.outcome.reason;
    ASSERT_TRUE(report.check);
    EXPECT_LT(report.check->max_error, 0.5) << to_string(distribution);
    EXPECT_TRUE(std::isfinite(report.check->norm_error)) << to_string(distribution);
    EXPECT_EQ(report.samples.size(), 3U);
    // Faults that do not depend on the data are found under each.
    EXPECT_EQ(measurer_->trial(request(problem, "WRONG_ELEMENT")).outcome.kind, OutcomeKind::kWrongResult);
    EXPECT_EQ(measurer_->trial(request(problem, "UNWRITTEN")).outcome.kind, OutcomeKind::kWrongResult);
    EXPECT_EQ(measurer_->trial(request(problem, "")).outcome.kind, OutcomeKind::kOk) << to_string(distribution);
  }
}

TEST_F(ConditionsOnDevice, NormalDataShowReducedPrecision) {
  const Problem problem = make_problem("256x256x256");
  Conditions conditions;
  conditions.data = DataDistribution::kNormal;
  static_cast<void>(prepare(problem, conditions));
  EXPECT_EQ(measurer_->trial(request(problem, "REDUCED_PRECISION")).outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_EQ(measurer_->trial(request(problem, "MISSING_PRODUCT")).outcome.kind, OutcomeKind::kWrongResult);
}

TEST_F(ConditionsOnDevice, WarmL2HasOneCopy) {
  const Problem problem = make_problem("256x256x256");
  EXPECT_GT(prepare(problem).buffer_copies, 1);
  Conditions conditions;
  conditions.l2 = L2State::kWarm;
  EXPECT_EQ(prepare(problem, conditions).buffer_copies, 1);
  EXPECT_EQ(measurer_->trial(request(problem, "")).outcome.kind, OutcomeKind::kOk);
}

}  // namespace
}  // namespace pgtune::gpu
