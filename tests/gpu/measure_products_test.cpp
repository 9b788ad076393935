// SPDX-License-Identifier: MIT
// The rows of a product's groups, scales in cuBLASLt's layout, and choices of algorithms as text; needs no GPU.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tuner/gpu/baseline/grouped_baseline.hpp"
#include "tuner/gpu/baseline/operation_baselines.hpp"
#include "tuner/gpu/baseline/product_baseline.hpp"
#include "tuner/gpu/baseline/product_operands.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::ElementsAre;

OperationBuffer buffer(const std::string& name, ElementType type, BufferRole role, std::vector<std::int64_t> extents,
                       std::vector<std::int64_t> strides) {
  OperationBuffer out;
  out.name = name;
  out.type = type;
  out.role = role;
  out.extents = std::move(extents);
  out.strides = std::move(strides);
  return out;
}

/// Two groups that have room for six rows each, of 8-bit floats with scales: 130 along K, 132 columns.
OperationProblem masked() {
  OperationProblem problem;
  problem.buffers = {
      buffer("A", ElementType::kE4m3, BufferRole::kIn, {2, 6, 130}, {6 * 144, 144, 1}),
      buffer("SA", ElementType::kFloat32, BufferRole::kIn, {2, 6, 2}, {20, 1, 10}),
      buffer("B", ElementType::kE4m3, BufferRole::kIn, {2, 132, 130}, {132 * 144, 144, 1}),
      buffer("SB", ElementType::kFloat32, BufferRole::kIn, {2, 2, 2}, {4, 2, 1}),
      buffer("D", ElementType::kBfloat16, BufferRole::kOut, {2, 6, 132}, {6 * 132, 132, 1}),
      buffer("rows", ElementType::kInt32, BufferRole::kIn, {2}, {1}),
  };
  problem.baselines = {LibraryProduct{.a = 0, .b = 2, .d = 4, .scale_a = 1, .scale_b = 3, .rows = 5}};
  problem.bytes = 1000;
  return problem;
}

LibraryProduct product_of(const OperationProblem& problem) { return std::get<LibraryProduct>(problem.baselines.at(0)); }

/// "group:first+rows" of each group.
std::vector<std::string> texts(const std::vector<ProductGroup>& groups) {
  std::vector<std::string> out;
  for (const ProductGroup& group : groups)
    out.push_back(std::to_string(group.index) + ":" + std::to_string(group.first) + "+" + std::to_string(group.rows));
  return out;
}

TEST(ProductRows, AreThoseThatGroupsHave) {
  const LibraryProduct plain, offsets{.offsets = 0}, rows{.rows = 0};
  EXPECT_THAT(texts(groups_with_rows(plain, {.rows = 9}, {}).value()), ElementsAre("0:0+9"));
  EXPECT_THAT(texts(groups_with_rows(offsets, {.groups = 3, .rows = 9}, {0, 4, 4, 9}).value()),
              ElementsAre("0:0+4", "2:4+5"));
  EXPECT_THAT(texts(groups_with_rows(rows, {.groups = 3, .rows = 9}, {9, 0, 1}).value()),
              ElementsAre("0:0+9", "2:0+1"));
}

TEST(ProductRows, NumbersOutOfRangeAreRefused) {
  const LibraryProduct offsets{.offsets = 0}, rows{.rows = 0};
  for (const std::vector<std::int32_t>& wrong :
       {std::vector<std::int32_t>{0, 4, 10}, {-1, 4, 9}, {0, 5, 4}, {0, 9}, {0, 1, 2, 3}})
    EXPECT_FALSE(groups_with_rows(offsets, {.groups = 2, .rows = 9}, wrong));
  for (const std::vector<std::int32_t>& wrong : {std::vector<std::int32_t>{10, 0}, {-1, 0}, {1}})
    EXPECT_FALSE(groups_with_rows(rows, {.groups = 2, .rows = 9}, wrong));
}

