// SPDX-License-Identifier: MIT
// What a finalist's verification concludes from results and times; kernels that err so are in faults_device_test.cpp.
#include <gmock/gmock.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/gpu/measure/check/verification.hpp"

namespace pgtune::gpu {
namespace {

using testing::HasSubstr;

/// A launchable whose D has one element that is always checked and one that only some data makes checked.
class FakeLaunches final : public LaunchesToVerify {
 public:
  using Element = std::uint64_t;
  struct Launch {
    std::int64_t number = 0;  ///< from 1
    std::size_t copy = 0;
    Element right = 0;      ///< the first element, of the copy's data
    Element held = 0;       ///< what it holds before the launch
    bool alone = true;      ///< not back to back
    Element* element = {};  ///< to write to
  };
  using Kernel = std::function<void(const Launch&)>;

  FakeLaunches(std::size_t copies, Kernel kernel)
      : kernel_(std::move(kernel)), data_(copies), d_(copies, {kNothing, kNothing}) {}

  std::function<std::optional<double>(const Launch&)> time_s = [](const Launch&) { return 10e-6; };
  bool second_is_judged_in_turn = false;  ///< by data sets
  Element allowed = 0;                    ///< error of a right result
  std::string changed_guard;
  std::vector<std::string> case_names;

  [[nodiscard]] int references() const { return references_; }
  [[nodiscard]] bool restored() const { return restored_; }
  [[nodiscard]] const std::set<Element>& contents() const { return contents_; }

  [[nodiscard]] std::size_t copies() const override { return data_.size(); }
  [[nodiscard]] bool has_inout() const override { return false; }
  [[nodiscard]] std::vector<std::string> cases() const override { return case_names; }
  [[nodiscard]] CudaResult<> fill(std::uint64_t seed, std::size_t sets) override {
    for (std::size_t copy = 0; copy < copies(); ++copy) data_[copy] = seed * 1'000'000 + (copy % sets + 1) * 1'000;
    contents_ = {data_.begin(), data_.end()};
    return {};
  }
  [[nodiscard]] CudaResult<> fill_case(std::size_t index, std::size_t copy) override {
    data_[copy] = 77'000'000 + index * 1'000;
    return {};
  }
  [[nodiscard]] CudaResult<> restore() override {
    restored_ = true;
    return {};
  }
  [[nodiscard]] CudaResult<> poison(std::size_t copy, std::uint32_t pattern) override {
    d_[copy] = {pattern, pattern};
    return {};
  }
  [[nodiscard]] CudaResult<> rewrite(std::size_t) override { return {}; }
  [[nodiscard]] CudaResult<std::optional<double>> launch(std::size_t copy) override { return run(copy, true); }
  [[nodiscard]] CudaResult<> launch_as_timed(std::int64_t turns) override {
    for (std::int64_t i = 0; i < turns * static_cast<std::int64_t>(copies()); ++i)
      run(static_cast<std::size_t>(i) % copies(), false);
    return {};
  }
  [[nodiscard]] CudaResult<> refer_to(std::size_t copy) override {
    ++references_;
    referred_ = data_[copy];
    return {};
  }
  [[nodiscard]] CudaResult<std::string> fault(std::size_t copy, std::uint32_t poison) override {
    EXPECT_EQ(referred_, data_[copy]) << "compared with the reference of other data";
    const Element found = d_[copy].front();
    if (found == poison) return std::string("it was not written");
    return found - referred_ <= allowed ? std::string() : std::string("it is wrong");
  }
  [[nodiscard]] CudaResult<std::string> guard_fault(std::size_t copy) override {
    return copy + 1 == copies() ? changed_guard : std::string();
  }
  [[nodiscard]] CudaResult<std::vector<std::uint64_t>> sums(std::size_t first, std::size_t step) override {
    const bool both = !second_is_judged_in_turn || referred_ / 1'000 % 2 == 0;
    std::vector<std::uint64_t> out;
    for (std::size_t copy = first; copy < copies(); copy += step)
      out.push_back(d_[copy].front() * 3 + (both ? d_[copy].back() : 0));
    return out;
  }

