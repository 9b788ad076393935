// SPDX-License-Identifier: MIT
// The order in which a variant adds an element's products: which parameters change its name, and which do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

using testing::device;

struct Case {
  Dtype dtype;
  std::string parameters, order;
  Problem shape = {.m = 4096, .n = 4096, .k = 4096};
  std::string layout = "nt";
};

void expect_orders(const std::string& name, const std::vector<Case>& cases) {
  const TemplateDefinition definition = testing::shipped_template(name);
  for (const Case& row : cases) {
    SCOPED_TRACE(::testing::Message() << to_string(row.dtype) << " " << row.parameters);
    const Problem problem = testing::shaped_problem(row.dtype, row.shape, row.layout);
    const auto variant = parse_variant(definition, row.parameters);
    ASSERT_TRUE(variant) << variant.error().text();
    const auto illegal = why_illegal(definition, *variant, problem, device());
    ASSERT_TRUE(illegal) << illegal.error().text();
    EXPECT_EQ(illegal->value_or(""), "");
    const auto order = sum_order(definition, *variant, problem, device());
    ASSERT_TRUE(order) << order.error().text();
    EXPECT_EQ(*order, row.order);
  }
}

const Problem kFewTiles{.m = 64, .n = 512, .k = 8192};

TEST(SumOrder, OfWarpgroupProducts) {
  const std::string fast = "BM=64,BN=64,WARPGROUPS_M=1,STAGES=4";
  const std::string in_turn = " parts that take blocks of 128 bytes in turn";
  expect_orders(
      "gemm_wgmma",
      {{Dtype::kBf16, "", "plain"},
       {Dtype::kBf16, "BM=64,BN=128,WARPGROUPS_M=1,BK_BYTES=256,STAGES=4", "plain"},
       {Dtype::kBf16, "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,CLUSTER_M=2", "plain"},
       {Dtype::kF16, "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1", "plain", {.m = 8, .n = 4096, .k = 4096}},
       {Dtype::kBf16, "COPY=cp_async", "plain"},
       {Dtype::kBf16, fast + ",DECOMPOSITION=split_k,SPLIT_K=4", "4" + in_turn, kFewTiles},
       {Dtype::kBf16, fast + ",CLUSTER_K=4", "4" + in_turn, kFewTiles},
       {Dtype::kBf16, fast + ",CLUSTER_K=4,BK_BYTES=256", "4 parts that take blocks of 256 bytes in turn", kFewTiles},
       {Dtype::kBf16, "BM=64,BN=128,WARPGROUPS_M=1,DECOMPOSITION=split_k,SPLIT_K=8", "8" + in_turn, kFewTiles},
       {Dtype::kBf16, "DECOMPOSITION=stream_k,BN=128", ""},
       {Dtype::kInt8, "", "exact"},
       {Dtype::kInt8, "DECOMPOSITION=stream_k,BN=128", "exact"},
       {Dtype::kInt8, fast + ",DECOMPOSITION=split_k,SPLIT_K=4", "exact", kFewTiles},
       {Dtype::kTf32, "", "plain, operands rounded by TMA"},
       {Dtype::kTf32, "COPY=cp_async", "plain, operands truncated"},
       {Dtype::kE4m3, "", "plain"},
       {Dtype::kE4m3, "BN=128,PROMOTION_INTERVAL=2", "plain, added in float32 after each 256 bytes"},
       {Dtype::kE4m3, "BN=128,PROMOTION_INTERVAL=1,BK_BYTES=256,STAGES=2",
        "plain, added in float32 after each 256 bytes"},
       {Dtype::kE4m3, "BN=128,PROMOTION_INTERVAL=4", "plain, added in float32 after each 512 bytes"},
       {Dtype::kTf32x3, "BN=64,PROMOTION_INTERVAL=1,STAGES=2",
        "plain, 3 products a block of 128 bytes, added in float32 after each 128 bytes"},
       {Dtype::kTf32x3, "BN=64,PROMOTION_INTERVAL=1,TF32X3_PARTS=3,STAGES=2",
        "plain, 6 products a block of 128 bytes, added in float32 after each 128 bytes"}});
}

