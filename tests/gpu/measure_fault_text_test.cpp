// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/measure/check/fault_text.hpp"

namespace pgtune::gpu {
namespace {

Problem problem() {
  Problem p;
  p.m = 127;
  p.n = 127;
  p.k = 64;
  p.batch = 2;
  return with_default_strides(p).value();
}

std::string text_of(const CheckFindings& findings, const Problem& p) { return fault_text(findings, numbers_of(p)); }

CheckFindings wrong_at(std::int64_t batch, std::int64_t row, std::int64_t column, float value) {
  CheckFindings findings;
  findings.comparison.wrong = 5321;
  findings.comparison.first_wrong = static_cast<std::uint64_t>((batch * 127 + row) * 127 + column);
  findings.first_value = value;
  findings.first_expected = 1.3125;
  findings.first_ratio = 840.2;
  return findings;
}

TEST(FaultText, NothingFoundIsNoFault) { EXPECT_EQ(text_of({}, problem()), ""); }

TEST(FaultText, NamesTheElementAndHowManyAreWrong) {
  EXPECT_EQ(
      text_of(wrong_at(1, 17, 3, 1.25F), problem()),
      "element (17,3) of batch 1 is 1.25, expected 1.3125 (error 840 times the bound); 5321 of 32258 elements wrong");
}

TEST(FaultText, ResidualsAreNoRightValues) {
  OperationProblem operation = numbers_of(problem());
  for (OperationBuffer& buffer : operation.buffers) buffer.error.of_residual = buffer.is_output();
  CheckFindings findings = wrong_at(0, 17, 3, 1.25F);
  findings.first_expected = -2e-3;
  EXPECT_EQ(fault_text(findings, operation),
            "element (17,3) of batch 0 is 1.25, which leaves a residual of -0.002 (840 times the bound); 5321 of 32258 "
            "elements wrong");
  findings.first_value = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fault_text(findings, operation), "element (17,3) of batch 0 is inf; 5321 of 32258 elements wrong");
  findings.first_unwritten = true;
  EXPECT_EQ(fault_text(findings, operation), "element (17,3) of batch 0 was not written; 5321 of 32258 elements wrong");
}

TEST(FaultText, IntegersAreWrittenOut) {
  Problem p = problem();
  p.dtype = Dtype::kInt8;
  CheckFindings findings = wrong_at(0, 0, 1, 0);
  findings.first_value = -2147483647;
  findings.first_expected = -2147483646;
  EXPECT_NE(text_of(findings, p).find("is -2147483647, expected -2147483646 (error"), std::string::npos)
      << text_of(findings, p);
}

TEST(FaultText, TellsUnwrittenFromNan) {
  CheckFindings poisoned = wrong_at(0, 0, 0, std::numeric_limits<float>::quiet_NaN());
  poisoned.first_unwritten = true;
  const std::string unwritten = text_of(poisoned, problem());
  EXPECT_NE(unwritten.find("was not written"), std::string::npos) << unwritten;
  const std::string nan = text_of(wrong_at(0, 0, 0, std::numeric_limits<float>::infinity()), problem());
  EXPECT_NE(nan.find("is inf, expected"), std::string::npos) << nan;
}

TEST(FaultText, NamesEveryPlaceThatWasTouched) {
  CheckFindings findings;
  findings.comparison.padding_changed = 2;
  findings.guards = {{"after D", true, 12}, {"after the workspace", false, 4}};
  findings.changed_operands = {"A"};
  EXPECT_EQ(text_of(findings, problem()),
            "wrote outside D: 2 elements changed in the padding between N and its leading dimension; "
            "wrote outside D: 12 bytes changed in the guard after D; "
            "wrote outside its buffers: 4 bytes changed in the guard after the workspace; changed A");
}

TEST(CheckReport, NormErrorIsRelative) {
  CheckFindings findings;
  findings.comparison.squared_error = 4;
  findings.comparison.squared_reference = 16;
  findings.comparison.max_ratio_bits = std::bit_cast<std::uint64_t>(0.25);
  EXPECT_DOUBLE_EQ(check_report(findings).norm_error, 0.5);
  EXPECT_DOUBLE_EQ(check_report(findings).max_error, 0.25);
}

TEST(CheckReport, AnAllZeroReferenceGivesFiniteNumbers) {
  EXPECT_EQ(check_report({}).norm_error, 0);
  CheckFindings findings;
  findings.comparison.squared_error = 1;
  EXPECT_EQ(check_report(findings).norm_error, kNotFiniteRatio);
}

TEST(CheckReport, ErrorsThatAreNotFiniteAreLargeNumbers) {
  for (const double value : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CheckFindings findings;
    findings.comparison.squared_error = findings.comparison.squared_reference = value;
    findings.comparison.max_ratio_bits = std::bit_cast<std::uint64_t>(value);
    EXPECT_EQ(check_report(findings).norm_error, kNotFiniteRatio) << value;
    EXPECT_EQ(check_report(findings).max_error, kNotFiniteRatio) << value;
  }
}

}  // namespace
}  // namespace pgtune::gpu
