// SPDX-License-Identifier: MIT
// The operations' references and templates, and the check's own kernels, run on the host: a template's result passes
// under its operation's error rule, and what nobody computed does not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/gpu/operation_cases.hpp"
#include "tests/operations/emulated_results.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::testing {
namespace {

struct Case {
  const char* operation;
  const char* sizes;
  std::optional<Dtype> dtype;
  const char* definition;        ///< the template's name
  const char* variants;          ///< with a blank between two
  bool judges_operation = true;  ///< whether the null test is made too, which does not depend on the template
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.definition << " " << value.sizes; }
};

std::vector<std::uint64_t> pointer_sums(const EmulatedProblem& emulated) {
  std::vector<std::uint64_t> sums;
  for (const OperationBuffer& buffer : emulated.operation().buffers) {
    if (buffer.pointers) sums.push_back(emulated.pointer_sum(buffer.name));
  }
  return sums;
}

class Emulated : public ::testing::TestWithParam<Case> {};

TEST_P(Emulated, TemplatesPassAndNothingElseDoes) {
  const std::filesystem::path path = std::filesystem::path(PGTUNE_SOURCE_DIR) / GetParam().operation;
  const auto definition = operation::load_operation(path);
  ASSERT_TRUE(definition) << definition.error().text();
  const auto problem =
      operation::make_problem(*definition, operation::parse_sizes(GetParam().sizes).value(), GetParam().dtype);
  ASSERT_TRUE(problem) << problem.error().text();
  EmulatedProblem emulated(*problem);
  ASSERT_TRUE(emulated.usable());
  emulated.fill();
  emulated.refer();
  EXPECT_EQ(emulated.unwritten(), 0);

  emulated.store(0, false);
  EXPECT_EQ(emulated.compare().wrong, 0) << "the reference itself";
  emulated.store(0, true);
  EXPECT_GT(emulated.compare().wrong, 0) << "zeros";
  const auto& buffers = problem->operation->buffers;
  if (std::any_of(buffers.begin(), buffers.end(),
                  [](const auto& buffer) { return buffer.is_output() && buffer.elements() > 1; })) {
    emulated.store(1, false);
    EXPECT_GT(emulated.compare().wrong, 0) << "a shifted result";
  }

  DeviceInfo device = architecture_info("sm_90a").value();
  device.sm_count = 3;  // so that persistent CTAs take several tiles
  auto templates = gpu::templates_of(path, *definition);
  std::erase_if(templates, [](const auto& found) { return found && found->name != GetParam().definition; });
  ASSERT_EQ(templates.size(), 1);
  ASSERT_TRUE(templates.front()) << templates.front().error().text();
  std::istringstream words(GetParam().variants);
  const std::vector<std::string> variants{std::istream_iterator<std::string>(words), {}};
  for (const std::string& text : variants) {
    const auto variant = space::parse_variant(*templates.front(), text);
    ASSERT_TRUE(variant) << variant.error().text();
    EXPECT_EQ(space::why_illegal(*templates.front(), *variant, *problem, device), std::nullopt) << text;
    const std::vector<std::uint64_t> pointers = pointer_sums(emulated);
    emulated.poison();
    emulated.run(*templates.front(), *variant, device);
    const gpu::Comparison found = emulated.compare();
    EXPECT_EQ(pointer_sums(emulated), pointers) << text;
    EXPECT_EQ(found.wrong, 0) << text << ", first " << found.first_wrong;
    EXPECT_EQ(found.padding_changed, 0) << text;
    EXPECT_TRUE(emulated.guards_hold()) << text;
  }

  for (const FillCase& fill_case : problem->operation->cases) {
    emulated.fill(fill_case);
    emulated.refer();
    EXPECT_EQ(emulated.unwritten(), 0) << fill_case.name;
    const auto variant = space::parse_variant(*templates.front(), variants.front());
    emulated.poison();
    emulated.run(*templates.front(), *variant, device);
    EXPECT_EQ(emulated.compare().wrong, 0) << fill_case.name;
  }
  if (!GetParam().judges_operation) return;
  EmulatedResults results(emulated);
  const auto verdict = gpu::judge_null_results(*problem->operation, results);
  EXPECT_TRUE(verdict) << verdict.error().text();

  // Whole numbers that are data lack a part, which the null test leaves out. Those that say where others belong are not
  // cut: their kernels may rely on them.
  for (std::size_t i = 0; i < problem->operation->buffers.size(); ++i) {
    const OperationBuffer& input = problem->operation->buffers[i];
    if (input.role != BufferRole::kIn || input.pointers || !traits(input.type).is_integer() || input.kernel) continue;
    EXPECT_GT(results.wrong_without_part_of(i).value(), 0) << "without a part of " << input.name;
  }
}

