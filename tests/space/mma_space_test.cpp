// SPDX-License-Identifier: MIT
// The space of gemm_mma: something for every problem and every GPU from sm_80 on, small enough to be measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

const TemplateDefinition& mma_template() {
  static const TemplateDefinition definition = testing::shipped_template("gemm_mma");
  return definition;
}

Problem mma_problem(Dtype dtype, std::string_view shape, std::string_view layout) {
  return testing::shaped_problem(dtype, parse_shape(shape).value(), layout);
}

std::vector<Variant> mma_variants(const Problem& problem, const std::string& architecture = "sm_90a") {
  const auto space = legal_variants(mma_template(), problem, architecture_info(architecture).value());
  EXPECT_TRUE(space) << space.error().text();
  return space ? space->variants : std::vector<Variant>{};
}

/// mma.sync takes 8-bit floats from sm_89 on.
bool computes(const char* architecture, Dtype dtype) {
  const DeviceInfo device = architecture_info(architecture).value();
  return (dtype != Dtype::kE4m3 && dtype != Dtype::kE5m2) || 10 * device.compute_major + device.compute_minor >= 89;
}

TEST(MmaSpace, EveryProblemHasAPresetThatTakesAMinute) {
  for (const Dtype dtype : mma_template().dtypes) {
    for (const char* shape : {"1x1x1", "16x4096x4096", "127x129x131", "512x512x2048", "1000x1001x1003",
                              "1024x1024x1024", "4096x1001x4096", "4096x4096x4096"}) {
      for (const char* architecture : {"sm_80", "sm_90a"}) {
        if (!computes(architecture, dtype)) continue;
        const std::size_t size = mma_variants(mma_problem(dtype, shape, "nn"), architecture).size();
        EXPECT_GE(size, 8U) << to_string(dtype) << " " << shape << " " << architecture;
        EXPECT_LE(size, 300U) << to_string(dtype) << " " << shape << " " << architecture;
      }
    }
  }
}

TEST(MmaSpace, TheDefaultFitsTheSmallestSharedMemory) {
  for (const Dtype dtype : mma_template().dtypes) {
    for (const char* architecture : {"sm_80", "sm_86", "sm_89"}) {
      if (!computes(architecture, dtype)) continue;
      const auto variants = mma_variants(mma_problem(dtype, "4096x4096x4096", "nn"), architecture);
      EXPECT_NE(std::find(variants.begin(), variants.end(), mma_template().default_variant()), variants.end())
          << to_string(dtype) << " " << architecture;
    }
  }
}

TEST(MmaSpace, EightBitFloatsAreRefusedWithTheReasonWhereThereAreNoInstructionsForThem) {
  const auto problem = mma_problem(Dtype::kE4m3, "512x512x512", "nt");
  const auto space = enumerate(mma_template(), problem, architecture_info("sm_86").value());
  ASSERT_TRUE(space) << space.error().text();
  EXPECT_TRUE(space->variants.empty());
  EXPECT_TRUE(std::any_of(space->removals.begin(), space->removals.end(), [](const Removal& removal) {
    return removal.removed > 0 && removal.reason == "8-bit floats need compute capability 8.9 or newer";
  }));
}

/// Nothing else computes these where TMA cannot read the rows.
TEST(MmaSpace, NoAlignmentOfBytesIsRefused) {
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kE5m2, Dtype::kInt8}) {
    for (const char* layout : {"nn", "nt", "tn", "tt"}) {
      for (const char* shape : {"1001x1003x1005", "1002x1006x1010", "4095x4097x4099", "1x1x17"})
        EXPECT_FALSE(mma_variants(mma_problem(dtype, shape, layout)).empty()) << to_string(dtype) << layout << shape;
    }
  }
}

