// SPDX-License-Identifier: MIT
// Which of cuBLASLt's configurations are tried, and how they are named; needs no GPU and no cuBLASLt.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tuner/gpu/baseline/cublaslt_algorithms.hpp"
#include "tuner/gpu/baseline/cublaslt_baseline.hpp"

namespace pgtune::gpu {
namespace {

// What the heuristics of cuBLASLt 13.0 offer for float32 on an H200 looks like this.
constexpr CublasLtConfig kFirst{.id = 55, .tile = CUBLASLT_MATMUL_TILE_64x64, .stages = CUBLASLT_MATMUL_STAGES_8x3};
constexpr CublasLtConfig kSecond{.id = 20,
                                 .tile = CUBLASLT_MATMUL_TILE_256x128,
                                 .stages = CUBLASLT_MATMUL_STAGES_8x4,
                                 .split_k = 4,
                                 .reduction = CUBLASLT_REDUCTION_SCHEME_INPLACE};

CublasLtCapabilities capabilities(std::int32_t id) {
  return {.id = id,
          .tiles = {CUBLASLT_MATMUL_TILE_8x8, CUBLASLT_MATMUL_TILE_32x64, CUBLASLT_MATMUL_TILE_64x64,
                    CUBLASLT_MATMUL_TILE_128x64, CUBLASLT_MATMUL_TILE_256x128},
          .stages = {CUBLASLT_MATMUL_STAGES_8x3, CUBLASLT_MATMUL_STAGES_8x4},
          .split_k = true,
          .reduction_mask = CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
          .swizzle = true,
          .custom_max = 2};
}

TEST(AlgorithmText, NamesWhatTheHeaderNames) {
  EXPECT_EQ(describe(kFirst), "algorithm 55, tile 64x64, stages 8x3, split-K 1");
  EXPECT_EQ(describe(kSecond), "algorithm 20, tile 256x128, stages 8x4, split-K 4 (in place)");
  CublasLtConfig config = kFirst;
  config.split_k = 2;
  config.reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  config.swizzle = 1;
  config.custom = 3;
  config.inner = CUBLASLT_MATMUL_INNER_SHAPE_MMA16816;
  config.cluster = CUBLASLT_CLUSTER_SHAPE_2x4x1;
  EXPECT_EQ(describe(config),
            "algorithm 55, tile 64x64, stages 8x3, split-K 2 (compute type), swizzle 1, cluster 2x4x1, inner MMA16816, "
            "custom 3");
}

TEST(AlgorithmText, NumbersWhatItDoesNot) {
  CublasLtConfig config = kFirst;
  config.tile = 100000;
  config.stages = 29;  // a gap in cublasLtMatmulStages_t
  EXPECT_EQ(describe(config), "algorithm 55, tile #100000, stages #29, split-K 1");
  EXPECT_EQ(describe({.id = 1}), "algorithm 1, tile undefined, stages undefined, split-K 1");
}

TEST(TileShape, IsReadFromTheName) {
  const auto shape = tile_shape(CUBLASLT_MATMUL_TILE_128x64);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->rows, 128);
  EXPECT_EQ(shape->columns, 64);
  EXPECT_FALSE(tile_shape(CUBLASLT_MATMUL_TILE_UNDEFINED));
  EXPECT_FALSE(tile_shape(CUBLASLT_MATMUL_TILE_END));
  for (std::uint32_t tile = 1; tile < CUBLASLT_MATMUL_TILE_END; ++tile) EXPECT_TRUE(tile_shape(tile)) << tile;
}

TEST(AlgorithmDistance, GrowsWithEveryAttribute) {
  EXPECT_EQ(distance(kFirst, kFirst), 0);
  CublasLtConfig other = kFirst;
  other.tile = CUBLASLT_MATMUL_TILE_128x64;
  EXPECT_DOUBLE_EQ(distance(kFirst, other), 1);
  other.tile = CUBLASLT_MATMUL_TILE_128x32;  // as large, but of another shape
  EXPECT_DOUBLE_EQ(distance(kFirst, other), 2);
  other = kFirst;
  other.split_k = 8;
  EXPECT_DOUBLE_EQ(distance(kFirst, other), 3);
  const auto changed = [](auto member, auto value) {
    CublasLtConfig config = kFirst;
    config.*member = value;
    return distance(kFirst, config);
  };
  EXPECT_GT(changed(&CublasLtConfig::id, 20), 0);
  EXPECT_GT(changed(&CublasLtConfig::stages, std::uint32_t{26}), 0);
  EXPECT_GT(changed(&CublasLtConfig::swizzle, 1U), 0);
  EXPECT_GT(changed(&CublasLtConfig::custom, 1U), 0);
  EXPECT_DOUBLE_EQ(distance(kFirst, kSecond), distance(kSecond, kFirst));
}

TEST(FurtherConfigs, AreNewDistinctAndSupported) {
  const auto configs = further_configs({capabilities(20), capabilities(55)}, {kFirst, kSecond}, 200);
  EXPECT_EQ(configs.size(), 200U);
  EXPECT_EQ(std::set<CublasLtConfig>(configs.begin(), configs.end()).size(), configs.size());
  for (const CublasLtConfig& config : configs) {
    EXPECT_NE(config, kFirst);
    EXPECT_NE(config, kSecond);
    EXPECT_TRUE(config.id == 20 || config.id == 55);
    EXPECT_LE(config.custom, 2U);
    EXPECT_LE(config.swizzle, 1U);
    // A split needs a scheme, and a scheme means nothing without.
    EXPECT_EQ(config.split_k > 1, config.reduction != CUBLASLT_REDUCTION_SCHEME_NONE) << describe(config);
    EXPECT_NE(config.reduction, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE});
  }
}

