// SPDX-License-Identifier: MIT
// Every dtype end to end on a GPU: data, check and baseline, with the template that computes in all of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <tuple>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
namespace {

using testing::HasSubstr;

class Dtypes : public MeasureOnDevice {
 protected:
  void SetUp() override {
    MeasureOnDevice::SetUp();
    if (measurer_ == nullptr) return;
    if (measurer_->info().arch_number() < 89) GTEST_SKIP() << "needs a GPU of compute capability 8.9 for e4m3 and e5m2";
    auto loaded = space::load_template(PGTUNE_SOURCE_DIR "/tests/templates/any_type.json", shipped_header);
    ASSERT_TRUE(loaded) << loaded.error().text();
    definition_ = std::move(*loaded);
  }

  /// `fault`: a macro of any_type.cu, or nothing.
  [[nodiscard]] TrialReport run(const Problem& problem, const std::string& fault) {
    const Variant variant = definition_.default_variant();
    const auto plan = space::make_launch_plan(definition_, variant, problem, measurer_->info());
    EXPECT_TRUE(plan) << plan.error().text();
    auto defines = space::make_defines(definition_, variant, problem, measurer_->info());
    EXPECT_TRUE(defines) << defines.error().text();
    if (!fault.empty()) defines->push_back({fault, "1"});
    protocol::TrialRequest request;
    request.built.plan = *plan;
    request.built.build = build_source(folder_, definition_.source->contents, measurer_->info().architecture, *defines);
    return measurer_->trial(request);
  }