TEST(ProductScales, LieAsTheLibraryWantsThem) {
  const OperationProblem problem = masked();
  const ProductGeometry geometry = product_geometry(product_of(problem), problem);
  std::vector<float> stored(40);
  std::iota(stored.begin(), stored.end(), 0.0F);
  std::vector<float> scales;
  const std::int64_t solved = solved_rows(product_of(problem), 3);
  EXPECT_EQ(solved, 4);
  EXPECT_EQ(solved_rows(LibraryProduct(), 3), 3);
  append_scales_a(problem.buffers[1], stored, {1, 0, 3}, solved, scales);
  EXPECT_THAT(scales, ElementsAre(20, 21, 22, 0, 30, 31, 32, 0));
  EXPECT_EQ(scales_of_a(geometry, solved), 8);
  scales.clear();
  append_scales_b(problem.buffers[3], stored, 1, scales);
  EXPECT_THAT(scales, ElementsAre(4, 5, 0, 0, 6, 7, 0, 0));
  EXPECT_EQ(scales_of_b(geometry), 8);
}

TEST(ProductScales, OfRowsThatFollowOneAnotherBeginWithTheGroups) {
  const OperationBuffer scales = buffer("SA", ElementType::kFloat32, BufferRole::kIn, {9, 2}, {2, 1});
  std::vector<float> stored(18), out;
  std::iota(stored.begin(), stored.end(), 0.0F);
  append_scales_a(scales, stored, {5, 4, 2}, 4, out);
  EXPECT_THAT(out, ElementsAre(8, 10, 0, 0, 9, 11, 0, 0));
}

TEST(ProductMemory, CoversTheLargestCopies) {
  const OperationProblem problem = masked();
  // A and D with eight rows a group, rows of 144 and 136 elements, and all scales.
  EXPECT_EQ(ProductBaseline::copy_bytes(product_of(problem), problem), 16 * (144 + 2 * 136) + 4 * (2 * 16 + 2 * 8));
  LibraryProduct unscaled = product_of(problem);
  unscaled.scale_a = unscaled.scale_b = std::nullopt;
  EXPECT_EQ(ProductBaseline::copy_bytes(unscaled, problem), 0);
  Problem whole;
  whole.operation = OperationHandle(problem);
  const MemoryNeed memory = baseline_memory(whole);
  EXPECT_EQ(memory.once, ProductBaseline::kFixedBytes);
  EXPECT_GT(memory.copy, 16 * (144 + 2 * 136));
}

TEST(GroupedProducts, AreOneGroupForEachNumberOfRows) {
  // D^T = B A^T, as column-major matrices: the library's A is B, transposed where K runs along its memory.
  const auto gemm_of = [](std::int64_t rows) {
    Problem gemm{.m = rows, .n = 24, .k = 40, .dtype = Dtype::kBf16, .trans_b = true};
    gemm.lda = 48, gemm.ldb = 56, gemm.ldc = 32;
    return gemm;
  };
  std::vector<GroupProduct> products;
  for (const std::int64_t rows : {7, 3, 7}) {
    const auto first = static_cast<std::uint64_t>(products.size() * 0x100);
    GroupProduct& product = products.emplace_back(GroupProduct{rows, {}});
    product.operands.a = 0x1000 + first, product.operands.b = 0x2000 + first, product.operands.d = 0x3000 + first;
  }
  const GroupedArguments found = grouped_arguments(products, gemm_of);
  EXPECT_THAT(found.sizes, ElementsAre(1, 2));
  EXPECT_THAT(found.m, ElementsAre(24, 24));
  EXPECT_THAT(found.n, ElementsAre(3, 7));
  EXPECT_THAT(found.k, ElementsAre(40, 40));
  EXPECT_THAT(found.left, ElementsAre(CUBLAS_OP_T, CUBLAS_OP_T));
  EXPECT_THAT(found.right, ElementsAre(CUBLAS_OP_N, CUBLAS_OP_N));
  EXPECT_THAT(found.lda, ElementsAre(56, 56));
  EXPECT_THAT(found.ldb, ElementsAre(48, 48));
  EXPECT_THAT(found.ldc, ElementsAre(32, 32));
  EXPECT_THAT(found.alpha, ElementsAre(1, 1));
  EXPECT_THAT(found.beta, ElementsAre(0, 0));
  EXPECT_THAT(found.a, ElementsAre(0x2100, 0x2000, 0x2200));
  EXPECT_THAT(found.b, ElementsAre(0x1100, 0x1000, 0x1200));
  EXPECT_THAT(found.c, ElementsAre(0x3100, 0x3000, 0x3200));
}