/// Of an operation that ships.
Problem shipped(const std::string& name, std::string_view sizes) {
  const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations" / (name + ".json");
  const auto definition = operation::load_operation(path);
  return operation::make_problem(definition.value(), operation::parse_sizes(sizes).value(), std::nullopt).value();
}

// "flops" and "bytes" of these operations are of sizes alone, and the rows of their groups are made by kernels.
TEST(GroupedRows, MaskedGroupsHaveTheRowsThatFiguresAreOf) {
  for (const auto& [sizes, groups, mean, most] : {std::tuple{"G=32,R=64,E=20,N=8,K=16", 32, 20, 64},
                                                  {"G=7,R=9,E=9,N=8,K=16", 7, 9, 9},
                                                  {"G=5,R=21,E=1,N=8,K=16", 5, 1, 21}}) {
    for (const char* name : {"gemm_masked", "gemm_masked_block_scaled"}) {
      SCOPED_TRACE(fmt::format("{} {}", name, sizes));
      EmulatedProblem emulated(shipped(name, sizes));
      ASSERT_TRUE(emulated.usable());
      emulated.fill();
      const std::vector<std::int32_t> rows = emulated.integers("rows");
      EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), 0), groups * mean);
      EXPECT_GE(*std::min_element(rows.begin(), rows.end()), 1) << "each group's matrix is read";
      EXPECT_LE(*std::max_element(rows.begin(), rows.end()), most);
    }
  }
}

TEST(GroupedRows, OffsetsEndAtAllRowsAndNoGroupIsEmptyWhereRowsAreMany) {
  for (const auto& [sizes, groups, all] :
       {std::tuple{"G=6,M=1500,N=8,K=16", 6U, 1500}, {"G=128,M=256,N=8,K=16", 128U, 256}}) {
    EmulatedProblem emulated(shipped("gemm_grouped", sizes));
    ASSERT_TRUE(emulated.usable());
    emulated.fill();
    std::vector<std::int32_t> offsets = emulated.integers("offsets");
    EXPECT_EQ(offsets.front(), 0);
    EXPECT_EQ(offsets.back(), all);
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    EXPECT_EQ(offsets.size(), groups + 1) << sizes;
  }
}

/// Of the data on the host, as a worker counts on the GPU.
double counted(const EmulatedProblem& emulated, const OperationCount& count) {
  const OperationBuffer& buffer = emulated.operation().buffers.at(static_cast<std::size_t>(count.buffer));
  const std::vector<std::int32_t> stored = emulated.integers(buffer.name);
  return gpu::count_elements(count, buffer, std::as_bytes(std::span(stored)));
}

TEST(DataCounts, AreOfWhatFillsAndCasesWrite) {
  const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "examples/operations/pack_rows/pack_rows.json";
  const auto definition = operation::load_operation(path);
  ASSERT_TRUE(definition) << definition.error().text();
  const Problem problem =
      operation::make_problem(*definition, operation::parse_sizes("G=40,R=9,N=8").value(), {}).value();
  EmulatedProblem emulated(problem);
  ASSERT_TRUE(emulated.usable());
  emulated.fill();
  const std::vector<std::int32_t> rows = emulated.integers("rows");
  const auto sum = std::accumulate(rows.begin(), rows.end(), 0);
  const OperationCount& count = problem.operation->counts.at(0);
  EXPECT_EQ(counted(emulated, count), sum);
  EXPECT_NEAR(sum, count.expected, 0.3 * count.expected);
  EXPECT_EQ(with_counts(problem, {{"ROWS", static_cast<double>(sum)}}).traffic_bytes(), 4 * 40 + 2 * 2 * 8 * sum);

  emulated.fill(FillCase{"three each", {{0, FillKind::kConstant, 3, 0, {}}}});
  EXPECT_EQ(counted(emulated, count), 3 * 40);
}

Problem products_by_pointers(const char* sizes) {
  const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "examples/operations/gemm_pointers/gemm_pointers.json";
  const auto definition = operation::load_operation(path);
  return operation::make_problem(definition.value(), operation::parse_sizes(sizes).value(), Dtype::kF16).value();
}

