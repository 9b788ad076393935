// SPDX-License-Identifier: MIT
#include "tests/gpu/variant_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tests/gpu/template_cases.hpp"

namespace pgtune::gpu {

std::vector<Problem> small_problems() {
  Problem strided = problem_of("131x141x71", "nn");
  strided.lda = 75;
  strided.ldb = 143;
  strided.ldc = 142;
  strided.alpha = 0.5;
  strided.beta = -2;
  return {strided, problem_of("130x140x72", "nn"), problem_of("132x140x68", "tt")};
}

std::vector<Problem> fused_problems(const Epilogue& epilogue) {
  std::vector<Problem> problems{problem_of("131x141x80", "nt"), problem_of("16x136x80", "nt")};
  problems.front().alpha = 0.5;
  problems.front().beta = -2;
  for (Problem& problem : problems) problem.epilogue = epilogue;
  return problems;
}

std::vector<Problem> problems_to_turn(const Problem& types) {
  std::vector<Problem> problems;
  if (element_bytes(types.dtype) == 2) return problems;
  for (const auto& [shape, layout] :
       {std::pair{"139x272x208", "nn"}, std::pair{"144x141x208", "tt"}, std::pair{"144x272x77", "tn"}}) {
    Problem problem = with_types(problem_of(shape, layout), types);
    problem.beta = problems.empty() ? -2 : 0;
    problems.push_back(problem);
  }
  return problems;
}

std::vector<Problem> problems_with_c(const Problem& types) {
  std::vector<Problem> problems;
  for (const auto& [shape, layout] : {std::pair{"2600x2064x208", "nt"}, std::pair{"208x272x144", "nn"},
                                      std::pair{"24x272x272", "nt"}, std::pair{"144x272x272", "tn"}}) {
    Problem problem = problem_of(shape, layout);
    problem.alpha = 0.5;
    problem.beta = -2;
    problem.batch = problem.m == 208 ? 3 : 1;
    problems.push_back(with_types(problem, types));
  }
  return problems;
}

std::vector<Problem> problems_of_staged_rows(const Problem& types) {
  std::vector<Problem> problems;
  for (const auto& [shape, layout] : {std::pair{"2601x2077x208", "nt"}, std::pair{"208x271x144", "nn"},
                                      std::pair{"144x268x272", "tn"}, std::pair{"24x269x2080", "nt"}}) {
    problems.push_back(problem_of(shape, layout));
  }
  problems[1].batch = 3;
  problems[1].ldc = 273;
  problems[1].alpha = 0.5;
  problems[1].beta = -2;
  problems[2].ldc = 272;
  for (Problem& problem : problems) problem = with_types(problem, types);
  return problems;
}

std::vector<Problem> problems_of_any_pitch(const Problem& types) {
  std::vector<Problem> problems;
  const std::int64_t bytes = element_bytes(types.dtype);
  for (const char* layout : {"nt", "nn", "tt", "tn"}) {
    for (const std::int64_t piece : {16, 8, 4}) {
      // 37, 69 and 27 are odd, so that extents are multiples of a piece and of no larger one.
      const std::int64_t unit = std::max<std::int64_t>(piece / bytes, 1);
      Problem problem = problem_of(fmt::format("{}x{}x{}", 37 * unit, 69 * unit, 27 * unit), layout);
      problem.batch = piece == 8 ? 2 : 1;
      problems.push_back(with_types(problem, types));
    }
  }
  for (const char* shape : {"2600x2072x328", "24x2072x328"}) {
    Problem wide = problem_of(shape, "nt");
    wide.lda = wide.ldb = 328 + 16 / bytes;
    wide.beta = -2;
    problems.push_back(with_types(wide, types));
  }
  return problems;
}

std::vector<Problem> problems_of_many_odd_lines() {
  std::vector<Problem> problems;
  for (const char* layout : {"nt", "nn", "tt", "tn"}) {
    for (const char* shape : {"192x301x1040", "190x302x1037"}) problems.push_back(problem_of(shape, layout));
    problems.back().beta = -2;
  }
  return problems;
}

std::vector<Problem> problems_of_few_vectors(const Problem& types) {
  std::vector<Problem> problems;
  for (const char* layout : {"nt", "nn", "tt", "tn"}) {
    for (const char* shape : {"1x272x4112", "3x141x211", "269x5x528", "528x16x80"}) {
      problems.push_back(with_types(problem_of(shape, layout), types));
    }
    Problem& strided = problems[problems.size() - 3];
    strided.batch = 2;
    strided.ldc = 143;
    Problem& added = problems[problems.size() - 2];
    added.alpha = 0.5;
    added.beta = -2;
  }
  return problems;
}

const std::vector<const char*> kSchedules{"BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6",
                                          "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=5,D_BUFFERS=4",
                                          "BN=256,STAGES=3,D_BUFFERS=4",
                                          "BM=64,BN=128,WARPGROUPS_M=1,STAGES=8",
                                          "BM=64,BN=80,WARPGROUPS_M=1,STAGES=11",
                                          "BM=192,BN=96,WARPGROUPS_M=3,STAGES=5",
                                          "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_K=2,BK_BYTES=256,STAGES=6",
                                          "BM=64,BN=32,WARPGROUPS_M=1,CTAS_PER_SM=2,STAGES=8",
                                          "BN=128,STAGES=6,DECOMPOSITION=split_k,SPLIT_K=2",
                                          "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6,DECOMPOSITION=stream_k",
                                          "BN=64,STAGES=9,EPILOGUE=direct",
                                          "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=32,STAGES=16",
                                          "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,CLUSTER_K=2,STAGES=16",
                                          "SWAP_AB=1,BN=104,STAGES=6",
                                          "SWAP_AB=1,BM=256,BN=88,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=4",
                                          "SWAP_AB=1,LEFT_SOURCE=registers,BN=128,STAGES=6",
                                          "LEFT_SOURCE=registers,BN=128,STAGES=6"};

const std::vector<const char*> kCopyingProducers{
    "STAGES=3,DECOMPOSITION=data_parallel",
    "STAGES=6",
    "BM=96,BN=256,TM=12,TN=8,STAGES=3,DECOMPOSITION=data_parallel",
    "BM=64,BN=64,TM=8,TN=8,SLICED_K=4,CLUSTER_K=2,STAGES=4,DECOMPOSITION=data_parallel",
    "BM=32,BN=128,TM=8,TN=8,SLICED_K=4,STAGES=4,DECOMPOSITION=split_k",
    "BM=16,BN=128,TM=8,TN=8,LANES_M=2,SLICED_K=4,STAGES=3",
    "TRANSPOSE_A=shared,TRANSPOSE_B=shared,STAGES=3",
    "BM=128,BN=64,TM=8,TN=8,SLICED_K=2,TRANSPOSE_A=shared,TRANSPOSE_B=shared,STAGES=6,DECOMPOSITION=split_k",
    "BM=32,BN=64,TM=8,TN=8,SLICED_K=4,TRANSPOSE_A=shared,TRANSPOSE_B=shared,STAGES=4",
    "BM=64,BN=64,TM=8,TN=8,SLICED_K=4,CLUSTER_K=2,TRANSPOSE_A=shared,STAGES=4,DECOMPOSITION=data_parallel",
    "BM=64,BN=128,TM=8,TN=8,SLICED_K=2,TRANSPOSE_A=shared,STAGES=4,DECOMPOSITION=data_parallel",
    "BM=128,BN=128,TM=16,TN=8,SLICED_K=2,TRANSPOSE_B=shared,STAGES=4"};

const std::vector<const char*> kOddSlices{
    "BM=64,BN=96,WARPGROUPS_M=1,STAGES=11,DECOMPOSITION=split_k,SPLIT_K=4,EPILOGUE=direct",
    "BM=64,BN=80,WARPGROUPS_M=1,STAGES=12,DECOMPOSITION=split_k,SPLIT_K=2,EPILOGUE=direct",
    "BN=112,STAGES=7,DECOMPOSITION=split_k,SPLIT_K=2,EPILOGUE=direct",
    "BM=64,BN=96,WARPGROUPS_M=1,STAGES=10,CLUSTER_K=4,EPILOGUE=direct"};

const std::vector<const char*> kSwappedRows{
    "SWAP_AB=1,BN=96,STAGES=16",
    "SWAP_AB=1,BN=96,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=2",
    "SWAP_AB=1,BN=96,STAGES=16,DECOMPOSITION=stream_k,CLUSTER_M=2",
    "SWAP_AB=1,BM=64,BN=96,WARPGROUPS_M=1,STAGES=16,CLUSTER_K=2",
    "SWAP_AB=1,BM=64,BN=208,WARPGROUPS_M=1,STAGES=16,CLUSTER_M=4",
    "SWAP_AB=1,BN=208,STAGES=16,DECOMPOSITION=stream_k",
    "SWAP_AB=1,BN=112,STAGES=16,SCHEDULE=pingpong,WARPGROUPS_M=1",
    "SWAP_AB=1,BM=256,BN=88,STAGES=16,SCHEDULE=pingpong,WARPGROUPS_M=1",
    "SWAP_AB=1,BM=64,BN=80,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=2",
    "SWAP_AB=1,BM=256,BN=152,STAGES=16,CLUSTER_N=2",
    "SWAP_AB=1,BN=232,STAGES=16",
    "SWAP_AB=1,BN=248,STAGES=16,CLUSTER_M=2",
    "SWAP_AB=1,BM=192,BN=176,STAGES=16,WARPGROUPS_M=3,CLUSTER_M=2",
    "SWAP_AB=1,BM=192,BN=208,STAGES=16,WARPGROUPS_M=1,WARPGROUPS_N=2",
    "SWAP_AB=1,BM=192,BN=224,STAGES=16,WARPGROUPS_M=1,WARPGROUPS_N=2,CLUSTER_N=2"};

const std::vector<const char*> kManySharers{
    "BM=64,BN=64,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=32",
    "BM=64,BN=64,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=24,EPILOGUE=direct",
    "BM=64,BN=64,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=16,EPILOGUE=direct,COPY=cp_async",
    "BM=64,BN=128,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=24,EPILOGUE=direct",
    "BN=128,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=32,EPILOGUE=direct",
    "BN=64,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=16,COPY=cp_async",
    "SWAP_AB=1,BM=64,BN=32,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=32",
    "SWAP_AB=1,BM=64,BN=48,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=16,EPILOGUE=direct,COPY=cp_async",
    "SWAP_AB=1,LEFT_SOURCE=registers,BM=64,BN=64,WARPGROUPS_M=1,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=32",
    "LEFT_SOURCE=registers,BN=128,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=16"};

const std::vector<const char*> kMmaSharers{
    "BM=64,BN=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=64",
    "BM=64,BN=64,WM=32,CTAS_PER_SM=3,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=32",
    "BM=64,BN=128,WM=32,WN=64,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=16",
    "BM=128,BN=64,WM=64,WN=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=8",
    "BM=64,BN=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=2",
    "BM=64,BN=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=stream_k"};

const std::vector<const char*> kLineSharers{
    "SLICED_K=8,LINES=4,UNROLL=2,VEC_BYTES=16",
    "LINE_WARPS=2,SLICED_K=2,CLUSTER_K=2,LINES=8,UNROLL=1,VEC_BYTES=16",
    "LINE_WARPS=4,SLICED_K=1,LINES=1,UNROLL=4,VEC_BYTES=16,FEW_SOURCE=prepared",
    "LINE_WARPS=1,SLICED_K=16,CLUSTER_K=8,LINES=1,UNROLL=8,VEC_BYTES=16",
    "LINE_WARPS=2,SLICED_K=4,CLUSTER_K=4,LINES=2,UNROLL=2,VEC_BYTES=16,FEW_SOURCE=prepared",
    "LINE_WARPS=2,SLICED_K=1,LINES=1,UNROLL=1,VEC_BYTES=16"};

}  // namespace pgtune::gpu
