// SPDX-License-Identifier: MIT
// Representative variants of every template, each launched once on a small ragged problem and checked. Nothing is
// timed, so that compute-sanitizer can watch (scripts/sanitize-gpu); its tools slow a launch down ten to a hundred
// times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kVariantsPerProblem = 4;

/// Ragged in every extent, once with rows that TMA and 16-byte copies can take; a strided one adds to what is there.
std::vector<Problem> small_problems() {
  Problem strided = problem_of("131x141x71", "nn");
  strided.lda = 75;
  strided.ldb = 143;
  strided.ldc = 142;
  strided.alpha = 0.5;
  strided.beta = -2;
  return {strided, problem_of("130x140x72", "nn"), problem_of("132x140x68", "tt")};
}

/// Where a bias ends inside a vector and C is added, and where it runs along the rows of an exchanged product. Operands
/// that TMA takes whatever their type.
std::vector<Problem> fused_problems(const Epilogue& epilogue) {
  std::vector<Problem> problems{problem_of("131x141x80", "nt"), problem_of("16x136x80", "nt")};
  problems.front().alpha = 0.5;
  problems.front().beta = -2;
  for (Problem& problem : problems) problem.epilogue = epilogue;
  return problems;
}

/// What gemm_wgmma can turn in registers: operands of 8 and 32 bits that do not lie along K, in rows that TMA takes.
/// Ragged in the other directions; C is added to one.
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

/// C is added where TMA stores D: more tiles than multiprocessors, a batch, and an exchanged product.
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

/// Rows of D that TMA cannot write: of odd length, from odd elements on, and only their starts or only their ends
/// between multiples of 16 bytes; more tiles than multiprocessors, a batch, C, and an exchanged product.
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

/// Rows that start and end at multiples of 16, 8 and 4 bytes and of no more, ragged in every extent, in every layout.
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

/// Few rows or columns of D, in every layout: one, an odd number and as many as there may be; lines of odd length and
/// others, K that ends inside what a warp loads at once, a batch, C, and rows apart from each other.
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
                                          "SWAP_AB=1,LEFT_SOURCE=registers,BN=128,STAGES=6",
                                          "LEFT_SOURCE=registers,BN=128,STAGES=6"};

/// Of sgemm_tma: tiles of every kind, with operands along K transposed in shared memory, packed before, and one of
/// each.
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

/// CTAs that share a tile along K and finish 24, 40, 56 or 24 columns of it each.
const std::vector<const char*> kOddSlices{
    "BM=64,BN=96,WARPGROUPS_M=1,STAGES=11,DECOMPOSITION=split_k,SPLIT_K=4,EPILOGUE=direct",
    "BM=64,BN=80,WARPGROUPS_M=1,STAGES=12,DECOMPOSITION=split_k,SPLIT_K=2,EPILOGUE=direct",
    "BN=112,STAGES=7,DECOMPOSITION=split_k,SPLIT_K=2,EPILOGUE=direct",
    "BM=64,BN=96,WARPGROUPS_M=1,STAGES=10,CLUSTER_K=4,EPILOGUE=direct"};

/// More than 64 rows of D in one tile of a product whose operands are swapped.
const std::vector<const char*> kSwappedRows{"SWAP_AB=1,BN=96,STAGES=16",
                                            "SWAP_AB=1,BN=96,STAGES=16,DECOMPOSITION=split_k,SPLIT_K=2",
                                            "SWAP_AB=1,BN=96,STAGES=16,DECOMPOSITION=stream_k,CLUSTER_M=2",
                                            "SWAP_AB=1,BM=64,BN=96,WARPGROUPS_M=1,STAGES=16,CLUSTER_K=2",
                                            "SWAP_AB=1,BM=64,BN=208,WARPGROUPS_M=1,STAGES=16,CLUSTER_M=4",
                                            "SWAP_AB=1,BN=208,STAGES=16,DECOMPOSITION=stream_k"};

