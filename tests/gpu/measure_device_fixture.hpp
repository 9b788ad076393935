// SPDX-License-Identifier: MIT
// A measurer on the first GPU; tests skip with the reason where there is none.
#pragma once

#include <gtest/gtest.h>

#include "tests/gpu/measure_gemm_source.hpp"
#include "tests/gpu/with_operation.hpp"

namespace pgtune::gpu {

class MeasureOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    measurer_ = open_measurer(why);
    if (measurer_ == nullptr) GTEST_SKIP() << why;
  }

  [[nodiscard]] BaselineReport prepare(const Problem& problem, const Conditions& conditions = {}) {
    const auto report = measurer_->prepare({as_sent(problem), conditions});
    EXPECT_TRUE(report) << report.error().text();
    return report ? *report : BaselineReport{};
  }

  [[nodiscard]] protocol::TrialRequest request(const Problem& problem, const std::string& fault) {
    return gemm_trial(folder_, problem, measurer_->info().architecture, fault);
  }

  TestFolder folder_;
  std::unique_ptr<Measurer> measurer_;
};

}  // namespace pgtune::gpu