TEST(FurtherConfigs, TheLikeliestComeFirst) {
  const auto configs = further_configs({capabilities(20), capabilities(55), capabilities(7)}, {kFirst, kSecond}, 200);
  ASSERT_GE(configs.size(), 40U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_LE(std::min(distance(configs[i], kFirst), distance(configs[i], kSecond)), 2) << describe(configs[i]);
  }
  // Another tile comes before the same one with an option that only reorders its work.
  CublasLtConfig tile = kFirst, option = kFirst;
  tile.tile = CUBLASLT_MATMUL_TILE_128x64;
  option.swizzle = 1;
  EXPECT_LT(std::find(configs.begin(), configs.end(), tile), std::find(configs.begin(), configs.end(), option));
  // Both offered ones have neighbours among the first.
  const auto first_40 = [&](std::int32_t id) {
    return std::any_of(configs.begin(), configs.begin() + 40, [&](const auto& config) { return config.id == id; });
  };
  EXPECT_TRUE(first_40(20));
  EXPECT_TRUE(first_40(55));
}

TEST(FurtherConfigs, WithoutSplitSwizzleAndCustomOnlyTilesAndStagesAreCombined) {
  CublasLtCapabilities simple = capabilities(3);
  simple.split_k = simple.swizzle = false;
  simple.custom_max = 0;
  EXPECT_EQ(further_configs({simple}, {kFirst}, 200).size(), 5U * 2U);
  simple.tiles.clear();
  simple.stages.clear();
  const auto configs = further_configs({simple}, {kFirst}, 200);
  ASSERT_EQ(configs.size(), 1U);
  EXPECT_EQ(configs[0], (CublasLtConfig{.id = 3}));
}

TEST(FurtherConfigs, InnerAndClusterShapesAreThoseOfferedOfTheSameAlgorithm) {
  CublasLtConfig offered = kFirst;
  offered.inner = CUBLASLT_MATMUL_INNER_SHAPE_MMA1688;
  offered.cluster = CUBLASLT_CLUSTER_SHAPE_2x1x1;
  for (const CublasLtConfig& config : further_configs({capabilities(55), capabilities(20)}, {offered}, 200)) {
    EXPECT_EQ(config.inner, config.id == 55 ? offered.inner : 0);
    EXPECT_EQ(config.cluster, config.id == 55 ? offered.cluster : 0);
  }
}

TEST(FurtherConfigs, WorkWithoutAnyHeuristic) { EXPECT_EQ(further_configs({capabilities(55)}, {}, 16).size(), 16U); }

TEST(SimilarProblems, KeepTypesAndLayoutAndAreOtherSizes) {
  Problem problem;
  problem.m = 4096;
  problem.n = 100;
  problem.k = 8;
  problem.batch = 3;
  problem.dtype = Dtype::kBf16;
  problem.trans_b = true;
  problem.lda = 4000;  // must not be kept: another K needs another
  const auto similar = similar_problems(problem);
  ASSERT_EQ(similar.size(), 16U);
  EXPECT_EQ(similar[0].m, 2048);
  EXPECT_EQ(similar[0].n, 100);
  for (const Problem& other : similar) {
    EXPECT_EQ(other.dtype, Dtype::kBf16);
    EXPECT_EQ(other.layout(), "nt");
    EXPECT_EQ(other.batch, 3);
    EXPECT_EQ(other.lda, other.k);
    EXPECT_TRUE(other.n == 100 || other.n % 16 == 0) << other.shape();
    EXPECT_TRUE(other.k == 8 || other.k >= 16) << other.shape();
    EXPECT_NE(other.shape(), problem.shape());
  }
  // What would no longer fit 64 bits is left out.
  problem.m = std::int64_t{1} << 60;
  problem.n = problem.k = 1;
  problem.batch = 1;
  EXPECT_LT(similar_problems(problem).size(), 16U);
}

