// SPDX-License-Identifier: MIT
// cuBLASLt on a GPU: right in every layout, screened, described.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>

#include "tests/gpu/measure_device_fixture.hpp"

namespace pgtune::gpu {
namespace {

class ReferenceOnDevice : public MeasureOnDevice {
 protected:
  void expect_sound(const Problem& problem) {
    const auto begin = std::chrono::steady_clock::now();
    const BaselineReport report = prepare(problem);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    ASSERT_FALSE(report.algorithms.empty()) << problem.key();
    EXPECT_EQ(report.enlarged_shape, "") << problem.key();
    EXPECT_EQ(report.copied.empty(), report.others.empty()) << problem.key();
    EXPECT_FALSE(report.copied.ends_with('D')) << problem.key() << " copies " << report.copied;
    EXPECT_EQ(report.first, 0);
    EXPECT_NE(report.library.find("cuBLASLt 1"), std::string::npos) << report.library;
    EXPECT_NE(report.data_seed, 0U);
    EXPECT_GE(report.algorithms[0].rank, 0);
    int rank = -1;
    bool listed = true;
    for (const AlgorithmReport& algorithm : report.algorithms) {
      // First the heuristics' own, in their order, then those they left out.
      listed = listed && algorithm.rank >= 0;
      EXPECT_EQ(algorithm.rank >= 0, listed) << algorithm.description;
      if (listed) {
        EXPECT_GT(algorithm.rank, rank);
      }
      rank = algorithm.rank;
      EXPECT_LE(algorithm.workspace_bytes, 64 << 20) << algorithm.description;
      EXPECT_GT(algorithm.time_s, 0);
      EXPECT_LE(algorithm.max_error, 1) << algorithm.description;
      EXPECT_NE(algorithm.description.find("tile"), std::string::npos);
      EXPECT_GE(algorithm.time_s, report.algorithms[static_cast<std::size_t>(report.best)].time_s);
    }
    const auto& best = report.algorithms[static_cast<std::size_t>(report.best)];
    std::cout << problem.key() << ": " << report.algorithms.size() << " algorithms, " << report.buffer_copies
              << " copies, prepared in " << took.count() << " s, first "
              << problem.flops() / report.algorithms[0].time_s * 1e-12 << " TFLOP/s, best "
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

TEST_F(ReferenceOnDevice, TheBestIsOneOfSixteenDifferentOnesAtLeast) {
  for (const char* shape : {"512x512x512", "2048x2048x2048"}) {
    const BaselineReport report = prepare(make_problem(shape));
    EXPECT_GE(report.algorithms.size(), 16U) << shape;
    std::map<std::string, int> described;
    for (const AlgorithmReport& algorithm : report.algorithms) {
      // cuBLASLt's own list may name a configuration twice; what is added to it is new.
      if (algorithm.rank < 0) {
        EXPECT_EQ(described[algorithm.description], 0) << algorithm.description;
      }
      ++described[algorithm.description];
      // What the heuristics choose has a name in the header; what else the library has need not.
      if (algorithm.rank >= 0) {
        EXPECT_EQ(algorithm.description.find('#'), std::string::npos) << algorithm.description;
      }
    }
  }
}

}  // namespace
}  // namespace pgtune::gpu
