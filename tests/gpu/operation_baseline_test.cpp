// SPDX-License-Identifier: MIT
// The baselines of operations on a GPU: right against the reference, timed, and with a reason where there is none.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tests/gpu/operation_cases.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class OperationBaselineOnDevice : public MeasureOnDevice {
 protected:
  [[nodiscard]] static Problem problem(const std::string& name, const std::string& sizes) {
    const auto definition =
        operation::load_operation(std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations" / (name + ".json"));
    return operation::make_problem(definition.value(), operation::parse_sizes(sizes).value(), std::nullopt).value();
  }

  void expect_compared(const std::string& name, const std::string& sizes, const std::string& enlarged_shape = "") {
    if (measurer_->info().arch_number() != 90) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
    const Problem p = problem(name, sizes);
    const BaselineReport report = prepare(p);
    for (const OtherBaseline& other : report.others)
      std::cout << p.title() << ": beside it " << other.library << " " << other.algorithm << other.unavailable << " "
                << other.time_s * 1e6 << " us\n";
    ASSERT_THAT(report.library, StartsWith("cuBLASLt")) << p.title();
    EXPECT_EQ(report.place, 0);
    EXPECT_EQ(report.enlarged_shape, enlarged_shape) << p.title();
    for (const AlgorithmReport& algorithm : report.algorithms) {
      EXPECT_GT(algorithm.time_s, 0);
      EXPECT_LE(algorithm.max_error, 1) << algorithm.description;
      std::cout << p.title() << ": " << algorithm.description << " " << algorithm.time_s * 1e6 << " us, error "
                << algorithm.max_error << "\n";
    }
    ASSERT_EQ(report.others.size(), 1);
    EXPECT_EQ(report.others[0].library, kCopyBaseline);
    EXPECT_GT(report.others[0].time_s, 0);
    // Whoever takes a dead worker's place times the same algorithms.
    const std::vector<std::string> opaque = measurer_->opaque_algorithms();
    EXPECT_EQ(opaque.size(), report.algorithms.size());
    const auto again = measurer_->prepare({p, {}, protocol::KnownBaseline{report, opaque}});
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, report);
    EXPECT_EQ(measurer_->opaque_algorithms(), opaque);
  }
};

TEST_F(OperationBaselineOnDevice, BlockScaledProducts) {
  expect_compared("gemm_block_scaled", "M=512,N=1024,K=1536");
  expect_compared("gemm_block_scaled", "M=64,N=576,K=7168");
  expect_compared("gemm_block_scaled", "M=13,N=576,K=2880", "16x576x2880");
}

TEST_F(OperationBaselineOnDevice, ProductsOfGroups) {
  expect_compared("gemm_grouped", "G=8,M=2048,N=1024,K=512");
  expect_compared("gemm_grouped", "G=32,M=100,N=256,K=1024");
}

TEST_F(OperationBaselineOnDevice, BlockScaledProductsOfGroups) {
  expect_compared("gemm_grouped_block_scaled", "G=4,M=1000,N=1024,K=512", "groups of a multiple of four rows");
  expect_compared("gemm_masked_block_scaled", "G=6,R=128,E=20,N=512,K=2048", "groups of a multiple of four rows");
}

TEST_F(OperationBaselineOnDevice, WhereThereIsNoneTheCopyIsLeftAndTheReasonIsSaid) {
  const Problem p = problem("gemm_block_scaled", "M=64,N=130,K=250");
  const BaselineReport report = prepare(p);
  EXPECT_EQ(report.library, kCopyBaseline);
  EXPECT_EQ(report.place, 1);
  ASSERT_EQ(report.others.size(), 1);
  EXPECT_THAT(report.others[0].library, StartsWith("cuBLASLt"));
  EXPECT_THAT(report.others[0].unavailable, HasSubstr("no algorithm"));
  EXPECT_TRUE(report.others[0].algorithm.empty());
  const auto again = measurer_->prepare({p, {}, protocol::KnownBaseline{report, measurer_->opaque_algorithms()}});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, report);
}

}  // namespace
}  // namespace pgtune::gpu