TEST(BaselineProblem, IsWithoutAnActivationThatCublasLtLacks) {
  Problem problem;
  problem.m = problem.n = problem.k = 48;
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kE4m3}) {
    problem.dtype = dtype;
    problem.epilogue = {true, Activation::kGelu};
    EXPECT_EQ(BaselineOperands::solvable(with_default_strides(problem).value()).epilogue, problem.epilogue);
    problem.epilogue.activation = Activation::kSilu;
    EXPECT_EQ(BaselineOperands::solvable(with_default_strides(problem).value()).epilogue,
              (Epilogue{true, Activation::kNone}));
  }
}

TEST(BaselineProblem, IntegersLieAlongAKThatIsAMultipleOfFour) {
  Problem problem;
  problem.m = problem.n = 48;
  problem.k = 64;
  problem.dtype = Dtype::kInt8;
  problem.trans_b = true;
  const Problem usable = with_default_strides(problem).value();
  EXPECT_EQ(BaselineOperands::solvable(usable), usable);
  EXPECT_EQ(BaselineOperands::copy_bytes(usable), 0);
  problem.k = 61;
  problem.lda = problem.ldb = 64;
  const Problem ragged = with_default_strides(problem).value(), solvable = BaselineOperands::solvable(ragged);
  EXPECT_EQ(solvable.k, 64);
  EXPECT_EQ(BaselineOperands::copy_bytes(ragged), 2 * 3 * 1024);
  problem.trans_a = true;
  problem.lda = problem.ldb = 0;
  problem.k = 66;
  const Problem turned = BaselineOperands::solvable(with_default_strides(problem).value());
  EXPECT_EQ(turned.layout(), "nt");
  EXPECT_EQ(turned.k, 68);
  EXPECT_EQ(turned.lda, 80);
}

Problem float8_problem(const std::string& shape, const std::string& layout) {
  Problem problem = with_layout(parse_shape(shape).value(), layout).value();
  problem.dtype = Dtype::kE4m3;
  return with_default_strides(problem).value();
}

TEST(BaselineProblem, Float8IsEnlargedToMultiplesOfSixteen) {
  Problem problem = float8_problem("127x129x131", "tn");
  problem.batch = 2;
  const Problem solvable = BaselineOperands::solvable(problem);
  EXPECT_EQ(solvable.shape(), "127x129x131");
  EXPECT_EQ(solvable.layout(), "nt");
  const Problem larger = BaselineOperands::enlarged(problem).value();
  EXPECT_EQ(larger.key(), "e4m3 nt 128x144x144 b2 ld144,144,144 a1 b0");
  // A, B and D.
  EXPECT_EQ(BaselineOperands::copy_bytes(problem), (36 + 41 + 72) * 1024);
  problem.beta = -0.5;
  problem.epilogue = {true, Activation::kGelu};
  EXPECT_EQ(BaselineOperands::enlarged(problem)->key(),
            "e4m3 nt 128x144x144 b2 ld144,144,144 a1 b-0.5 epilogue bias+gelu");
  EXPECT_EQ(BaselineOperands::copy_bytes(problem), (36 + 41 + 2 * 72 + 1) * 1024);
  problem.epilogue.activation = Activation::kSilu;
  EXPECT_EQ(BaselineOperands::enlarged(problem)->epilogue, (Epilogue{true, Activation::kNone}));
  problem.dtype = Dtype::kE5m2;
  EXPECT_EQ(BaselineOperands::enlarged(problem)->shape(), "128x144x144");
}

/// What launches copy, of the problem at its own extents; and of the larger one, where there is one.
std::string copied(const Problem& problem) {
  const auto larger = BaselineOperands::enlarged(problem);
  const std::string own = BaselineOperands::copied(problem, BaselineOperands::solvable(problem));
  return fmt::format("{}; {}", own.empty() ? "nothing" : own,
                     larger ? BaselineOperands::copied(problem, *larger) : "none");
}