TEST(GroupedProducts, TakeMemoryForPointersAndAWorkspace) {
  OperationProblem problem = masked();
  LibraryProduct product = product_of(problem);
  product.library = BaselineLibrary::kCublas;
  product.scale_a = product.scale_b = std::nullopt;
  EXPECT_EQ(GroupedBaseline::copy_bytes(product, problem), 2 * 3 * 8);
  Problem whole;
  whole.operation = OperationHandle(problem);
  const MemoryNeed before = baseline_memory(whole);
  problem.baselines.emplace_back(product);
  whole.operation = OperationHandle(problem);
  const MemoryNeed memory = baseline_memory(whole);
  EXPECT_EQ(memory.once - before.once, GroupedBaseline::kFixedBytes);
  EXPECT_EQ(memory.copy - before.copy, 2 * 3 * 8);
}

TEST(GroupedProducts, AreInTheLibraryThatIsInstalled) {
  const auto& library = load_cublas();
  if (!library) GTEST_SKIP() << library.error().text();
  EXPECT_THAT(cublas_title(), ::testing::MatchesRegex("cuBLAS [0-9]+\\.[0-9]+\\.[0-9]+"));
}

/// What is said of a library's grouped layouts.
OtherBaseline grouped_layouts_of(const char* path) {
  const OpenedLibrary library{::dlopen(path, RTLD_NOW | RTLD_LOCAL), path, "tests"};
  EXPECT_NE(library.handle, nullptr) << path;
  return unused_grouped_layouts(library, "cuBLASLt 13.1.0");
}

TEST(GroupedLayouts, AreNotAvailableForAReasonThatIsTrueOfTheLibrary) {
  const OtherBaseline missing = grouped_layouts_of(PGTUNE_OLD_LIBRARY),
                      unused = grouped_layouts_of(PGTUNE_GOOD_LIBRARY);
  EXPECT_EQ(missing.library, "a grouped layout of cuBLASLt 13.1.0");
  EXPECT_EQ(
      missing.unavailable, PGTUNE_OLD_LIBRARY
      " has no cublasLtGroupedMatrixLayoutCreate, which came with cuBLAS 13.2, for compute capability 9.0 with 13.4");
  EXPECT_EQ(
      unused.unavailable, PGTUNE_GOOD_LIBRARY
      " has cublasLtGroupedMatrixLayoutCreate, but pgtune cannot use it yet and gives cuBLASLt the groups one by one");
  for (const OtherBaseline& one : {missing, unused}) {
    EXPECT_EQ(one.algorithm, "");
    EXPECT_EQ(one.time_s, 0);
  }
}

TEST(GroupedLayouts, StandBesideProductsOfGroupsByCublasLt) {
  OperationProblem problem = masked();
  EXPECT_TRUE(has_groups_of_cublaslt(problem.baselines));
  LibraryProduct product = product_of(problem);
  product.library = BaselineLibrary::kCublas;
  EXPECT_FALSE(has_groups_of_cublaslt({TemplateBaseline{"plain.json", ""}, product}));
  EXPECT_FALSE(has_groups_of_cublaslt({LibraryProduct{}, GemmBaseline{}}));
  EXPECT_TRUE(has_groups_of_cublaslt({product, LibraryProduct{.offsets = 0}}));
}

TEST(ProductChoices, SurviveText) {
  ProductChoice choice{{}, 4};
  cublasLtMatmulAlgo_t first{}, second{};
  first.data[0] = 0x42, second.data[7] = ~0ULL;
  choice.algorithms = {{16, first}, {1024, second}};
  const auto read = ProductChoice::of_text(choice.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), choice.text());
  EXPECT_EQ(read->streams, 4);
  EXPECT_EQ(read->algorithms.at(16).data[0], 0x42U);
  for (const std::string& wrong : {std::string(), std::string("4"), "0 " + choice.text().substr(2),
                                   choice.text() + " 7", choice.text().substr(0, 30), "x" + choice.text()})
    EXPECT_FALSE(ProductChoice::of_text(wrong)) << wrong;
}

}  // namespace
}  // namespace pgtune::gpu
