// SPDX-License-Identifier: MIT
// The null test on the host: operations whose check proves nothing are rejected with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/operations/emulated_results.hpp"
#include "tests/operations/rejected_operations.hpp"

namespace pgtune::testing {
namespace {

using operation::testing::judged_operations;
using operation::testing::judged_problem;
using operation::testing::JudgedOperation;
using ::testing::HasSubstr;

class NullVerdict : public ::testing::TestWithParam<JudgedOperation> {};

TEST_P(NullVerdict, TellsWhatAnOperationsCheckIsWorth) {
  const auto problem = judged_problem(GetParam());
  ASSERT_TRUE(problem) << problem.error().text();
  EmulatedProblem emulated(*problem);
  ASSERT_TRUE(emulated.usable());
  EmulatedResults results(emulated);
  const auto verdict = gpu::judge_null_results(*problem->operation, results);
  if (GetParam().rejection[0] == '\0') {
    EXPECT_TRUE(verdict) << verdict.error().text();
    return;
  }
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(verdict.error().text(), HasSubstr("operation 'judged'"));
  EXPECT_THAT(verdict.error().text(), HasSubstr(GetParam().rejection));
}

INSTANTIATE_TEST_SUITE_P(All, NullVerdict, ::testing::ValuesIn(judged_operations()),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Wrong in all elements as it should be, but for one step that fails.
class FailingResults : public gpu::NullResults {
 public:
  explicit FailingResults(int failing) : failing_(failing) {}
  Result<std::uint64_t> unwritten() override { return at(0, 0); }
  Result<std::uint64_t> wrong_of_reference() override { return at(1, 0); }
  Result<std::uint64_t> wrong_where_zero(std::size_t /*output*/) override { return at(2, 9); }
  Result<std::uint64_t> wrong_where_shifted(std::size_t /*output*/) override { return at(3, 9); }
  Result<std::uint64_t> wrong_without_part_of(std::size_t input) override { return at(input == 0 ? 4 : 5, 9); }

 private:
  [[nodiscard]] Result<std::uint64_t> at(int step, std::uint64_t wrong) const {
    if (step == failing_) return fail(ErrorKind::kInternal, "the GPU is lost");
    return wrong;
  }
  int failing_;
};

TEST(NullVerdictErrors, AreThoseOfTheStepThatFails) {
  constexpr int kSteps = 6;
  const auto problem = judged_problem(judged_operations().front());
  ASSERT_TRUE(problem) << problem.error().text();
  for (int step = 0; step < kSteps; ++step) {
    FailingResults results(step);
    const auto verdict = gpu::judge_null_results(*problem->operation, results);
    ASSERT_FALSE(verdict) << step;
    EXPECT_EQ(verdict.error().kind, ErrorKind::kInternal) << step;
    EXPECT_EQ(verdict.error().text(), "the GPU is lost") << step;
  }
  FailingResults fine(kSteps);
  EXPECT_TRUE(gpu::judge_null_results(*problem->operation, fine));
}

}  // namespace
}  // namespace pgtune::testing