TEST(SumOrder, OfWarpProducts) {
  const std::string small = "BM=64,BN=64,WM=32,WN=32";
  expect_orders(
      "gemm_mma",
      {{Dtype::kBf16, "", "plain"},
       {Dtype::kBf16, "BK_BYTES=128", "plain"},
       {Dtype::kBf16, "GRID=persistent", "plain"},
       {Dtype::kBf16, small + ",DECOMPOSITION=split_k,SPLIT_K=4", "4 ranges of blocks of 64 bytes", kFewTiles},
       {Dtype::kBf16, small + ",DECOMPOSITION=split_k,SPLIT_K=4,BK_BYTES=128", "4 ranges of blocks of 128 bytes",
        kFewTiles},
       {Dtype::kBf16, "DECOMPOSITION=stream_k", ""},
       {Dtype::kInt8, "DECOMPOSITION=stream_k", "exact"},
       {Dtype::kE4m3, "", "plain, products of float16"},
       {Dtype::kTf32, "", "plain, operands truncated"},
       {Dtype::kTf32, "TF32_ROUNDING=nearest", "plain, operands rounded to nearest"},
       {Dtype::kTf32x3, "BN=64,WM=32,WN=32,BK_BYTES=128,STAGES=2",
        "plain, 3 products a step of 32 bytes, operands truncated, added in float32 after each 128 bytes"},
       {Dtype::kTf32x3, "BN=64,WM=32,WN=32",
        "plain, 3 products a step of 32 bytes, operands truncated, added in float32 after each 64 bytes"},
       {Dtype::kTf32x3, "BN=64,WM=32,WN=32,BK_BYTES=128,STAGES=2,PROMOTION_INTERVAL=2",
        "plain, 3 products a step of 32 bytes, operands truncated, added in float32 after each 64 bytes"}});
}

TEST(SumOrder, OfProductsOnCudaCores) {
  expect_orders("sgemm_simt", {{Dtype::kF32, "", "plain, in float32"}, {Dtype::kF32, "BK=8", "plain, in float32"}});
  const std::string sliced = "BM=64,BN=64,TM=8,TN=8,SLICED_K=4,DECOMPOSITION=";
  expect_orders("sgemm_tma", {{Dtype::kF32, "DECOMPOSITION=data_parallel", "plain, in float32"},
                              {Dtype::kF32, "DECOMPOSITION=stream_k", ""},
                              {Dtype::kF32, sliced + "data_parallel",
                               "4 slices of 1 CTAs that take blocks of 16 elements in turn, in float32"},
                              {Dtype::kF32, sliced + "split_k", "", {.m = 64, .n = 64, .k = 8192}}});
  const Problem tiny{.m = 64, .n = 64, .k = 512};
  expect_orders("sgemm_small",
                {{Dtype::kF32, "SLICED_K=1,BK=16", "plain, in float32", tiny},
                 {Dtype::kF32, "", "4 slices of blocks of 64 elements in 1 ranges, in float32", tiny},
                 {Dtype::kF32, "CLUSTER_K=2", "4 slices of blocks of 64 elements in 2 ranges, in float32", tiny}});
}

TEST(SumOrder, OfFewRowsIsThatOfNoTensorCore) {
  const Problem few{.m = 2, .n = 4096, .k = 4096};
  expect_orders(
      "gemm_skinny",
      {{Dtype::kBf16, "",
        "in float32, 32 lanes that take 8 elements in turn, 8 warps of 1 CTAs that take 512 elements in turn", few},
       {Dtype::kBf16, "LINES=1", "in float32, 8 warps of 1 CTAs that take 2 elements in turn", few, "nn"},
       {Dtype::kBf16, "SLICED_K=1,LINE_WARPS=4", "in float32, 32 lanes that take 8 elements in turn", few},
       {Dtype::kBf16, "SLICED_K=1,LINE_WARPS=4,UNROLL=4", "in float32, 32 lanes that take 8 elements in turn", few}});
}

TEST(SumOrder, IsEmptyWhereATemplateNamesNone) {
  const TemplateDefinition plain = testing::parse_or_die(testing::sample_json());
  EXPECT_EQ(sum_order(plain, plain.default_variant(), testing::problem(), device()).value(), "");
  auto document = testing::sample_json();
  document["sum_order"]["words"] = {{{"word", "by {M / (BM - 64)}"}}};
  const TemplateDefinition failing = testing::parse_or_die(document);
  EXPECT_THAT(sum_order(failing, failing.default_variant(), testing::problem(), device()).error().text(),
              ::testing::AllOf(::testing::HasSubstr("sum_order"), ::testing::HasSubstr("division by zero")));
}

}  // namespace
}  // namespace pgtune::space
