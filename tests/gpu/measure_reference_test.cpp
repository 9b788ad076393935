// SPDX-License-Identifier: MIT
// cuBLASLt on a GPU: right in every layout, screened, described.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/gpu/measure_device_fixture.hpp"

namespace pgtune::gpu {
namespace {

class ReferenceOnDevice : public MeasureOnDevice {
 protected:
  void expect_sound(const Problem& problem) {
    const ReferenceReport report = prepare(problem);
    ASSERT_FALSE(report.algorithms.empty()) << problem.key();
    EXPECT_EQ(report.first, 0);
    EXPECT_NE(report.library.find("cuBLASLt 1"), std::string::npos) << report.library;
    EXPECT_NE(report.data_seed, 0U);
    int rank = -1;
    for (const ReferenceAlgorithm& algorithm : report.algorithms) {
      EXPECT_GT(algorithm.rank, rank);
      rank = algorithm.rank;
      EXPECT_GT(algorithm.time_s, 0);
      EXPECT_LE(algorithm.max_error, 1) << algorithm.description;
      EXPECT_NE(algorithm.description.find("tile"), std::string::npos);
      EXPECT_GE(algorithm.time_s, report.algorithms[static_cast<std::size_t>(report.best)].time_s);
    }
    const auto& best = report.algorithms[static_cast<std::size_t>(report.best)];
    std::cout << problem.key() << ": " << report.algorithms.size() << " algorithms, " << report.buffer_copies
              << " copies, first " << problem.flops() / report.algorithms[0].time_s * 1e-12 << " TFLOP/s, best "
              << problem.flops() / best.time_s * 1e-12 << " TFLOP/s (rank " << best.rank << ", " << best.description
              << "), largest error " << best.max_error << "\n";
  }
};

TEST_F(ReferenceOnDevice, RightInEveryLayoutWithPaddingBatchAndBeta) {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    Problem problem = make_problem("257x130x67", layout);
    problem.lda += 3;
    problem.ldb += 5;
    problem.ldc += 7;
    problem.batch = 3;
    problem.alpha = -0.75;
    problem.beta = 1.25;
    expect_sound(problem);
  }
}

TEST_F(ReferenceOnDevice, RightOnLargeAndOnTinyShapes) {
  expect_sound(make_problem("4096x4096x4096"));
  expect_sound(make_problem("64x4096x4096", "nt"));
  expect_sound(make_problem("1x1x1"));
}

}  // namespace
}  // namespace pgtune::gpu
