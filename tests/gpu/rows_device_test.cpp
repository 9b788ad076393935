// SPDX-License-Identifier: MIT
// Rows whose bits never change: variants of one sum_order give each row the same bits at every M, from whatever row on
// the product starts, and whatever the other rows are. Sums cancel, so that another order of the additions shows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kColumns = 256, kDepth = 2048, kMostRows = 8192;

struct Kernel {
  const char *template_name, *parameters;
};

/// Kernels of one order; the first one's rows at the largest M are what all rows are compared with.
struct RowFamily {
  std::string name;
  Dtype dtype;
  std::string order;
  std::int64_t largest;
  std::vector<Kernel> kernels;
  bool every_m = false;  ///< for the first kernel; otherwise those around multiples of 64, and the first 300
};

std::vector<RowFamily> families() {
  const char* const wgmma = "gemm_wgmma";
  const char* const mma = "gemm_mma";
  return {
      {"plain",
       Dtype::kBf16,
       "plain",
       kMostRows,
       {{wgmma, "BM=128,BN=128,STAGES=6"},
        {wgmma, "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6"},
        {wgmma, "BM=64,BN=64,WARPGROUPS_M=1,BK_BYTES=256,STAGES=6,GRID=persistent_even"},
        {wgmma, "SWAP_AB=1,BM=64,BN=8,WARPGROUPS_M=1,STAGES=16,EPILOGUE=direct"},
        {wgmma, "SWAP_AB=1,BN=64,STAGES=8,CLUSTER_M=2,EPILOGUE=direct"},
        {wgmma, "BM=128,BN=128,STAGES=6,CLUSTER_M=2,GRID=single_tile"},
        {wgmma, "BM=128,BN=128,STAGES=6,COPY=cp_async"}},
       true},
      {"in_warps", Dtype::kBf16, "plain", 2048, {{wgmma, "BM=128,BN=128,STAGES=6"}, {mma, ""}, {mma, "BK_BYTES=128"}}},
      {"two_parts",
       Dtype::kBf16,
       "2 parts that take blocks of 128 bytes in turn",
       512,
       {{wgmma, "BM=64,BN=64,WARPGROUPS_M=1,STAGES=8,DECOMPOSITION=split_k,SPLIT_K=2"},
        {wgmma, "BM=64,BN=64,WARPGROUPS_M=1,STAGES=8,CLUSTER_K=2"}}},
      {"four_parts",
       Dtype::kBf16,
       "4 parts that take blocks of 128 bytes in turn",
       512,
       {{wgmma, "BM=64,BN=64,WARPGROUPS_M=1,STAGES=8,DECOMPOSITION=split_k,SPLIT_K=4"},
        {wgmma, "BM=64,BN=64,WARPGROUPS_M=1,STAGES=8,CLUSTER_K=4"},
        {wgmma, "SWAP_AB=1,BM=64,BN=32,WARPGROUPS_M=1,STAGES=8,CLUSTER_K=4,EPILOGUE=direct"},
        {wgmma, "SWAP_AB=1,BM=64,BN=32,WARPGROUPS_M=1,STAGES=8,DECOMPOSITION=split_k,SPLIT_K=4,EPILOGUE=direct"}}},
      {"eight_parts",
       Dtype::kBf16,
       "8 parts that take blocks of 128 bytes in turn",
       256,
       {{wgmma, "BM=64,BN=128,WARPGROUPS_M=1,STAGES=8,DECOMPOSITION=split_k,SPLIT_K=8"},
        {wgmma, "SWAP_AB=1,BM=64,BN=64,WARPGROUPS_M=1,STAGES=8,CLUSTER_K=8,EPILOGUE=direct"}}},
      {"sixteen_parts",
       Dtype::kBf16,
       "16 parts that take blocks of 128 bytes in turn",
       128,
       {{wgmma, "BM=64,BN=128,WARPGROUPS_M=1,STAGES=8,DECOMPOSITION=split_k,SPLIT_K=16"}}},
      {"four_ranges",
       Dtype::kBf16,
       "4 ranges of blocks of 64 bytes",
       512,
       {{mma, "BM=64,BN=64,WM=32,WN=32,DECOMPOSITION=split_k,SPLIT_K=4"},
        {mma, "BM=128,BN=64,WM=32,WN=32,DECOMPOSITION=split_k,SPLIT_K=4"}}},
      {"tf32",
       Dtype::kTf32,
       "plain, operands rounded by TMA",
       2048,
       {{wgmma, "BN=128,STAGES=5"}, {wgmma, "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1,STAGES=16,EPILOGUE=direct"}}},
      {"tf32_truncated",
       Dtype::kTf32,
       "plain, operands truncated",
       1024,
       {{wgmma, "BN=128,STAGES=5,COPY=cp_async"}, {mma, ""}}},
      {"e4m3",
       Dtype::kE4m3,
       "plain",
       2048,
       {{wgmma, "BN=128,STAGES=6"}, {wgmma, "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1,STAGES=16"}}},
      {"e4m3_promoted",
       Dtype::kE4m3,
       "plain, added in float32 after each 256 bytes",
       2048,
       {{wgmma, "BN=128,STAGES=6,PROMOTION_INTERVAL=2"}, {wgmma, "BN=64,STAGES=4,BK_BYTES=256,PROMOTION_INTERVAL=1"}}},
      {"e4m3_widened", Dtype::kE4m3, "plain, products of float16", 1024, {{mma, ""}, {mma, "BK_BYTES=128"}}},
      {"split_operands",
       Dtype::kTf32x3,
       "plain, 3 products a block of 128 bytes, added in float32 after each 256 bytes",
       1024,
       {{wgmma, "BN=128,STAGES=3,PROMOTION_INTERVAL=2"},
        {wgmma, "BM=64,BN=64,WARPGROUPS_M=1,STAGES=4,PROMOTION_INTERVAL=2"}}},
      {"f32",
       Dtype::kF32,
       "plain, in float32",
       1024,
       {{"sgemm_simt", ""}, {"sgemm_tma", "DECOMPOSITION=data_parallel"}, {"sgemm_simt", "BM=64,BN=64,TM=8,TN=8"}}},
  };
}