TEST(PointerArrays, OfManyRunsAreWrittenBatchByBatch) {
  // In no order: of several hundred runs a launch writes 64.
  OperationProblem operation = *products_by_pointers("G=1009,M=1,N=8,K=8,W=1").operation;
  std::vector<std::int64_t> elements;
  for (std::int64_t i = 0; i < 1009; ++i) elements.push_back(i * i % 1009 * 8);
  operation.buffers.at(3).pointers->runs = runs_of(elements);
  ASSERT_GT(operation.buffers.at(3).pointers->runs.size(), gpu::kBatchRuns);
  EmulatedProblem emulated(problem_of(operation, Dtype::kF16).value());
  ASSERT_TRUE(emulated.usable());
  emulated.fill();
  for (std::size_t i = 0; i < elements.size(); ++i)
    ASSERT_EQ(emulated.words("As")[i], emulated.address(0) + static_cast<std::uint64_t>(elements[i]) * 2) << i;
  EXPECT_TRUE(emulated.guards_hold());
}

TEST(PointerArrays, LeadWhereTheirOffsetsSayIntoTheirOwnCopysBuffers) {
  // Two placements, as copies and guarded places are.
  const Problem problem = products_by_pointers("G=201,M=3,N=8,K=16,W=3");
  EmulatedProblem first(problem), second(problem);
  ASSERT_TRUE(first.usable() && second.usable());
  first.fill();
  second.fill();
  for (const auto& [array, target, step, period] :
       {std::tuple{"As", 0U, 3 * 16, 201}, {"Bs", 1U, 16 * 8, 3}, {"Cs", 2U, 3 * 8, 201}}) {
    for (std::uint64_t i = 0; i < 201; ++i)
      ASSERT_EQ(first.words(array)[i], first.address(target) + i % period * step * 2) << array << " " << i;
    EXPECT_NE(first.words(array)[0], second.words(array)[0]);
    EXPECT_EQ(first.pointer_sum(array), second.pointer_sum(array)) << "equal in every place";
    EXPECT_TRUE(first.guards_hold());
    // What a kernel could do to them.
    const std::uint64_t sound = first.pointer_sum(array);
    std::swap(first.words(array)[0], first.words(array)[1]);
    EXPECT_NE(first.pointer_sum(array), sound) << array;
    std::swap(first.words(array)[0], first.words(array)[1]);
    first.words(array)[200] += 2;
    EXPECT_NE(first.pointer_sum(array), sound) << array;
    first.words(array)[200] -= 2;
    EXPECT_EQ(first.pointer_sum(array), sound);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, Emulated,
    ::testing::Values(
        Case{"operations/softmax.json", "M=5,N=96", Dtype::kBf16, "softmax_rows",
             "THREADS_PER_ROW=8,ROWS_PER_CTA=8,VEC_BYTES=4,KEEP=registers "
             "THREADS_PER_ROW=64,ROWS_PER_CTA=2,VEC_BYTES=2,KEEP=online"},
        Case{"operations/softmax.json", "M=3,N=68", Dtype::kF32, "softmax_rows",
             "THREADS_PER_ROW=32,ROWS_PER_CTA=2,VEC_BYTES=16,KEEP=registers"},
        Case{"operations/rmsnorm.json", "M=5,N=104", Dtype::kBf16, "rmsnorm_rows",
             "THREADS_PER_ROW=64,ROWS_PER_CTA=2,VEC_BYTES=4,KEEP=registers "
             "THREADS_PER_ROW=8,ROWS_PER_CTA=8,VEC_BYTES=16,KEEP=again"},
        Case{"operations/transpose.json", "M=36,N=72", Dtype::kBf16, "transpose_tiles",
             "TILE_ROWS=32,TILE_COLUMNS=64,THREADS=128,READ_BYTES=16,WRITE_BYTES=8,RASTER=along_y,"
             "LOAD_HINT=evict_first,STORE_HINT=evict_first "
             "TILE_ROWS=32,TILE_COLUMNS=64,THREADS=128,READ_BYTES=16,WRITE_BYTES=8,SMEM_LAYOUT=swizzle,PAD_BYTES=0"},
        Case{"operations/transpose.json", "M=48,N=20", Dtype::kInt8, "transpose_tiles",
             "TILE_ROWS=32,TILE_COLUMNS=32,THREADS=64,READ_BYTES=4,WRITE_BYTES=4 "
             "TILE_ROWS=32,TILE_COLUMNS=64,THREADS=64,READ_BYTES=4,WRITE_BYTES=16,SMEM_LAYOUT=swizzle,PAD_BYTES=0"},
        Case{"operations/gemm_grouped.json", "G=5,M=83,N=72,K=40", Dtype::kBf16, "gemm_grouped_mma",
             "BM=32,BN=64,WM=32,WN=32,STAGES=3,RASTER=along_n "
             "BM=64,BN=64,WM=32,WN=64,BK_BYTES=64,SMEM_LAYOUT=pad,GRID=persistent"},
        Case{"operations/gemm_masked.json", "G=5,R=75,E=17,N=72,K=40", Dtype::kBf16, "gemm_masked_mma",
             "BM=32,BN=64,WM=32,WN=32,STAGES=3,GRID=persistent "
             "BM=64,BN=64,WM=32,WN=64,BK_BYTES=64,SMEM_LAYOUT=pad,RASTER=along_n"},
        Case{"operations/gemm_block_scaled.json", "M=19,N=136,K=144", Dtype::kE4m3, "gemm_block_scaled_mma",
             "BM=32,BN=64,WM=16,WN=32,STAGES=2 "
             "BM=16,BN=128,WM=16,WN=64,STAGES=4,RASTER=along_n"},
        Case{"operations/gemm_grouped_block_scaled.json", "G=3,M=37,N=136,K=144", Dtype::kE4m3,
             "gemm_grouped_block_scaled_mma", "BM=32,BN=64,WM=32,WN=32,STAGES=3,CTAS_PER_SM=2"},
        Case{"operations/gemm_masked_block_scaled.json", "G=3,R=21,E=9,N=72,K=144", Dtype::kE4m3,
             "gemm_masked_block_scaled_mma", "BM=16,BN=64,WM=16,WN=32,STAGES=3,GRID=persistent"},
        Case{"examples/operations/stencil2d/stencil2d.json", "H=19,W=70", std::nullopt, "stencil2d_columns",
             "THREADS=64,ROWS=8,UNROLL=2"},
        Case{"examples/operations/stencil2d/stencil2d.json", "H=19,W=70", std::nullopt, "stencil2d_plain",
             "WIDTH=64,HEIGHT=4 "
             "HEIGHT=1",
             false},
        Case{"examples/operations/silu_mul/silu_mul.json", "M=5,N=72", Dtype::kBf16, "silu_mul_vectors",
             "THREADS=64,VEC_BYTES=16,VECTORS=2 "
             "THREADS=64,VEC_BYTES=4,VECTORS=1"},
        Case{"examples/operations/silu_mul/silu_mul.json", "M=3,N=36", Dtype::kF32, "silu_mul_vectors",
             "THREADS=64,VEC_BYTES=8,VECTORS=4"},
        Case{"examples/operations/add_rmsnorm/add_rmsnorm.json", "M=5,N=104", Dtype::kBf16, "add_rmsnorm_rows",
             "THREADS_PER_ROW=64,VEC_BYTES=16 "
             "THREADS_PER_ROW=32,ROWS_PER_CTA=4,VEC_BYTES=4"},
        Case{"examples/operations/pack_rows/pack_rows.json", "G=5,R=6,N=36", Dtype::kBf16, "pack_rows_vectors",
             "THREADS=32,VEC_BYTES=8 "
             "THREADS=64,VEC_BYTES=4"},
        Case{"examples/operations/gemm_pointers/gemm_pointers.json", "G=7,M=35,N=72,K=40,W=3", Dtype::kBf16,
             "gemm_pointers_tiles",
             "BM=16,BN=32,BK=16,TM=2,VEC_BYTES=16 "
             "BM=64,BN=64,BK=32,TM=8,VEC_BYTES=4"},
        Case{"examples/operations/gemm_pointers/gemm_pointers.json", "G=2,M=5,N=136,K=24,W=2", Dtype::kF32,
             "gemm_pointers_tiles", "BM=16,BN=128,BK=16,TM=8,VEC_BYTES=16"},
        Case{"examples/operations/lower_solve/lower_solve.json", "S=3,N=21,R=37", std::nullopt, "lower_solve_columns",
             "THREADS=32,COLUMNS=1,ROWS=8,DIVISION=exact "
             "THREADS=32,COLUMNS=2,ROWS=4,DIVISION=reciprocal"},
        Case{"examples/operations/reduction/reduction.json", "N=20003", std::nullopt, "reduction_two_kernels",
             "THREADS=128,VECTORS=2,CTAS_PER_SM=1"}));

INSTANTIATE_TEST_SUITE_P(
    OfHopper, Emulated,
    ::testing::Values(
        Case{"operations/gemm_block_scaled.json", "M=40,N=136,K=528", Dtype::kE4m3, "gemm_block_scaled_wgmma",
             "BM=128,BN=80,WARPGROUPS_M=2,STAGGER=1,STAGES=8 "
             "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_N=2,STAGES=13 "
             "SWAP_AB=1,BM=128,BN=48,WARPGROUPS_M=1,CLUSTER_K=2,CTAS_PER_SM=2,STAGES=4 "
             "BM=256,BN=128,WARPGROUPS_M=2,CLUSTER_N=2,STAGES=3,EPILOGUE=tma",
             false},
        // a last tile of fewer rows and columns
        // A last tile of fewer rows and columns.
        Case{"operations/gemm_block_scaled.json", "M=70,N=328,K=144", Dtype::kE4m3, "gemm_block_scaled_wgmma",
             "BM=128,BN=192,WARPGROUPS_M=2,STAGES=4,EPILOGUE=tma "
             "BM=64,BN=128,WARPGROUPS_M=1,STAGES=8,EPILOGUE=tma "
             "BM=256,BN=128,WARPGROUPS_M=2,STAGES=4",
             false},
        // more blocks along K than a warp holds scales of
        // More blocks along K than a warp holds scales of.
        Case{"operations/gemm_block_scaled.json", "M=8,N=64,K=8464", Dtype::kE4m3, "gemm_block_scaled_wgmma",
             "BM=64,BN=64,WARPGROUPS_M=1,STAGES=13 "
             "SWAP_AB=1,BM=64,BN=8,WARPGROUPS_M=1,STAGES=16 "
             "BM=128,BN=64,WARPGROUPS_M=2,STAGES=8",
             false},
        Case{"operations/gemm_grouped.json", "G=5,M=83,N=72,K=136", Dtype::kBf16, "gemm_grouped_wgmma",
             "BM=128,BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6 "
             "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_M=2,STAGES=13",
             false},
        Case{"operations/gemm_grouped.json", "G=70,M=150,N=64,K=64", Dtype::kF16, "gemm_grouped_wgmma",
             "SWAP_AB=1,BM=64,BN=8,WARPGROUPS_M=1,STAGES=16", false},
        // a full group has two tiles of rows
        // A full group has two tiles of rows.
        Case{"operations/gemm_masked.json", "G=5,R=150,E=120,N=72,K=136", Dtype::kBf16, "gemm_masked_wgmma",
             "BM=128,BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6 "
             "BM=128,BN=192,WARPGROUPS_M=2,CLUSTER_M=2,STAGES=5 "
             "BM=256,BN=128,WARPGROUPS_M=2,CLUSTER_N=2,STAGES=4",
             false},
        Case{"operations/gemm_masked.json", "G=70,R=9,E=2,N=136,K=64", Dtype::kF16, "gemm_masked_wgmma",
             "SWAP_AB=1,BM=64,BN=8,WARPGROUPS_M=1,STAGES=16 "
             "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1,CLUSTER_M=2,STAGES=16",
             false},
        Case{"operations/gemm_grouped_block_scaled.json", "G=3,M=37,N=136,K=144", Dtype::kE4m3,
             "gemm_grouped_block_scaled_wgmma",
             "BM=128,BN=96,WARPGROUPS_M=1,STAGES=7 "
             "BM=256,BN=64,WARPGROUPS_M=2,STAGES=5 "
             "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1,STAGES=16",
             false},
        Case{"operations/gemm_grouped_block_scaled.json", "G=2,M=75,N=72,K=144", Dtype::kE4m3,
             "gemm_grouped_block_scaled_wgmma", "BM=192,BN=64,WARPGROUPS_M=3,STAGES=6,EPILOGUE=tma", false},
        Case{"operations/gemm_masked_block_scaled.json", "G=3,R=21,E=9,N=72,K=144", Dtype::kE4m3,
             "gemm_masked_block_scaled_wgmma",
             "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1,CLUSTER_M=2,STAGES=16 "
             "BM=128,BN=128,WARPGROUPS_M=2,CLUSTER_N=2,STAGES=5,EPILOGUE=tma",
             false}));

}  // namespace
}  // namespace pgtune::testing
