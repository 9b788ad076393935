// SPDX-License-Identifier: MIT
// Launches of a chained problem that overlap: layers of which each multiplies what the one before has written give, bit
// for bit, what they give when each has ended before the next begins.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kWidth = 2048;
constexpr std::size_t kLayers = 8;
constexpr std::uint32_t kNan = 0xffffffff;

struct Case {
  const char* template_name;
  const char* variant;
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.template_name << " " << value.variant; }
};

class ChainOnDevice : public testing::TestWithParam<Case>, protected LaunchingGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    if (info_.architecture != "sm_90a") GTEST_SKIP() << "launches overlap on sm_90a";
    const std::string file = std::string(GetParam().template_name) + ".json";
    auto definition = space::load_template(std::filesystem::path(PGTUNE_SOURCE_DIR) / "configs" / file, shipped_header);
    ASSERT_TRUE(definition) << definition.error().text();
    definition_ = std::move(*definition);
    definition_.preset.clear();
  }

  /// Layers in a ring: layer i multiplies activation i by its weights and writes activation i + 1.
  void allocate(std::int64_t rows, Dtype dtype) {
    problem_ = problem_of(std::to_string(rows) + "x2048x2048", "nt");
    problem_.dtype = dtype;
    problem_.chained = true;
    problem_.alpha = std::sqrt(3.0 / kWidth);  // activations keep their magnitude
    problem_ = with_default_strides(problem_).value();
    const std::int64_t activation_bytes = rows * kWidth * element_bytes(dtype);
    activations_ = DeviceBuffer::allocate(static_cast<std::int64_t>(kLayers) * activation_bytes).value();
    weights_.clear();
    copies_.clear();
    const auto activation = [&](std::size_t i) {
      return DeviceSpan{activations_.address() + i % kLayers * static_cast<std::uint64_t>(activation_bytes),
                        activation_bytes};
    };
    for (std::size_t i = 0; i < kLayers; ++i) {
      weights_.push_back(DeviceBuffer::allocate(kWidth * kWidth * element_bytes(dtype)).value());
      ASSERT_TRUE(kernels_->fill_tensor(weights_[i].address(), matrix_of(type_of_b(dtype), kWidth, kWidth, kWidth),
                                        DataDistribution::kUniform, i + 1, stream_.get()));
      const DeviceSpan weights{weights_[i].address(), weights_[i].bytes()}, out = activation(i + 1);
      copies_.push_back({{activation(i), weights, out, out, out}, {}});
    }
  }

  /// NaN everywhere except in the first activation: a kernel that reads too early reads NaN.
  void reset(Launchable& variant) const {
    ASSERT_TRUE(kernels_->fill_pattern({activations_.address(), activations_.bytes()}, kNan, stream_.get()));
    ASSERT_TRUE(kernels_->fill_tensor(activations_.address(),
                                      matrix_of(type_of_a(problem_.dtype), problem_.m, kWidth, kWidth),
                                      DataDistribution::kUniform, 99, stream_.get()));
    ASSERT_TRUE(variant.reset(0, stream_.get()));
    ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
  }
  [[nodiscard]] std::vector<std::uint16_t> activations() const {
    std::vector<std::uint16_t> all(static_cast<std::size_t>(activations_.bytes()) / sizeof(std::uint16_t));
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(all.data(), activations_.data(), all.size() * sizeof(std::uint16_t), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return all;
  }

  [[nodiscard]] std::unique_ptr<LoadedVariant> built_and_loaded(const Variant& variant) const {
    const auto built = build(definition_, {&variant, 1}, problem_);
    if (!built.front()) return nullptr;
    EXPECT_TRUE(built.front()->plan.kernels.back().overlaps_previous) << variant.key();
    auto loaded = load(*built.front(), copies_);
    return loaded ? std::move(*loaded) : nullptr;
  }

  /// Bit for bit, launched one by one and as graphs.
  void compare() {
    const Variant like = space::parse_variant(definition_, GetParam().variant).value();
    const auto space = space::enumerate(definition_, problem_, info_);
    ASSERT_TRUE(space) << space.error().text();
    const Assignment overlaps{"DEPENDENT_LAUNCH", std::int64_t{1}};
    const auto variant = nearest(space->variants, like, like.find(overlaps.name) != nullptr ? &overlaps : nullptr);
    ASSERT_TRUE(variant);
    const auto loaded = built_and_loaded(*variant);
    ASSERT_TRUE(loaded) << variant->key();
    LaunchSeries series(*loaded, {kLayers}, stream_.get());
    constexpr std::int64_t kLaunches = 64;  // a graph's
    reset(*loaded);
    for (std::int64_t i = 0; i < kLaunches; ++i) {
      ASSERT_TRUE(loaded->launch(static_cast<std::size_t>(i) % kLayers, stream_.get()));
      ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    }
    const std::vector<std::uint16_t> expected = activations();
    for (const bool captured : {false, true}) {
      if (captured) {
        ASSERT_TRUE(series.capture(10e-6));
      }
      ASSERT_EQ(kLaunches % series.granule(), 0);
      for (int repeat = 0; repeat < 20; ++repeat) {
        reset(*loaded);
        ASSERT_EQ(series.enqueue(kLaunches).value(), kLaunches);
        ASSERT_EQ(activations(), expected)
            << "repeat " << repeat << (captured ? " as a graph " : " ") << variant->key();
      }
    }
  }

  space::TemplateDefinition definition_;
  Problem problem_;
  DeviceBuffer activations_;
  std::vector<DeviceBuffer> weights_;
  std::vector<OperandSet> copies_;
};

TEST_P(ChainOnDevice, OverlappingLaunchesOfFewRowsGiveTheSameBits) {
  allocate(16, Dtype::kBf16);
  compare();
}

TEST_P(ChainOnDevice, OverlappingLaunchesInTf32GiveTheSameBits) {
  allocate(16, Dtype::kTf32);
  compare();
}

TEST_P(ChainOnDevice, OverlappingLaunchesOfManyRowsGiveTheSameBits) {
  if (GetParam().template_name == std::string("gemm_skinny")) GTEST_SKIP() << "is for few rows";
  allocate(200, Dtype::kBf16);
  compare();
}

INSTANTIATE_TEST_SUITE_P(
    Variants, ChainOnDevice,
    testing::Values(Case{"gemm_wgmma", "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,STAGES=16"},
                    Case{"gemm_wgmma", "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,CTAS_PER_SM=2,STAGES=10"},
                    Case{"gemm_wgmma", "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,CLUSTER_K=2,BK_BYTES=256,STAGES=11"},
                    Case{"gemm_wgmma", "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,DECOMPOSITION=split_k,SPLIT_K=2"},
                    Case{"gemm_wgmma", "BM=64,BN=32,WARPGROUPS_M=1,CLUSTER_M=2,STAGES=16"},
                    Case{"gemm_wgmma", "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6"},
                    Case{"gemm_skinny", "SLICED_K=8,LINES=2,UNROLL=2"},
                    Case{"gemm_skinny", "LINE_WARPS=2,SLICED_K=2,CLUSTER_K=2,LINES=4,UNROLL=1"}));

}  // namespace
}  // namespace pgtune::gpu