 private:
  static constexpr Element kNothing = 0;
  std::optional<double> run(std::size_t copy, bool alone) {
    Launch launch{++launches_, copy, data_[copy], d_[copy].front(), alone, &d_[copy].front()};
    const std::optional<double> took_s = time_s(launch);
    kernel_(launch);
    if (!second_is_judged_in_turn || data_[copy] / 1'000 % 2 == 0) d_[copy].back() = data_[copy];
    return took_s;
  }

  Kernel kernel_;
  std::vector<Element> data_;
  std::vector<std::array<Element, 2>> d_;
  std::set<Element> contents_;
  Element referred_ = 0;
  std::int64_t launches_ = 0;
  int references_ = 0;
  bool restored_ = false;
};

void writes(const FakeLaunches::Launch& launch) { *launch.element = launch.right; }

protocol::VerifyReport verified(FakeLaunches& launches, std::int64_t count = 342) {
  protocol::VerifyRequest request;
  request.launches = count;
  request.data_seed = 5;
  const auto report = Verification(launches, request).run();
  EXPECT_TRUE(report.has_value());
  EXPECT_TRUE(launches.restored());
  return report.value_or(protocol::VerifyReport{});
}

/// The findings for a kernel over a number of copies.
std::string reason_of(FakeLaunches::Kernel kernel, std::size_t copies) {
  FakeLaunches launches(copies, std::move(kernel));
  const protocol::VerifyReport report = verified(launches);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kWrongResult);
  return report.outcome.reason;
}

class VerificationOver : public testing::TestWithParam<std::size_t> {};

TEST_P(VerificationOver, ARightKernelPassesByOneReferenceForEachSetOfData) {
  FakeLaunches launches(GetParam(), writes);
  const protocol::VerifyReport report = verified(launches);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk) << report.outcome.reason;
  EXPECT_TRUE(report.deterministic);
  EXPECT_EQ(report.copies, static_cast<std::int64_t>(GetParam()));
  EXPECT_EQ(report.launches, 342 + report.copies);
  EXPECT_EQ(launches.contents().size(), std::min<std::size_t>(GetParam(), 4));
  EXPECT_EQ(launches.references(), static_cast<int>(launches.contents().size()));
}

TEST_P(VerificationOver, WhatIsJudgedInSomeDataAloneIsNoFault) {
  FakeLaunches launches(GetParam(), writes);
  launches.second_is_judged_in_turn = true;
  const protocol::VerifyReport report = verified(launches);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk) << report.outcome.reason;
  EXPECT_TRUE(report.deterministic);
  EXPECT_GE(report.launches, 342 + report.copies);
  EXPECT_LE(launches.references(), 16);
}

TEST_P(VerificationOver, ResultsThatDifferWithinTheBoundAreRight) {
  FakeLaunches launches(GetParam(), [](const FakeLaunches::Launch& launch) {
    *launch.element = launch.right + static_cast<std::uint64_t>(launch.number % 3);
  });
  launches.allowed = 2;
  const protocol::VerifyReport report = verified(launches);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk) << report.outcome.reason;
  EXPECT_FALSE(report.deterministic);
  EXPECT_LE(launches.references(), 16);
}

TEST_P(VerificationOver, WhatIsWrongOnceInFiftyIsFound) {
  EXPECT_THAT(reason_of(
                  [](const FakeLaunches::Launch& launch) {
                    *launch.element = launch.right + (launch.number % 50 == 0 ? 7 : 0);
                  },
                  GetParam()),
              HasSubstr("it is wrong"));
}

TEST_P(VerificationOver, WhatIsWrongBackToBackAloneIsFound) {
  EXPECT_THAT(reason_of(
                  [](const FakeLaunches::Launch& launch) {
                    *launch.element = launch.right + (launch.alone || launch.copy != 0 ? 0 : 7);
                  },
                  GetParam()),
              HasSubstr("launched as it was timed"));
}

TEST_P(VerificationOver, AResultThatIsAddedToWhatDHeldIsFound) {
  EXPECT_THAT(reason_of(
                  [](const FakeLaunches::Launch& launch) {
                    *launch.element = launch.right + (launch.held == launch.right ? launch.held : 0);
                  },
                  GetParam()),
              HasSubstr("in a launch over an earlier result"));
}

TEST_P(VerificationOver, AChangedGuardOfTheLastCopyIsFound) {
  FakeLaunches launches(GetParam(), writes);
  launches.changed_guard = "it wrote past D";
  EXPECT_EQ(verified(launches).outcome.reason, "verified after the final: it wrote past D");
}

TEST_P(VerificationOver, AWrongCaseIsFound) {
  FakeLaunches launches(GetParam(), [](const FakeLaunches::Launch& launch) {
    *launch.element = launch.right + (launch.right >= 77'000'000 ? 7 : 0);
  });
  launches.case_names = {"empty groups"};
  EXPECT_THAT(verified(launches).outcome.reason, HasSubstr("in the case 'empty groups'"));
}

INSTANTIATE_TEST_SUITE_P(Copies, VerificationOver, testing::Values(1, 2, 3, 7, 16, 1024));

TEST(Verification, AResultOfOtherDataIsFound) {
  FakeLaunches::Element first = 0, last = 0;
  EXPECT_THAT(reason_of(
                  [&](const FakeLaunches::Launch& launch) {
                    if (first == 0) first = launch.right;
                    *launch.element = first;
                  },
                  1024),
              HasSubstr("with other data"));
  EXPECT_THAT(reason_of(
                  [&](const FakeLaunches::Launch& launch) {
                    *launch.element = last == 0 ? launch.right : last;
                    last = launch.right;
                  },
                  1024),
              HasSubstr("with other data"));
}

