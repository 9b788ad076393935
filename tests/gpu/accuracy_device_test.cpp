// SPDX-License-Identifier: MIT
// How accurate tf32x3 is, beside cuBLASLt in strict float32 on the same data, against float64: every
// shipped template that computes in it, on data easy and hard.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"
#include "tuner/model/rounding.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

constexpr std::int64_t kRows = 2048, kColumns = 2048, kDepth = 4096;  // so many that cuBLASLt cuts no tile along K
constexpr std::int64_t kRowStep = 128;                                ///< of the rows that are checked
/// Half the distance of the smallest numbers of tf32, which the low part of a small operand is cut to.
constexpr double kSmallestTf32 = 0x1p-136;

struct Data {
  std::vector<float> a, b;
};

float uniform(Random& random, double low, double high) {
  return static_cast<float>(std::uniform_real_distribution<double>(low, high)(random));
}

struct Distribution {
  std::string name;
  std::function<float(Random&)> a, b;
  bool cancels = false;  ///< the second half of the sum takes the first one back, but for a last bit or so
  bool normal = true;    ///< no operand is too small for tf32
};

std::vector<Distribution> distributions() {
  const auto both = [](const std::string& name, const std::function<float(Random&)>& of) {
    return Distribution{name, of, of};
  };
  const auto wide = [](Random& random) {
    const float sign = (random() & 1) != 0 ? 1.0F : -1.0F;
    return std::ldexp(sign * uniform(random, 1, 2), static_cast<int>(random() % 61) - 30);
  };
  Distribution cancelling = both("cancellation", [](Random& random) { return uniform(random, -1, 1); });
  cancelling.cancels = true;
  return {both("uniform in (-1, 1)", [](Random& random) { return uniform(random, -1, 1); }),
          both("uniform in (0, 1)", [](Random& random) { return uniform(random, 0, 1); }),
          both("normal", [](Random& random) { return static_cast<float>(std::normal_distribution<double>()(random)); }),
          both("exponents -30 to 30", wide),
          cancelling,
          Distribution{"denormals times 2^100", [](Random& random) { return uniform(random, -0x1p-126, 0x1p-126); },
                       [](Random& random) { return uniform(random, -0x1p100, 0x1p100); }, false, false}};
}

Data draw(const Distribution& distribution) {
  Random random(20);
  Data data{std::vector<float>(kRows * kDepth), std::vector<float>(kDepth * kColumns)};
  for (float& value : data.a) value = distribution.a(random);
  for (float& value : data.b) value = distribution.b(random);
  if (!distribution.cancels) return data;
  constexpr std::int64_t kHalf = kDepth / 2;
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::int64_t k = 0; k < kHalf; ++k)
      data.a[static_cast<std::size_t>(i * kDepth + kHalf + k)] = -data.a[static_cast<std::size_t>(i * kDepth + k)];
  }
  for (std::int64_t k = 0; k < kHalf; ++k) {
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const float value = data.b[static_cast<std::size_t>(k * kColumns + j)];
      data.b[static_cast<std::size_t>((kHalf + k) * kColumns + j)] = std::nextafter(value, 2.0F);
    }
  }
  return data;
}

/// In float64: the product, sum |a||b|, and what small operands may lose in tf32.
struct Exact {
  std::vector<double> product, scale, lost;
};

Exact exact_product(const Data& data) {
  Exact exact;
  for (auto* const all : {&exact.product, &exact.scale, &exact.lost}) all->assign(kRows / kRowStep * kColumns, 0);
  for (std::int64_t i = 0; i < kRows / kRowStep; ++i) {
    for (std::int64_t k = 0; k < kDepth; ++k) {
      const double a = data.a[static_cast<std::size_t>(i * kRowStep * kDepth + k)];
      for (std::int64_t j = 0; j < kColumns; ++j) {
        const double b = data.b[static_cast<std::size_t>(k * kColumns + j)];
        const auto at = static_cast<std::size_t>(i * kColumns + j);
        exact.product[at] += a * b;
        exact.scale[at] += std::abs(a * b);
        exact.lost[at] += kSmallestTf32 * (std::abs(a) + std::abs(b));
      }
    }
  }
  return exact;
}