TEST(BaselineProblem, OnlyWhatCublasLtCannotTakeAsStoredIsCopied) {
  const auto of = [](const char* shape, const char* layout) { return copied(float8_problem(shape, layout)); };
  EXPECT_EQ(of("256x512x768", "nt"), "nothing; none");
  EXPECT_EQ(of("256x512x768", "nn"), "B; none");
  EXPECT_EQ(of("256x512x768", "tt"), "A; none");
  EXPECT_EQ(of("256x512x768", "tn"), "A, B; none");
  EXPECT_EQ(of("127x129x131", "nt"), "A, B; A, B, D");
  // Of the larger problem what has not grown stays as well, K being of both.
  EXPECT_EQ(of("127x512x768", "nt"), "nothing; A, D");
  EXPECT_EQ(of("256x513x768", "nt"), "nothing; B, D");
  EXPECT_EQ(of("256x512x776", "nt"), "A, B; A, B");
  Problem padded = float8_problem("256x512x768", "nt");
  padded.lda = padded.ldb = 800;
  EXPECT_EQ(copied(padded), "nothing; none");
  padded.ldc = 517;
  EXPECT_EQ(copied(padded), "nothing; D");
  padded.ldb = 801;
  padded.beta = 1;
  EXPECT_EQ(copied(padded), "B; B, C, D");
  padded = float8_problem("127x129x131", "tn");
  padded.beta = 1;
  padded.epilogue.bias = true;
  EXPECT_EQ(copied(padded), "A, B; A, B, C, bias, D");
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16}) {
    padded.dtype = dtype;
    EXPECT_EQ(copied(padded), "nothing; none");
  }
}

TEST(BaselineProblem, WhatIsLargeEnoughKeepsItsSize) {
  Problem problem = float8_problem("1008x1024x1040", "nt");
  EXPECT_FALSE(BaselineOperands::enlarged(problem));
  EXPECT_EQ(BaselineOperands::copy_bytes(problem), 0);
  // Rows of D alone: A and B serve as they are.
  problem.ldc = 1025;
  EXPECT_EQ(BaselineOperands::enlarged(problem), float8_problem("1008x1024x1040", "nt"));
  EXPECT_EQ(BaselineOperands::copy_bytes(problem), 1008 * 1024 * 2);
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16, Dtype::kInt8}) {
    problem = float8_problem("127x129x131", "nt");
    problem.dtype = dtype;
    EXPECT_FALSE(BaselineOperands::enlarged(problem));
  }
  // What would no longer fit 64 bits.
  const std::int64_t long_row = std::int64_t{1} << 58;
  EXPECT_FALSE(BaselineOperands::enlarged(float8_problem(fmt::format("1x{}x1", long_row), "nt")));
}

TEST(BaselineProblem, IntegersAreScaledByIntegers) {
  Problem problem;
  problem.dtype = Dtype::kInt8;
  const CublasLtTypes types = cublaslt_types(problem);
  EXPECT_EQ(types.compute, CUBLAS_COMPUTE_32I);
  EXPECT_EQ(types.scale, CUDA_R_32I);
  EXPECT_EQ(types.a, CUDA_R_8I);
  EXPECT_EQ(types.c, CUDA_R_32I);
  EXPECT_FALSE(types.fast_accumulation);
  problem.dtype = Dtype::kE4m3;
  EXPECT_TRUE(cublaslt_types(problem).fast_accumulation);
  EXPECT_EQ(cublaslt_types(problem).scale, CUDA_R_32F);
}

TEST(BaselineProblem, EpiloguesHaveCublasLtsNames) {
  EXPECT_EQ(cublaslt_epilogue({}), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(cublaslt_epilogue({true, Activation::kNone}), CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(cublaslt_epilogue({false, Activation::kRelu}), CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(cublaslt_epilogue({true, Activation::kRelu}), CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_EQ(cublaslt_epilogue({false, Activation::kGelu}), CUBLASLT_EPILOGUE_GELU);
  EXPECT_EQ(cublaslt_epilogue({true, Activation::kGelu}), CUBLASLT_EPILOGUE_GELU_BIAS);
}

TEST(EnoughAlgorithms, SixteenAtLeastAndMoreWhileTimeIsLeft) {
  EXPECT_FALSE(enough_algorithms(kMinAlgorithms - 1, 60));
  EXPECT_FALSE(enough_algorithms(kMinAlgorithms, 0.5));
  EXPECT_TRUE(enough_algorithms(kMinAlgorithms, 2));
  EXPECT_TRUE(enough_algorithms(kMaxAlgorithms, 0));
  EXPECT_GE(kMinAlgorithms, 16U);
}

}  // namespace
}  // namespace pgtune::gpu