TEST(Verification, EveryCopyThatIsLeftOutIsFound) {
  for (const std::size_t skipped : {0, 2, 5, 6, 1023}) {
    const std::string reason = reason_of(
        [&](const FakeLaunches::Launch& launch) {
          if (launch.copy != skipped) *launch.element = launch.right;
        },
        1024);
    EXPECT_THAT(reason,
                testing::AllOf(HasSubstr("was not written"), HasSubstr(fmt::format("operand copy {})", skipped))));
  }
}

TEST(Verification, ALaunchThatDoesLessOverItsResultIsFound) {
  FakeLaunches launches(16, writes);
  launches.time_s = [](const FakeLaunches::Launch& launch) { return launch.held == launch.right ? 2e-6 : 10e-6; };
  EXPECT_THAT(verified(launches).outcome.reason, HasSubstr("where D still holds its result"));
}

TEST(Verification, LaunchesThatTheHostCameTooLateForCountAndHaveNoTime) {
  FakeLaunches launches(16, writes);
  launches.time_s = [](const FakeLaunches::Launch& launch) -> std::optional<double> {
    if (launch.number % 3 != 0) return std::nullopt;
    return launch.held == launch.right ? 2e-6 : 10e-6;
  };
  EXPECT_THAT(verified(launches).outcome.reason, HasSubstr("where D still holds its result"));
  FakeLaunches always_late(16, writes);
  always_late.time_s = [](const FakeLaunches::Launch&) { return std::nullopt; };
  const protocol::VerifyReport report = verified(always_late);
  EXPECT_EQ(report.outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(report.launches, 342 + 16);
}

TEST(Verification, ADifferenceOfTimesIsConfirmedOnCopiesThatWereNotLaunchedJustBefore) {
  FakeLaunches launches(16, writes);
  std::vector<std::size_t> copies;
  launches.time_s = [&](const FakeLaunches::Launch& launch) {
    copies.push_back(launch.copy);
    return launch.held == launch.right ? 2e-6 : 10e-6;
  };
  (void)verified(launches);
  ASSERT_GT(copies.size(), 128U);
  for (std::size_t i = copies.size() - 127; i < copies.size(); ++i) EXPECT_NE(copies[i], copies[i - 1]) << i;
}

/// About `median_s`, evenly within +-`spread` of it.
std::vector<double> times(double median_s, double spread, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(median_s * (1 + spread * (2.0 * (i * 7 % count) / (count - 1) - 1)));
  return out;
}

TEST(SavedShare, OfALaunchThatDoesLessOverItsResult) {
  EXPECT_NEAR(saved_share(times(100e-6, 0.02, 342), times(13e-6, 0.02, 34)), 0.87, 0.01);
  EXPECT_NEAR(saved_share(times(2.5e-3, 0.01, 342), times(2.2e-3, 0.01, 34)), 0.12, 0.01);
}

TEST(SavedShare, NothingWhereTimesAreAlike) {
  EXPECT_EQ(saved_share(times(100e-6, 0.02, 342), times(100e-6, 0.02, 34)), 0);
  EXPECT_EQ(saved_share(times(100e-6, 0.02, 342), times(97e-6, 0.02, 34)), 0) << "3 %";
  EXPECT_EQ(saved_share(times(100e-6, 0.02, 342), times(120e-6, 0.02, 34)), 0) << "slower";
  EXPECT_EQ(saved_share(times(4e-6, 0.01, 342), times(3.2e-6, 0.01, 34)), 0) << "less than a microsecond";
  EXPECT_EQ(saved_share(times(100e-6, 0.9, 342), times(90e-6, 0.9, 34)), 0) << "lost in the noise";
  EXPECT_EQ(saved_share({}, {}), 0);
}

TEST(Poison, ChangesFromLaunchToLaunchAndIsNoNumber) {
  std::set<std::uint32_t> seen;
  for (std::int64_t launch = 0; launch < 64; ++launch) {
    const std::uint32_t poison = poison_of_launch(launch);
    seen.insert(poison);
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(poison))) << launch;
    for (const std::uint32_t half : {poison & 0xffffU, poison >> 16}) {
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(half << 16))) << "as bfloat16 " << launch;
      EXPECT_GT(half & 0x7fffU, 0x7c00U) << "as float16 " << launch;
    }
  }
  EXPECT_EQ(seen.size(), 64U);
  EXPECT_EQ(poison_of_launch(0), kPoison);
}

}  // namespace
}  // namespace pgtune::gpu