struct Errors {
  double largest = 0, mean = 0, of_bound = 0;
};

Errors errors_of(const std::vector<float>& result, const Exact& exact, const ErrorBound& bound) {
  Errors errors;
  for (std::size_t i = 0; i < exact.product.size(); ++i) {
    const std::size_t at = i / kColumns * kRowStep * kColumns + i % kColumns;
    const double error = std::abs(static_cast<double>(result[at]) - exact.product[i]);
    errors.largest = std::max(errors.largest, error / exact.scale[i]);
    errors.mean += error / exact.scale[i] / static_cast<double>(exact.product.size());
    errors.of_bound =
        std::max(errors.of_bound, error / (bound.allowed(exact.product[i], exact.scale[i]) + exact.lost[i]));
  }
  return errors;
}

/// What has won in tf32x3: both numbers of parts, both lengths of the tensor cores' sums.
constexpr std::array kWinners{
    std::pair{"gemm_mma", "BK_BYTES=128"},
    std::pair{"gemm_mma", "WM=32,WN=64,BK_BYTES=128"},
    std::pair{"gemm_mma", "BM=64,BN=64,WM=32,BK_BYTES=128,STAGES=4,CTAS_PER_SM=2"},
    std::pair{"gemm_wgmma", "BN=128,TF32X3_PARTS=3,STAGES=2,PROMOTION_INTERVAL=1"},
    std::pair{"gemm_wgmma", "BN=128,STAGES=3,PROMOTION_INTERVAL=2"},
    std::pair{"gemm_wgmma", "BN=128,STAGES=3,PROMOTION_INTERVAL=2,DEPENDENT_LAUNCH=1"},
    std::pair{"gemm_wgmma", "BN=64,STAGES=4,PROMOTION_INTERVAL=2,DEPENDENT_LAUNCH=1"},
    std::pair{"gemm_wgmma", "BM=64,BN=128,WARPGROUPS_M=1,STAGES=4,PROMOTION_INTERVAL=2,DEPENDENT_LAUNCH=1"},
    std::pair{"gemm_wgmma", "BN=128,STAGES=3,PROMOTION_INTERVAL=2,CLUSTER_M=2"},
    std::pair{"gemm_wgmma", "BN=128,STAGES=3,PROMOTION_INTERVAL=1"},
};