  space::TemplateDefinition definition_;
};

Problem of_types(Problem problem, Dtype dtype, ElementType output) {
  problem.dtype = dtype;
  problem.output = output;
  return with_default_strides(problem).value();
}

/// Every dtype with every output type, on a shape as awkward as cuBLASLt takes it.
std::vector<Problem> awkward_problems(const std::string& layout, double beta) {
  std::vector<Problem> problems;
  for (const Dtype dtype : all_dtypes()) {
    const bool narrow = element_bytes(dtype) == 1, whole = dtype == Dtype::kInt8;
    for (const ElementType output : output_types(dtype)) {
      Problem problem = make_problem(whole ? "127x148x177" : narrow ? "112x144x176" : "127x129x131", layout);
      problem.batch = 2;
      problem.alpha = whole ? -3 : 1.5;
      problem.beta = whole ? 2 * beta : beta;
      problem.lda += narrow ? 16 : 3;
      problem.ldb += narrow ? 16 : 5;
      problem.ldc += narrow ? 16 : 7;
      problems.push_back(of_types(problem, dtype, output));
    }
  }
  return problems;
}

TEST_F(Dtypes, ARightKernelPassesInEachWithEveryOutputAndLayout) {
  for (const auto& [layout, beta] :
       {std::pair{"nn", -0.5}, std::pair{"nt", 0.0}, std::pair{"tn", 0.0}, std::pair{"tt", 2.0}}) {
    for (const Problem& problem : awkward_problems(layout, beta)) {
      const BaselineReport baseline = prepare(problem);
      EXPECT_FALSE(baseline.algorithms.empty()) << problem.key();
      const TrialReport report = run(problem, "");
      ASSERT_EQ(report.outcome.kind, OutcomeKind::kOk) << problem.key() << ": " << report.outcome.reason;
      ASSERT_TRUE(report.check);
      std::cout << fmt::format("{}: kernel {:.3f} of the bound, norm {:.2e}; {} cuBLASLt algorithms, first {:.3f}\n",
                               problem.key(), report.check->max_error, report.check->norm_error,
                               baseline.algorithms.size(),
                               baseline.algorithms.empty() ? -1 : baseline.algorithms[0].max_error);
    }
  }
}

std::vector<Problem> awkward_problems_with_epilogues(const std::string& layout, double beta) {
  std::vector<Problem> problems = awkward_problems(layout, beta);
  std::erase_if(problems, [](const Problem& problem) { return problem.dtype == Dtype::kInt8; });
  return problems;
}

/// The awkward problems with a bias and each activation; those with float32 results, which show most, without one too.
std::vector<Problem> fused_problems(const std::string& layout, double beta) {
  std::vector<Problem> problems;
  for (const Activation activation : all_activations()) {
    for (Problem problem : awkward_problems_with_epilogues(layout, beta)) {
      problem.epilogue = {true, activation};
      problems.push_back(problem);
      problem.epilogue.bias = false;
      if (activation != Activation::kNone && problem.type_of_c() == ElementType::kFloat32) problems.push_back(problem);
    }
  }
  return problems;
}

TEST_F(Dtypes, ARightKernelPassesWithEveryEpilogue) {
  for (const Problem& problem : fused_problems("nt", -0.5)) {
    const auto baseline = measurer_->prepare({as_sent(problem), {}});
    EXPECT_TRUE(baseline) << problem.key() << ": " << baseline.error().text();
    if (!baseline) continue;
    const TrialReport report = run(problem, "");
    ASSERT_EQ(report.outcome.kind, OutcomeKind::kOk) << problem.key() << ": " << report.outcome.reason;
    ASSERT_TRUE(report.check);
    std::cout << fmt::format("{}: kernel {:.3f} of the bound; {} cuBLASLt algorithms, first {:.3f}\n", problem.key(),
                             report.check->max_error, baseline->algorithms.size(),
                             baseline->algorithms.empty() ? -1 : baseline->algorithms[0].max_error);
  }
}

TEST_F(Dtypes, FaultsOfABiasAreFound) {
  for (Problem problem : awkward_problems_with_epilogues("nn", 0)) {
    problem.epilogue.bias = true;
    static_cast<void>(prepare(problem));
    for (const auto& [fault, words] :
         {std::pair{"SHIFTED_BIAS", "times the bound)"}, std::pair{"CHANGE_BIAS", "changed the bias"}}) {
      const TrialReport report = run(problem, fault);
      EXPECT_EQ(report.outcome.kind, OutcomeKind::kWrongResult) << problem.key() << " " << fault;
      EXPECT_THAT(report.outcome.reason, HasSubstr(words)) << problem.key() << " " << fault;
    }
    EXPECT_EQ(run(problem, "").outcome.kind, OutcomeKind::kOk) << problem.key();
  }
}

TEST_F(Dtypes, AnotherActivationIsWrong) {
  Problem problem = of_types(make_problem("256x256x16", "nt"), Dtype::kBf16, ElementType::kFloat32);
  for (const Activation activation : {Activation::kRelu, Activation::kGelu, Activation::kSilu}) {
    problem.epilogue.activation = activation;
    static_cast<void>(prepare(problem));
    EXPECT_EQ(run(problem, "").outcome.kind, OutcomeKind::kOk) << problem.key();
    for (const Activation other : {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kSilu}) {
      if (other == activation) continue;
      Problem wrong = problem;
      wrong.epilogue.activation = other;
      EXPECT_EQ(run(wrong, "").outcome.kind, OutcomeKind::kWrongResult) << problem.key() << " " << to_string(other);
    }
  }
}

TEST_F(Dtypes, PlantedFaultsAreFoundInEach) {
  for (const Problem& problem : awkward_problems("nt", 0)) {
    static_cast<void>(prepare(problem));
    std::vector<std::pair<std::string, std::string>> faults{
        {"DROPPED_PRODUCT", "times the bound)"},
        {"UNWRITTEN", "element (17,3) of batch 0 was not written"},
        {"WRITE_PADDING", "1 elements changed in the padding"},
        {"WRITE_AFTER",
         fmt::format("wrote outside D: {} bytes changed in the guard after D", element_bytes(problem.type_of_c()))}};
    if (problem.dtype != Dtype::kInt8) faults.emplace_back("READ_ADDEND", "is nan, expected");
    for (const auto& [fault, words] : faults) {
      const TrialReport report = run(problem, fault);
      EXPECT_EQ(report.outcome.kind, OutcomeKind::kWrongResult) << problem.key() << " " << fault;
      EXPECT_THAT(report.outcome.reason, HasSubstr(words)) << problem.key() << " " << fault;
    }
    EXPECT_EQ(run(problem, "").outcome.kind, OutcomeKind::kOk) << problem.key();
  }
}

TEST_F(Dtypes, ASingleTf32ProductIsFoundWhereThreeWereAskedFor) {
  const Problem problem = of_types(make_problem("256x256x256", "nn"), Dtype::kTf32x3, ElementType::kFloat32);
  static_cast<void>(prepare(problem));
  EXPECT_EQ(run(problem, "").outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(run(problem, "SINGLE_PRODUCT").outcome.kind, OutcomeKind::kWrongResult);
}

TEST_F(Dtypes, SmallIntegersAreExactWhereTheResultHas32Bits) {
  Conditions conditions;
  conditions.data = DataDistribution::kIntegers;
  for (const Problem& awkward : awkward_problems("nt", 0)) {
    Problem problem = awkward;
    problem.alpha = 1;
    static_cast<void>(prepare(problem, conditions));
    const TrialReport report = run(problem, "");
    ASSERT_EQ(report.outcome.kind, OutcomeKind::kOk) << problem.key() << ": " << report.outcome.reason;
    ASSERT_TRUE(report.check);
    if (element_bytes(problem.type_of_c()) == 4) {
      EXPECT_EQ(report.check->norm_error, 0) << problem.key();
    }
  }
}

TEST_F(Dtypes, TheBaselineIsTheBestOfManyAtFullSize) {
  for (const auto& [dtype, layout] :
       {std::pair{Dtype::kBf16, "nn"}, std::pair{Dtype::kF16, "tt"}, std::pair{Dtype::kTf32, "nn"},
        std::pair{Dtype::kE4m3, "nt"}, std::pair{Dtype::kE4m3, "nn"}, std::pair{Dtype::kE5m2, "tn"},
        std::pair{Dtype::kInt8, "nt"}, std::pair{Dtype::kInt8, "tn"}}) {
    const Problem problem = of_types(make_problem("4096x4096x4096", layout), dtype, output_types(dtype).front());
    const BaselineReport report = prepare(problem);
    EXPECT_GE(report.algorithms.size(), 16U) << problem.key();
    if (report.algorithms.empty()) continue;
    for (const AlgorithmReport& algorithm : report.algorithms) EXPECT_LE(algorithm.max_error, 1);
    const auto& best = report.algorithms[static_cast<std::size_t>(report.best)];
    std::cout << fmt::format(
        "{}: {} algorithms, first {:.0f} TFLOP/s, best {:.0f} (rank {}, {}), {:.3f} of the bound\n", problem.key(),
        report.algorithms.size(), problem.flops() / report.algorithms[0].time_s * 1e-12,
        problem.flops() / best.time_s * 1e-12, best.rank, best.description, best.max_error);
  }
}

TEST_F(Dtypes, SumsOfEveryLengthStayWithinTheBound) {
  Conditions conditions;
  for (const Dtype dtype : {Dtype::kTf32, Dtype::kBf16, Dtype::kE4m3, Dtype::kE5m2, Dtype::kInt8}) {
    for (const DataDistribution data : {DataDistribution::kUniform, DataDistribution::kNormal}) {
      for (const char* shape : {"1024x1024x32", "1024x1024x512", "1024x1024x8192", "1024x1024x32768"}) {
        conditions.data = data;
        const Problem problem = of_types(make_problem(shape, "nt"), dtype, output_types(dtype).back());
        const BaselineReport report = prepare(problem, conditions);
        ASSERT_FALSE(report.algorithms.empty()) << problem.key();
        double largest = 0;
        for (const AlgorithmReport& algorithm : report.algorithms) largest = std::max(largest, algorithm.max_error);
        EXPECT_LT(largest, 1);
        if (dtype == Dtype::kInt8) {
          EXPECT_EQ(largest, 0);
        }
        std::cout << fmt::format("{} {}: {} algorithms, largest error {:.3f} of the bound\n", problem.title(),
                                 to_string(data), report.algorithms.size(), largest);
      }
    }
  }
}

/// 8-bit floats of extents and rows that cuBLASLt refuses.
std::vector<Problem> refused_problems(const std::string& layout, double beta, bool bias) {
  std::vector<Problem> problems;
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kE5m2}) {
    for (const ElementType output : output_types(dtype)) {
      Problem problem = make_problem("127x129x131", layout);
      problem.batch = 2;
      problem.alpha = 1.5;
      problem.beta = beta;
      problem.epilogue.bias = bias;
      problem.lda += 3;
      problem.ldb += 5;
      problem.ldc += 6;
      problems.push_back(of_types(problem, dtype, output));
    }
  }
  return problems;
}