/// So many CTAs that a few tiles occupy every multiprocessor; 1 to 16 of them finish a slice of 8 columns or more.
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

/// The same of gemm_mma, in which 2 to 8 finish a slice of a warp's blocks.
const std::vector<const char*> kMmaSharers{
    "BM=64,BN=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=64",
    "BM=64,BN=64,WM=32,CTAS_PER_SM=3,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=32",
    "BM=64,BN=128,WM=32,WN=64,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=16",
    "BM=128,BN=64,WM=64,WN=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=8",
    "BM=64,BN=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=split_k,SPLIT_K=2",
    "BM=64,BN=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,STAGES=4,DECOMPOSITION=stream_k"};

/// Of gemm_skinny: every way to share lines, along and, where there is one, across K.
const std::vector<const char*> kLineSharers{
    "SLICED_K=8,LINES=4,UNROLL=2,VEC_BYTES=16",
    "LINE_WARPS=2,SLICED_K=2,CLUSTER_K=2,LINES=8,UNROLL=1,VEC_BYTES=16",
    "LINE_WARPS=4,SLICED_K=1,LINES=1,UNROLL=4,VEC_BYTES=16,FEW_SOURCE=prepared",
    "LINE_WARPS=1,SLICED_K=16,CLUSTER_K=8,LINES=1,UNROLL=8,VEC_BYTES=16",
    "LINE_WARPS=2,SLICED_K=4,CLUSTER_K=4,LINES=2,UNROLL=2,VEC_BYTES=16,FEW_SOURCE=prepared",
    "LINE_WARPS=2,SLICED_K=1,LINES=1,UNROLL=1,VEC_BYTES=16"};

ParameterValue& value_of(Variant& variant, std::string_view name) {
  return std::find_if(variant.parameters.begin(), variant.parameters.end(),
                      [&](const Assignment& parameter) { return parameter.name == name; })
      ->value;
}