class Accuracy : public testing::Test, protected LaunchingGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    problem_ = problem_of(fmt::format("{}x{}x{}", kRows, kColumns, kDepth), "nn");
    problem_.dtype = Dtype::kTf32x3;
    own_ = operation_kernels(driver_, *kernels_, problem_, info_.architecture);
    buffers_ =
        std::make_unique<OperandBuffers>(OperandBuffers::allocate(*kernels_, *own_, {}, 1, stream_.get()).value());
    forbid_reduced_precision();
    reference_ = CublasLtMatmul::create(problem_, CublasLtContext::create().value()).value();
    for (const fs::path& path : template_files()) {
      if (path.parent_path().filename() != "configs") continue;
      auto definition = space::load_template(path, shipped_header);
      ASSERT_TRUE(definition) << definition.error().text();
      if (definition->computes(problem_)) load_all(*definition);
      if (HasFatalFailure()) return;
    }
    if (variants_.empty()) GTEST_SKIP() << "no template computes in tf32x3 on this GPU";
  }

  /// The default variant, or the legal one most like it, and the legal ones among those that have won.
  void load_all(space::TemplateDefinition& definition) {
    definition.preset.clear();
    const auto space = space::enumerate(definition, problem_, info_);
    ASSERT_TRUE(space) << space.error().text();
    if (space->variants.empty()) return;
    std::vector<Variant> chosen{*nearest(space->variants, definition.default_variant(), nullptr)};
    for (const auto& [name, text] : kWinners) {
      if (definition.name != name) continue;
      const Variant winner = space::parse_variant(definition, text).value();
      const auto& legal = space->variants;
      if (std::find(legal.begin(), legal.end(), winner) != legal.end()) chosen.push_back(winner);
    }
    const auto built = build(definition, chosen, problem_);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      ASSERT_TRUE(built[i]) << chosen[i].key() << ": " << built[i].error().text();
      auto loaded = load(*built[i], buffers_->copies());
      ASSERT_TRUE(loaded) << loaded.error().text;
      variants_.push_back({definition.name + " " + chosen[i].key(), std::move(*loaded)});
    }
  }

  void copy_in(const Data& data) const {
    const OperandSet& set = buffers_->copies().front();
    ASSERT_EQ(
        cudaMemcpy(device_pointer(set[Operand::kA].address), data.a.data(), data.a.size() * 4, cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(
        cudaMemcpy(device_pointer(set[Operand::kB].address), data.b.data(), data.b.size() * 4, cudaMemcpyHostToDevice),
        cudaSuccess);
  }

  [[nodiscard]] std::vector<float> result_of(const std::function<bool()>& launch) const {
    std::vector<float> result(kRows * kColumns);
    EXPECT_TRUE(launch());
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(result.data(), device_pointer(buffers_->copies().front()[Operand::kD].address),
                         result.size() * 4, cudaMemcpyDeviceToHost),
              cudaSuccess);
    return result;
  }
  [[nodiscard]] std::vector<float> of_variant(Launchable& variant) const {
    return result_of([&] { return variant.reset(0, stream_.get()) && variant.launch(0, stream_.get()); });
  }
  [[nodiscard]] std::vector<float> of_cublaslt() const {
    const auto algorithms = reference_->heuristics();
    EXPECT_TRUE(algorithms && !algorithms->empty());
    return result_of([&] {
      return reference_->launch(algorithms->front().algorithm, buffers_->copies().front(), stream_.get()).has_value();
    });
  }

  struct Loaded {
    std::string name;
    std::unique_ptr<LoadedVariant> variant;
  };
  Problem problem_;
  std::unique_ptr<OperationKernels> own_;
  std::unique_ptr<OperandBuffers> buffers_;
  std::unique_ptr<CublasLtMatmul> reference_;
  std::vector<Loaded> variants_;
};

TEST_F(Accuracy, Tf32x3IsWithinItsBoundAndAsGoodAsStrictFloat32) {
  const ErrorBound bound = error_bound(*own_->operation().only_output());
  const double half_of_strict = summation_bound(kDepth, kUnitRoundoffFloat32) / 2;
  for (const Distribution& distribution : distributions()) {
    const Data data = draw(distribution);
    const Exact exact = exact_product(data);
    copy_in(data);
    const Errors strict = errors_of(of_cublaslt(), exact, bound);
    fmt::print("{:24} largest {:.2e} mean {:.2e}, cuBLASLt f32\n", distribution.name, strict.largest, strict.mean);
    for (const Loaded& loaded : variants_) {
      const Errors errors = errors_of(of_variant(*loaded.variant), exact, bound);
      fmt::print("{:24} largest {:.2e} mean {:.2e}, {:.3f} of the bound, {}\n", distribution.name, errors.largest,
                 errors.mean, errors.of_bound, loaded.name);
      EXPECT_LT(errors.of_bound, 1) << distribution.name << " " << loaded.name;
      if (distribution.normal) {
        EXPECT_LT(errors.largest, half_of_strict) << distribution.name << " " << loaded.name;
      }
    }
  }
}

TEST_F(Accuracy, WhatIsNotFiniteStaysSo) {
  Data data = draw(distributions().front());
  constexpr std::int64_t kOfInfinity = 3, kOfNan = 77;
  data.a[kOfInfinity * kDepth + 100] = std::numeric_limits<float>::infinity();
  data.a[kOfNan * kDepth + 4000] = std::numeric_limits<float>::quiet_NaN();
  copy_in(data);
  const std::vector<float> strict = of_cublaslt();
  for (const Loaded& loaded : variants_) {
    const std::vector<float> result = of_variant(*loaded.variant);
    for (std::size_t i = 0; i < result.size(); ++i)
      ASSERT_EQ(std::isfinite(result[i]), std::isfinite(strict[i])) << loaded.name << " element " << i;
  }
}

}  // namespace
}  // namespace pgtune::gpu
