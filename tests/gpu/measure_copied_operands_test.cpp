// SPDX-License-Identifier: MIT
// Where cuBLASLt does not take operands as they are stored, every launch of the baseline copies them: a launch on other
// data than those it was made on gives the product of these.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "tests/gpu/measure_gemm_source.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/baseline/cublaslt_baseline.hpp"
#include "tuner/gpu/measure/current_problem.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"

namespace pgtune::gpu {
namespace {

Problem stored(const std::string& shape, const std::string& layout, Dtype dtype) {
  Problem problem = make_problem(shape, layout);
  problem.dtype = dtype;
  return problem;
}

class CopiedOperands : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto opened = gpu_.open("0"); !opened) GTEST_SKIP() << opened.error().text();
    if (gpu_.info.arch_number() < 89) GTEST_SKIP() << "needs a GPU of compute capability 8.9 for e4m3";
  }

  /// `copied`: as BaselineReport's.
  void expect_copied(const Problem& plain, const std::string& copied) {
    SCOPED_TRACE(plain.key());
    const Problem problem = as_sent(plain);
    MemoryNeed memory = CheckedProblem::memory_of(problem);
    const MemoryNeed of_baseline = CublasLtBaseline::memory(problem);
    memory.copy += of_baseline.copy;
    memory.once += of_baseline.once;
    const auto checked = CheckedProblem::create(gpu_, problem, {}, memory, false);
    ASSERT_TRUE(checked) << checked.error().text();
    OperandBuffers& buffers = (*checked)->buffers();
    Checker& checker = (*checked)->checker();
    const BaselineParts parts{gpu_, buffers, checker, {}, {}};
    const auto baseline = CublasLtBaseline::begin(problem, parts);
    ASSERT_TRUE(baseline) << baseline.error().text();
    const auto found = (*baseline)->find(parts);
    ASSERT_TRUE(found) << found.error().text();
    const BaselineReport report = (*baseline)->report();
    expect_told(report, copied);

    // Both launch the same, whatever the operands hold by then.
    const auto taken = CublasLtBaseline::begin(problem, parts);
    ASSERT_TRUE(taken) << taken.error().text();
    const auto took_over = (*taken)->take_over(parts, {report, (*baseline)->opaque()});
    ASSERT_TRUE(took_over) << took_over.error().text();
    EXPECT_EQ((*taken)->report(), report);
    OperandBuffers::Data other = buffers.data();
    ++other.seed;
    buffers.set_data(other);
    for (std::size_t copy = 0; copy < buffers.copies().size(); ++copy)
      ASSERT_TRUE(buffers.fill(copy, gpu_.gpu.stream.get())) << "copy " << copy;
    ASSERT_TRUE(checker.refer_to(0));
    for (std::size_t i = 0; i < report.algorithms.size(); ++i) expect_right(**baseline, i, checker);
    expect_right(**taken, static_cast<std::size_t>(report.best), checker);
  }

 private:
  static void expect_told(const BaselineReport& report, const std::string& copied) {
    EXPECT_EQ(report.copied, copied);
    ASSERT_EQ(report.others.size(), copied.empty() ? 0U : 1U);
    if (copied.empty()) return;
    const OtherBaseline& alone = report.others[0];
    const AlgorithmReport& best = report.algorithms.at(static_cast<std::size_t>(report.best));
    EXPECT_EQ(alone.library, report.library + ", operands laid out before");
    EXPECT_EQ(alone.algorithm, best.description);
    EXPECT_EQ(alone.unavailable, "");
    EXPECT_GT(alone.time_s, 0);
    std::cout << "with copies " << best.time_s * 1e6 << " us, the product alone " << alone.time_s * 1e6 << " us\n";
  }

  /// One launch over a poisoned D: nothing of it is left from before.
  void expect_right(Baseline& baseline, std::size_t algorithm, Checker& checker) {
    const auto series = baseline.series(algorithm, *gpu_.timer);
    ASSERT_TRUE(series) << series.error().message();
    const auto verdict = checker.check((*series)->launchable());
    ASSERT_TRUE(verdict) << verdict.error().message();
    EXPECT_EQ(verdict->fault, "") << baseline.report().algorithms[algorithm].description;
  }

  MeasuringGpu gpu_;
};

TEST_F(CopiedOperands, ThoseThatDoNotLieAlongK) {
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kInt8}) {
    expect_copied(stored("304x528x720", "tn", dtype), "A, B");
    expect_copied(stored("304x528x720", "nn", dtype), "B");
    expect_copied(stored("304x528x720", "tt", dtype), "A");
    expect_copied(stored("304x528x720", "nt", dtype), "");
  }
}

TEST_F(CopiedOperands, RowsThatBeginAnywhere) {
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kE5m2, Dtype::kInt8}) {
    Problem problem = stored("304x528x720", "nt", dtype);
    problem.lda += 16;
    expect_copied(problem, "");
    problem.lda += 3;
    expect_copied(problem, "A");
    problem.ldb += 5;
    expect_copied(problem, "A, B");
    problem = stored("304x528x720", "tn", dtype);
    problem.lda += 1;
    problem.ldb += 2;
    expect_copied(problem, "A, B");
  }
}

TEST_F(CopiedOperands, MatricesOfABatch) {
  for (const char* layout : {"tn", "nn"}) {
    for (const Dtype dtype : {Dtype::kE4m3, Dtype::kInt8}) {
      Problem problem = stored("144x272x400", layout, dtype);
      problem.batch = 2;
      problem.beta = 2;
      problem.lda += 7;
      expect_copied(problem, "A, B");
    }
  }
}

TEST_F(CopiedOperands, ALargerProblemHasADOfItsOwn) {
  for (const char* layout : {"tn", "nn", "tt", "nt"}) {
    Problem problem = stored("127x129x131", layout, Dtype::kE4m3);
    expect_copied(problem, "A, B, D");
    problem.batch = 2;
    problem.alpha = -0.75;
    problem.beta = 1.25;
    problem.epilogue.bias = true;
    for (const ElementType output : output_types(problem.dtype)) {
      problem.output = output;
      for (const std::int64_t gap : {0, 6}) {
        problem.ldc = 129 + gap;
        expect_copied(problem, "A, B, C, bias, D");
      }
    }
  }
}

TEST_F(CopiedOperands, IntegersOfAnyK) {
  Problem problem = stored("127x148x177", "nn", Dtype::kInt8);
  problem.batch = 2;
  problem.alpha = -3;
  problem.beta = 4;
  problem.lda += 16;
  problem.ldb += 16;
  problem.ldc += 16;
  expect_copied(problem, "A, B");
  expect_copied(stored("128x144x177", "nt", Dtype::kInt8), "A, B");
}

TEST_F(CopiedOperands, OfManyTilesAndRows) {
  expect_copied(stored("1001x2003x4099", "tn", Dtype::kE4m3), "A, B, D");
  expect_copied(stored("2048x2048x2048", "nn", Dtype::kE4m3), "B");
}

}  // namespace
}  // namespace pgtune::gpu