TEST_F(Dtypes, ALargerProblemIsSolvedWhereCublasLtRefusesFloat8) {
  for (const auto& [layout, beta, bias] : {std::tuple{"nn", -0.5, true}, std::tuple{"nt", 0.0, false},
                                           std::tuple{"tn", 2.0, false}, std::tuple{"tt", 0.0, true}}) {
    for (const Problem& problem : refused_problems(layout, beta, bias)) {
      const BaselineReport baseline = prepare(problem);
      EXPECT_EQ(baseline.enlarged_shape, "128x144x144") << problem.key();
      EXPECT_EQ(baseline.copied, std::string("A, B") + (beta != 0 ? ", C" : "") + (bias ? ", bias" : "") + ", D");
      ASSERT_FALSE(baseline.algorithms.empty()) << problem.key();
      for (const AlgorithmReport& algorithm : baseline.algorithms) {
        EXPECT_LE(algorithm.max_error, 1) << problem.key();
        EXPECT_GT(algorithm.max_error, 0) << problem.key();
      }
      // Its own buffers leave the problem's as a kernel needs them.
      EXPECT_EQ(run(problem, "").outcome.kind, OutcomeKind::kOk) << problem.key();
      EXPECT_EQ(run(problem, "UNWRITTEN").outcome.kind, OutcomeKind::kWrongResult) << problem.key();
    }
  }
  // Of integers it takes any N.
  const Problem whole = of_types(make_problem("127x129x131", "nt"), Dtype::kInt8, ElementType::kInt32);
  const BaselineReport integers = prepare(whole);
  EXPECT_EQ(integers.enlarged_shape, "");
  EXPECT_EQ(integers.copied, "A, B") << "K is filled up to a multiple of four";
}

TEST_F(Dtypes, ABaselineOnALargerProblemCanBeTakenOver) {
  for (const Problem& problem : refused_problems("nn", -0.5, true)) {
    protocol::PrepareRequest request{as_sent(problem), {}};
    const BaselineReport found = prepare(problem);
    request.known = protocol::KnownBaseline{found, measurer_->opaque_algorithms()};
    const auto taken = measurer_->prepare(request);
    ASSERT_TRUE(taken) << problem.key() << ": " << taken.error().text();
    EXPECT_EQ(*taken, found) << problem.key();
    EXPECT_EQ(run(problem, "").outcome.kind, OutcomeKind::kOk) << problem.key();
  }
}

}  // namespace
}  // namespace pgtune::gpu