std::int64_t bytes_of(Dtype dtype) { return element_bytes(dtype); }

/// Rows of operands as bytes. The second half of K takes the first one back, but for some last bits of B.
struct Data {
  std::vector<unsigned char> a, b;
};

void put(unsigned char* to, Dtype dtype, std::mt19937& random) {
  const unsigned word = static_cast<unsigned>(random());
  const unsigned sign = word >> 31;
  if (bytes_of(dtype) == 1) {
    *to = static_cast<unsigned char>(sign << 7 | (4 + (word >> 8) % 8) << 3 | (word & 7));
  } else if (bytes_of(dtype) == 2) {
    const auto bits = static_cast<std::uint16_t>(sign << 15 | (122 + (word >> 8) % 10) << 7 | (word & 0x7f));
    std::memcpy(to, &bits, sizeof bits);
  } else {
    const std::uint32_t bits = sign << 31 | (122 + (word >> 27) % 10) << 23 | (word & 0x7fffff);
    std::memcpy(to, &bits, sizeof bits);
  }
}

Data draw(Dtype dtype) {
  std::mt19937 random(65);
  const std::int64_t bytes = bytes_of(dtype), half = kDepth / 2 * bytes, row = kDepth * bytes;
  Data data{std::vector<unsigned char>(static_cast<std::size_t>(kMostRows * row)),
            std::vector<unsigned char>(static_cast<std::size_t>(kColumns * row))};
  for (auto* operand : {&data.a, &data.b}) {
    for (unsigned char* at = operand->data(); at != operand->data() + operand->size(); at += row) {
      for (std::int64_t i = 0; i < half; i += bytes) put(at + i, dtype, random);
      std::memcpy(at + half, at, static_cast<std::size_t>(half));
      for (std::int64_t i = half; i < row; i += bytes) {
        if (operand == &data.a) {
          at[i + bytes - 1] ^= 0x80U;  // the sign
        } else if (random() % 16 == 0) {
          // The last bit that counts: tf32 has ten.
          at[dtype == Dtype::kTf32 ? i + 1 : i] ^= dtype == Dtype::kTf32 ? 0x20U : 1U;
        }
      }
    }
  }
  return data;
}

