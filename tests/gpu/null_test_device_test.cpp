// SPDX-License-Identifier: MIT
// The null test on the GPU: what it says of operations whose check proves nothing, and that it leaves data and
// reference as it found them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/operations/rejected_operations.hpp"
#include "tuner/gpu/measure/check/checker.hpp"

namespace pgtune::gpu {
namespace {

using operation::testing::JudgedOperation;
using ::testing::HasSubstr;

class NullTestOnDevice : public ::testing::TestWithParam<JudgedOperation>, protected LaunchingGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
  }
};

TEST_P(NullTestOnDevice, TellsWhatAnOperationsCheckIsWorth) {
  const auto problem = operation::testing::judged_problem(GetParam());
  ASSERT_TRUE(problem) << problem.error().text();
  const auto own = OperationKernels::create(driver_, *kernels_, problem->operation, info_.architecture);
  ASSERT_TRUE(own) << own.error().text();
  const auto buffers = OperandBuffers::allocate(*kernels_, **own, {DataDistribution::kUniform, 7}, 2, stream_.get());
  ASSERT_TRUE(buffers) << buffers.error().text;
  const auto checker = Checker::create(*kernels_, *buffers, **own, stream_.get());
  ASSERT_TRUE(checker) << checker.error().text;
  // Twice: whatever it leaves behind would change the second verdict.
  for (int i = 0; i < 2; ++i) {
    const auto verdict = null_test(*buffers, **checker, stream_.get());
    if (GetParam().rejection[0] == '\0') {
      EXPECT_TRUE(verdict) << verdict.error().text();
      continue;
    }
    ASSERT_FALSE(verdict) << i;
    EXPECT_EQ(verdict.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(verdict.error().text(), HasSubstr("operation 'judged'"));
    EXPECT_THAT(verdict.error().text(), HasSubstr(GetParam().rejection));
  }
}

INSTANTIATE_TEST_SUITE_P(All, NullTestOnDevice, ::testing::ValuesIn(operation::testing::judged_operations()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace pgtune::gpu