TEST(MmaSpace, EveryWinnerIsInSomePreset) {
  for (const char* text : {
           "BM=256,WN=64,BK_BYTES=128,STAGES=4",
           "WN=64,BK_BYTES=128,CTAS_PER_SM=2",
           "BK_BYTES=128",
           "WM=32,WN=64,BK_BYTES=128",
           "BM=256,WN=64,BK_BYTES=128,STAGES=4,PACK=1",
           "WN=64,BK_BYTES=128,CTAS_PER_SM=2,PACK=1",
           "FRAGMENT_STAGES=1,WN=64,BK_BYTES=128,CTAS_PER_SM=2,PACK=1",
           "BK_BYTES=128,PACK=1",
           "BM=64,BN=64,WM=32,BK_BYTES=128,STAGES=4,CTAS_PER_SM=2",
           "BM=64,BN=64,WM=32,BK_BYTES=128,STAGES=4,CTAS_PER_SM=2,PACK=1",
           "BM=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,DECOMPOSITION=stream_k",
           "BM=64,BN=64,WM=32,BK_BYTES=128,CTAS_PER_SM=2,DECOMPOSITION=split_k,SPLIT_K=4",
       }) {
    const Variant winner = parse_variant(mma_template(), text).value();
    bool found = false;
    for (const Dtype dtype : mma_template().dtypes) {
      for (const char* shape : {"4096x4096x4096", "4096x4095x4096", "512x512x4096", "500x501x4096"}) {
        for (const char* architecture : {"sm_80", "sm_90a"}) {
          if (found) break;
          const auto variants = mma_variants(mma_problem(dtype, shape, "nn"), architecture);
          found = std::find(variants.begin(), variants.end(), winner) != variants.end();
        }
      }
    }
    EXPECT_TRUE(found) << winner.key();
  }
}

/// gemm_wgmma transposes both operands of these before it multiplies.
TEST(MmaSpace, ManyCtasShareATileWhoseOperandsOfBytesOrFloatsBothLieAcrossK) {
  for (const auto& [dtype, shape, text] : {
           std::tuple{Dtype::kTf32, "64x64x65536", "BM=64,BN=64,WM=32,STAGES=4,CTAS_PER_SM=2,SPLIT_K=128"},
           std::tuple{Dtype::kTf32, "192x128x65536", "BM=64,STAGES=4,CTAS_PER_SM=2,SPLIT_K=32"},
           std::tuple{Dtype::kE4m3, "128x128x65536", "BM=64,BN=64,WM=32,STAGES=4,CTAS_PER_SM=3,SPLIT_K=32"},
       }) {
    const Variant winner =
        parse_variant(mma_template(), std::string(text) + ",BK_BYTES=128,DECOMPOSITION=split_k").value();
    const auto variants = mma_variants(mma_problem(dtype, shape, "tn"));
    EXPECT_NE(std::find(variants.begin(), variants.end(), winner), variants.end()) << shape;
    for (const Variant& variant : mma_variants(mma_problem(dtype, shape, "nt")))
      EXPECT_EQ(std::get<std::int64_t>(*variant.find("SPLIT_K")), 1) << shape << " " << variant.key();
  }
}

TEST(MmaSpace, OnlyUnalignedOperandsArePacked) {
  const auto kernels = [](const Problem& problem) {
    std::vector<std::size_t> counts;
    for (const Variant& variant : mma_variants(problem)) {
      const auto plan = make_launch_plan(mma_template(), variant, problem, architecture_info("sm_90a").value());
      EXPECT_TRUE(plan) << plan.error().text();
      if (!plan) continue;
      const bool clears = plan->kernels.front().symbol == "clear_flags";
      counts.push_back(plan->kernels.size() - (clears ? 1 : 0));
    }
    return *std::max_element(counts.begin(), counts.end());
  };
  EXPECT_EQ(kernels(mma_problem(Dtype::kBf16, "2048x2048x2048", "nn")), 1U);
  EXPECT_EQ(kernels(mma_problem(Dtype::kBf16, "2048x2047x2048", "nn")), 2U);
  EXPECT_EQ(kernels(mma_problem(Dtype::kTf32x3, "2047x2046x2045", "nn")), 3U);
}

}  // namespace
}  // namespace pgtune::space