class VariantsOnDevice : public testing::TestWithParam<fs::path>, protected LaunchingGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    auto definition = space::load_template(GetParam(), shipped_header);
    ASSERT_TRUE(definition) << definition.error().text();
    definition_ = std::move(*definition);
    definition_.preset.clear();  // what is legal, not only what a search tries
  }

  /// The default variant's neighbours and the extremes that are legal for `problem`, of those with `fixed` if it is
  /// given.
  [[nodiscard]] std::vector<Variant> chosen(const Problem& problem, const Assignment* fixed) const {
    auto space = space::legal_variants(definition_, problem, info_);
    EXPECT_TRUE(space) << space.error().text();
    if (!space) return {};
    std::vector<Variant>& legal = space->variants;
    if (fixed != nullptr) {
      std::erase_if(legal, [&](const Variant& variant) { return *variant.find(fixed->name) != fixed->value; });
    }
    if (legal.empty()) return {};
    std::vector<Variant> variants = extreme_variants(definition_, legal, kVariantsPerProblem - 1);
    const auto usual = nearest(legal, definition_.default_variant(), nullptr);
    if (std::find(variants.begin(), variants.end(), *usual) == variants.end()) variants.push_back(*usual);
    return variants;
  }

  /// The small problems in each dtype and output type.
  [[nodiscard]] std::vector<Problem> problems() const {
    std::vector<Problem> all;
    for (const Problem& types : types_of(definition_)) {
      for (const Problem& problem : small_problems()) all.push_back(with_types(problem, types));
    }
    return all;
  }

  /// Those with an epilogue, in the first and in the last of the types.
  [[nodiscard]] std::vector<Problem> fused() const {
    std::vector<Problem> all, types = types_of(definition_);
    std::erase_if(types, [](const Problem& problem) { return problem.dtype == Dtype::kInt8; });  // has none
    for (const Epilogue& epilogue : epilogues_of(definition_)) {
      for (const Problem& problem : fused_problems(epilogue)) {
        all.push_back(with_types(problem, types.front()));
        all.push_back(with_types(problem, types.back()));
      }
    }
    return all;
  }

  /// Each of the schedules that is legal, with `fixed` if it is given, and with fewer stages or shorter vectors where
  /// so many or so long ones do not fit.
  [[nodiscard]] std::vector<Variant> like(const std::vector<const char*>& schedules, const Problem& problem,
                                          const Assignment* fixed) const {
    std::vector<Variant> variants;
    for (const char* text : schedules) {
      Variant variant = space::parse_variant(definition_, text).value();
      if (fixed != nullptr) value_of(variant, fixed->name) = fixed->value;
      const bool staged = variant.find("STAGES") != nullptr;
      ParameterValue& lowered = value_of(variant, staged ? "STAGES" : "VEC_BYTES");
      for (std::int64_t most = std::get<std::int64_t>(lowered); most > (staged ? 1 : 0);
           most = staged ? most - 1 : most / 2) {
        lowered = most;
        if (space::why_illegal(definition_, variant, problem, info_) != std::nullopt) continue;
        variants.push_back(variant);
        break;
      }
    }
    return variants;
  }

  /// Of all variants, or of those with a parameter's value; chosen() from them, or like() schedules of a template.
  void expect_right(const std::vector<Problem>& problems, const Assignment* fixed = nullptr,
                    const std::vector<const char*>* schedules = nullptr) {
    for (const Problem& problem : problems) {
      const std::vector<Variant> variants =
          schedules != nullptr ? like(*schedules, problem, fixed) : chosen(problem, fixed);
      if (variants.empty()) continue;
      const auto own = operation_kernels(driver_, *kernels_, problem, info_.architecture);
      const auto buffers = OperandBuffers::allocate(*kernels_, *own, {}, 1, stream_.get());
      ASSERT_TRUE(buffers);
      const auto checker = Checker::create(*kernels_, *buffers, *own, stream_.get());
      ASSERT_TRUE(checker);
      const std::vector<Result<Built>> built = build(definition_, variants, problem);
      for (std::size_t i = 0; i < variants.size(); ++i) {
        SCOPED_TRACE(problem.title() + " " + variants[i].key());
        launch_once(built[i], *buffers, **checker);
        if (HasFatalFailure()) return;
      }
    }
    if (launched_ == 0) GTEST_SKIP() << "no variant is legal for these problems on this GPU";
    fmt::print("launched {} variants of {}\n", launched_, definition_.name);
  }

  void launch_once(const Result<Built>& built, const OperandBuffers& buffers, Checker& checker) {
    ASSERT_TRUE(built) << built.error().text();
    const auto loaded = load(*built, buffers.copies());
    ASSERT_TRUE(loaded) << loaded.error().text;
    const auto verdict = checker.check(**loaded);
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->fault, "");
    ++launched_;
  }

  space::TemplateDefinition definition_;
  int launched_ = 0;
};

TEST_P(VariantsOnDevice, AreRightOnSmallRaggedProblems) { expect_right(problems()); }

TEST_P(VariantsOnDevice, AreRightWithEveryEpilogue) { expect_right(fused()); }

TEST_P(VariantsOnDevice, AreRightWhereRegistersTransposeAnOperand) {
  const Assignment transposed{"LEFT_SOURCE", "registers"};
  if (definition_.default_variant().find(transposed.name) == nullptr)
    GTEST_SKIP() << "nothing is transposed in registers";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_to_turn(types)) problems.push_back(problem);
  }
  expect_right(problems, &transposed);
}

// The CTAs' shares of a narrow tile are then no multiples of eight lines, the length of a swizzle's pattern.
TEST_P(VariantsOnDevice, AreRightWhereFourCtasShareATile) {
  const Assignment shared{"CLUSTER_M", 4};
  if (definition_.default_variant().find(shared.name) == nullptr) GTEST_SKIP() << "has no clusters";
  expect_right(problems(), &shared);
}