class RowsOnDevice : public testing::TestWithParam<RowFamily>, protected LaunchingGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    if (info_.arch_number() != 90) GTEST_SKIP() << "the kernels are of compute capability 9.0";
    data_ = draw(GetParam().dtype);
    a_ = on_device(data_.a);
    b_ = on_device(data_.b);
    d_ = DeviceBuffer::allocate(static_cast<std::size_t>(kMostRows * row_of_d())).value();
  }

  static DeviceBuffer on_device(const std::vector<unsigned char>& bytes) {
    DeviceBuffer out = DeviceBuffer::allocate(bytes.size()).value();
    EXPECT_EQ(cudaMemcpy(device_pointer(out.address()), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
    return out;
  }

  [[nodiscard]] static Problem problem(std::int64_t m) {
    Problem out = problem_of(fmt::format("{}x{}x{}", m, kColumns, kDepth), "nt");
    out.dtype = GetParam().dtype;
    if (out.dtype == Dtype::kBf16) out.output = ElementType::kFloat32;  // bfloat16 would hide most differences
    return out;
  }
  [[nodiscard]] static std::int64_t row_of_a() { return kDepth * bytes_of(GetParam().dtype); }
  [[nodiscard]] static std::int64_t row_of_d() { return kColumns * element_bytes(problem(1).type_of_c()); }

  struct Chosen {
    space::TemplateDefinition definition;
    Variant variant;
  };
  [[nodiscard]] static Chosen chosen(const Kernel& kernel) {
    auto definition = space::load_template(fmt::format("{}/configs/{}.json", PGTUNE_SOURCE_DIR, kernel.template_name),
                                           shipped_header);
    EXPECT_TRUE(definition) << definition.error().text();
    auto variant = space::parse_variant(*definition, kernel.parameters);
    EXPECT_TRUE(variant) << variant.error().text();
    return {std::move(*definition), std::move(*variant)};
  }

  [[nodiscard]] bool legal(const Chosen& kernel, std::int64_t m) const {
    const auto why_not = space::why_illegal(kernel.definition, kernel.variant, problem(m), info_);
    EXPECT_TRUE(why_not) << why_not.error().text();
    return why_not && !*why_not;
  }

  /// D of `m` rows, whose A begins at row `first` of `a`.
  std::vector<unsigned char> product(const Chosen& kernel, std::int64_t m, const DeviceBuffer& a, std::int64_t first) {
    std::vector<unsigned char> out(static_cast<std::size_t>(m * row_of_d()));
    const auto built = build(kernel.definition, std::vector{kernel.variant}, problem(m)).front();
    EXPECT_TRUE(built) << built.error().text();
    if (!built) return out;
    OperandSet operands;
    const DeviceSpan d{d_.address(), m * row_of_d()};
    operands.buffers = {{a.address() + static_cast<std::uint64_t>(first * row_of_a()), m * row_of_a()},
                        {b_.address(), kColumns * row_of_a()},
                        d,
                        d,
                        d};
    const auto loaded = load(*built, {operands});
    EXPECT_TRUE(loaded) << loaded.error().text;
    if (!loaded) return out;
    EXPECT_EQ(cudaMemsetAsync(device_pointer(d.address), 0xff, out.size(), stream_.get()), cudaSuccess);
    const auto launched = (*loaded)->launch(0, stream_.get());
    EXPECT_TRUE(launched) << launched.error().text;
    EXPECT_EQ(cudaMemcpyAsync(out.data(), device_pointer(d.address), out.size(), cudaMemcpyDeviceToHost, stream_.get()),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    return out;
  }

  /// How many of the rows, every `step`-th, differ from those of `right` from `first` on.
  [[nodiscard]] static std::int64_t differing(const std::vector<unsigned char>& got,
                                              const std::vector<unsigned char>& right, std::int64_t first,
                                              std::int64_t step = 1) {
    const auto row = static_cast<std::size_t>(row_of_d());
    std::int64_t out = 0;
    for (std::size_t i = 0; i * row < got.size(); i += static_cast<std::size_t>(step)) {
      out += std::memcmp(got.data() + i * row, right.data() + (i + static_cast<std::size_t>(first)) * row, row) != 0;
    }
    return out;
  }

  [[nodiscard]] static std::vector<std::int64_t> counts(std::int64_t largest, bool every) {
    constexpr std::int64_t kFirst = 300;
    std::vector<std::int64_t> out;
    for (std::int64_t m = 1; m <= largest; ++m) {
      if (every || m <= kFirst || m == largest || (m + 1) % 64 <= 2) out.push_back(m);
    }
    return out;
  }

  Data data_;
  DeviceBuffer a_, b_, d_;
};

TEST_P(RowsOnDevice, HaveTheSameBitsAtEveryM) {
  const RowFamily& family = GetParam();
  const std::vector<unsigned char> right = product(chosen(family.kernels.front()), family.largest, a_, 0);
  ASSERT_FALSE(HasFailure());
  for (const Kernel& kernel : family.kernels) {
    SCOPED_TRACE(fmt::format("{} {}", kernel.template_name, kernel.parameters));
    const Chosen own = chosen(kernel);
    EXPECT_EQ(space::sum_order(own.definition, own.variant, problem(64), info_).value(), family.order);
    std::int64_t tried = 0, wrong = 0, first_wrong = 0;
    for (const std::int64_t m : counts(family.largest, family.every_m && &kernel == &family.kernels.front())) {
      if (!legal(own, m)) continue;
      ++tried;
      const std::int64_t rows = differing(product(own, m, a_, 0), right, 0);
      if (rows > 0 && wrong++ == 0) first_wrong = m;
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(tried, 30) << "it is legal at too few M";
    EXPECT_EQ(wrong, 0) << "of " << tried << " M, the first with other bits is " << first_wrong;
  }
}

TEST_P(RowsOnDevice, DoNotDependOnWhereTheyLieNorOnTheirNeighbours) {
  const RowFamily& family = GetParam();
  const std::vector<unsigned char> right = product(chosen(family.kernels.front()), family.largest, a_, 0);
  ASSERT_FALSE(HasFailure());
  constexpr std::int64_t kStep = 7;
  std::vector<unsigned char> lonely(data_.a.size(), 0xff);  // NaN in every type
  for (std::int64_t row = 0; row < kMostRows; row += kStep)
    std::memcpy(lonely.data() + row * row_of_a(), data_.a.data() + row * row_of_a(),
                static_cast<std::size_t>(row_of_a()));
  const DeviceBuffer among_nans = on_device(lonely);
  for (const Kernel& kernel : family.kernels) {
    SCOPED_TRACE(fmt::format("{} {}", kernel.template_name, kernel.parameters));
    const Chosen own = chosen(kernel);
    for (const std::int64_t m : {1, 2, 17, 63, 64, 65, 127, 128, 129, 192, 256, 300, 512, 1000, 2048, 8192}) {
      if (m > family.largest || !legal(own, m)) continue;
      for (const std::int64_t first : {1, 7, 63, 64, 65}) {
        if (first + m > family.largest) continue;
        EXPECT_EQ(differing(product(own, m, a_, first), right, first), 0) << m << " rows from row " << first << " on";
      }
      EXPECT_EQ(differing(product(own, m, among_nans, 0), right, 0, kStep), 0) << m << " rows with NaN beside them";
    }
  }
}

std::string name_of(const testing::TestParamInfo<RowFamily>& family) { return family.param.name; }

INSTANTIATE_TEST_SUITE_P(Families, RowsOnDevice, testing::ValuesIn(families()), name_of);

/// What the tests above would miss if the data did not show an order.
class OrdersOnDevice : public RowsOnDevice {};

TEST_P(OrdersOnDevice, ShowInTheBits) {
  std::map<std::string, std::vector<unsigned char>> rows;
  for (const RowFamily& family : families()) {
    if (family.dtype == GetParam().dtype)
      rows.emplace(family.order, product(chosen(family.kernels.front()), 64, a_, 0));
  }
  for (auto one = rows.begin(); one != rows.end(); ++one) {
    for (auto other = std::next(one); other != rows.end(); ++other)
      EXPECT_GT(differing(one->second, other->second, 0), 0) << one->first << " and " << other->first;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, OrdersOnDevice,
                         testing::Values(RowFamily{"bf16", Dtype::kBf16, "", 64, {}},
                                         RowFamily{"tf32", Dtype::kTf32, "", 64, {}},
                                         RowFamily{"e4m3", Dtype::kE4m3, "", 64, {}}),
                         name_of);

}  // namespace
}  // namespace pgtune::gpu