TEST_P(VariantsOnDevice, AreRightWhereCIsCopiedWhileMultiplying) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "reads C when it stores D";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_with_c(types)) problems.push_back(problem);
  }
  const Assignment copied{"C_SOURCE", "shared"}, boxes{"D_BUFFERS", 4};
  expect_right(problems, &copied, &kSchedules);
  expect_right(problems, &boxes, &kSchedules);
}

TEST_P(VariantsOnDevice, AreRightWhereThreadsCopyOperandsOfAnyPitch) {
  const Assignment copied{"COPY", "cp_async"};
  const bool by_ffma = definition_.name == "sgemm_tma";
  if (!by_ffma && definition_.name != "gemm_wgmma") GTEST_SKIP() << "copies in one way";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_of_any_pitch(types)) problems.push_back(problem);
  }
  for (const char* layout : {"nt", "nn", "tt", "tn"}) {
    if (!by_ffma) break;
    // Lines of B at multiples of 4 and of 8 bytes, beside an A that is read by TMA and one that is not; many k-blocks.
    for (const char* shape : {"192x301x1040", "190x302x1037"}) problems.push_back(problem_of(shape, layout));
    problems.back().beta = -2;
  }
  expect_right(problems, &copied, by_ffma ? &kCopyingProducers : &kSchedules);
}

TEST_P(VariantsOnDevice, AreRightWhereCtasFinishOddSlices) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "slices are multiples of 16 columns";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const char* shape : {"130x216x2080", "128x451x2080"}) {
      Problem problem = problem_of(shape, "nt");
      problem.beta = -2;
      problems.push_back(with_types(problem, types));
    }
  }
  expect_right(problems, nullptr, &kOddSlices);
}

TEST_P(VariantsOnDevice, AreRightWhereRowsOfDAreStaged) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "stores rows of D in one way";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_of_staged_rows(types)) problems.push_back(problem);
  }
  const Assignment staged{"EPILOGUE", "staged"};
  expect_right(problems, &staged, &kSchedules);
  expect_right(problems, &staged, &kManySharers);
}

// The check launches each twice, so that its counts go on where the launch before left them.
TEST_P(VariantsOnDevice, AreRightWhereManyCtasShareATile) {
  const bool by_mma = definition_.name == "gemm_mma";
  if (!by_mma && definition_.name != "gemm_wgmma") GTEST_SKIP() << "eight share a tile at most";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const auto& [shape, layout] :
         {std::pair{"72x56x8320", "tn"}, std::pair{"72x120x8320", "nt"}, std::pair{"24x40x8320", "tt"},
          std::pair{"42x98x8320", "nn"}, std::pair{"48x56x33280", "nt"}}) {
      Problem problem = problem_of(shape, layout);
      problem.beta = -2;
      problems.push_back(with_types(problem, types));
    }
  }
  expect_right(problems, nullptr, by_mma ? &kMmaSharers : &kManySharers);
}

TEST_P(VariantsOnDevice, AreRightWhereMoreRowsAreSwapped) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "swaps no operands, or those of few rows alone";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const auto& [shape, layout] : {std::pair{"88x1296x2080", "nt"}, std::pair{"91x1296x2080", "nt"},
                                        std::pair{"200x1296x2080", "nn"}, std::pair{"96x1299x2080", "tn"}}) {
      Problem problem = problem_of(shape, layout);
      problem.beta = -2;
      problems.push_back(with_types(problem, types));
    }
  }
  for (const char* way : {"tma", "staged", "direct"}) {
    const Assignment stored{"EPILOGUE", way};
    expect_right(problems, &stored, &kSwappedRows);
  }
}

TEST_P(VariantsOnDevice, AreRightWhereDHasFewRowsOrColumns) {
  if (definition_.name != "gemm_skinny") GTEST_SKIP() << "is for more rows and columns";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_of_few_vectors(types)) problems.push_back(problem);
  }
  expect_right(problems, nullptr, &kLineSharers);
}

INSTANTIATE_TEST_SUITE_P(All, VariantsOnDevice, testing::ValuesIn(template_files()), [](const auto& instance) {
  std::string name = instance.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace pgtune::gpu
