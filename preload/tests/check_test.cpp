// SPDX-License-Identifier: MIT
// Checks of served results, on memory of the fake driver, which is the host's.
#include "preload/shim/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "preload/shim/ledger_format.hpp"
#include "tests/exported/fake_cuda.hpp"

namespace pgtune::preload {
namespace {

constexpr std::int64_t kM = 5, kN = 7, kK = 64, kBatch = 2, kPad = 3;

/// A call with operands of bfloat16 or float32 in padded rows.
struct Computed {
  Slot slot{};
  std::vector<unsigned char> a, b, c, d;
  double last = 0, last_scale = 0;  ///< of the last element, which is always checked

  Computed(int type, bool trans_a, bool trans_b) {
    Key& key = slot.key;
    key.m = kM, key.n = kN, key.k = kK, key.batch = kBatch;
    key.lda = (trans_a ? kM : kK) + kPad, key.ldb = (trans_b ? kK : kN) + kPad, key.ldc = kN + kPad;
    key.stride_a = (trans_a ? kK : kM) * key.lda, key.stride_b = (trans_b ? kN : kK) * key.ldb;
    key.stride_c = kM * key.ldc;
    key.trans_a = trans_a, key.trans_b = trans_b;
    key.alpha = 1, key.beta = 0.5F;
    key.type_a = key.type_b = key.type_d = static_cast<std::uint8_t>(type);
    const auto elements = [&](std::int64_t stride) { return static_cast<std::size_t>(stride * kBatch * 4); };
    a.resize(elements(key.stride_a)), b.resize(elements(key.stride_b));
    c.resize(elements(key.stride_c)), d.resize(elements(key.stride_c));
    std::mt19937 random(3);
    for (std::vector<unsigned char>* operand : {&a, &b, &c}) {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(operand->size()) / bytes(); ++i)
        put(*operand, i, static_cast<double>(static_cast<int>(random() % 17) - 8) / 8);  // exact in both types
    }
    for (std::int64_t z = 0; z < kBatch; ++z) {
      for (std::int64_t i = 0; i < kM; ++i) {
        for (std::int64_t j = 0; j < kN; ++j) compute(z, i, j);
      }
    }
  }

  [[nodiscard]] std::int64_t bytes() const { return slot.key.type_d == kR16BF ? 2 : 4; }
  void put(std::vector<unsigned char>& to, std::int64_t number, double value) const {
    const auto narrow = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    if (bytes() == 2) bits = (bits + 0x8000U) >> 16U;
    std::memcpy(&to[static_cast<std::size_t>(number * bytes())], &bits, static_cast<std::size_t>(bytes()));
  }
  [[nodiscard]] double get(const std::vector<unsigned char>& from, std::int64_t number) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &from[static_cast<std::size_t>(number * bytes())], static_cast<std::size_t>(bytes()));
    if (bytes() == 2) bits <<= 16U;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
  }
  void compute(std::int64_t z, std::int64_t i, std::int64_t j) {
    const Key& key = slot.key;
    const std::int64_t place = z * key.stride_c + i * key.ldc + j;
    last = static_cast<double>(key.beta) * get(c, place), last_scale = std::abs(last);
    for (std::int64_t l = 0; l < kK; ++l) {
      const double product = get(a, z * key.stride_a + (key.trans_a != 0 ? l * key.lda + i : i * key.lda + l)) *
                             get(b, z * key.stride_b + (key.trans_b != 0 ? j * key.ldb + l : l * key.ldb + j));
      last += product;
      last_scale += std::abs(product);
    }
    put(d, place, last);
  }

  /// Whether a kernel passes whose last element is off by `error`.
  [[nodiscard]] bool passes(double error, Arithmetic arithmetic = Arithmetic::kF32) {
    const Key& key = slot.key;
    Check check;
    const PgtuneOperands operands{a.data(), b.data(), c.data(), nullptr, d.data(), key.beta};
    EXPECT_TRUE(begin_check(check, slot, operands, arithmetic, nullptr));
    const std::int64_t end = (kBatch - 1) * key.stride_c + (kM - 1) * key.ldc + kN;
    std::vector<unsigned char> ours = d;
    put(ours, end - 1, last + error);
    std::memcpy(check.scratch, ours.data(), static_cast<std::size_t>(end * bytes()));
    EXPECT_TRUE(keep_c(check));
    const std::vector<unsigned char> before = c;
    std::fill(c.begin(), c.end(), static_cast<unsigned char>(0));  // cuBLAS's call may write it
    const Verdict verdict = finish_check(check);
    c = before;
    EXPECT_NE(verdict, Verdict::kNone);
    return verdict == Verdict::kRight;
  }
};

TEST(Checks, FindAnErrorBeyondTheBoundAndNoneBelow) {
  ASSERT_NE(fake_cuda(), nullptr);  // which loads the fake driver
  for (const int type : {int{kR32F}, int{kR16BF}}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        SCOPED_TRACE(type);
        Computed call(type, trans_a, trans_b);
        // 2 E S + 2 U |d| of docs/reference/accuracy.md
        const double bound =
            2 * (2 * 13 * 0x1p-24 * call.last_scale + (type == kR16BF ? 0x1p-8 * std::abs(call.last) : 0));
        EXPECT_TRUE(call.passes(0));
        EXPECT_TRUE(call.passes(0.5 * bound));
        EXPECT_FALSE(call.passes(2 * bound + (type == kR16BF ? 0x1p-6 * std::abs(call.last) : 0)));
      }
    }
  }
}

TEST(Checks, GiveNoVerdictOnWhatCannotBeRead) {
  ASSERT_NE(fake_cuda(), nullptr);
  Computed call(kR32F, false, false);
  Check check;
  const PgtuneOperands operands{nullptr, call.b.data(), call.c.data(), nullptr, call.d.data(), 0};
  ASSERT_TRUE(begin_check(check, call.slot, operands, Arithmetic::kF32, nullptr));
  EXPECT_EQ(finish_check(check), Verdict::kNone);
}

/// beta * C adds to the bound, as it was before the call.
TEST(Checks, RememberC) {
  ASSERT_NE(fake_cuda(), nullptr);
  for (const float beta : {1.0F, 0.5F, 0.0F}) {
    Computed call(kR32F, false, false);
    call.slot.key.beta = beta;
    const Key& key = call.slot.key;
    call.put(call.c, (kBatch - 1) * key.stride_c + (kM - 1) * key.ldc + kN - 1, 1e4);
    call.compute(kBatch - 1, kM - 1, kN - 1);
    const double bound = 2 * (2 * 13 * 0x1p-24) * call.last_scale;
    EXPECT_EQ(call.last_scale > 1000, beta > 0);
    EXPECT_TRUE(call.passes(0.9 * bound)) << beta;
    EXPECT_FALSE(call.passes(1.2 * bound)) << beta;
  }
}

/// Where products are rounded, they add to the bound. None of 64 cancels.
TEST(Checks, GoByTheArithmetic) {
  ASSERT_NE(fake_cuda(), nullptr);
  Computed call(kR32F, false, false);
  const auto bound = [&](double addition, double product) {
    return 2 * (2 * 13 * addition + product) * call.last_scale;
  };
  for (const auto& [arithmetic, limit] : {std::pair(Arithmetic::kTf32, bound(0x1p-23, 0x1p-9)),
                                          std::pair(Arithmetic::kTf32x3, bound(0x1p-23, 0x1p-19))}) {
    EXPECT_TRUE(call.passes(0.9 * limit, arithmetic));
    EXPECT_FALSE(call.passes(1.1 * limit, arithmetic));
  }
}

TEST(Checks, PoisonTheirScratchInTheStreamOfTheCall) {
  ASSERT_NE(fake_cuda(), nullptr);
  fake_new_context(0);
  Computed call(kR32F, false, false);
  Check check;
  ASSERT_TRUE(begin_check(check, call.slot, {}, Arithmetic::kF32, fake_stream(0, false)));
  EXPECT_EQ(fake_cuda()->memset_stream, fake_stream(0, false));
  const auto* const scratch = static_cast<const unsigned char*>(check.scratch);
  EXPECT_EQ(std::count(scratch, scratch + 4 * kN, 0xFF), 4 * kN);
  drop_check(check);
}

TEST(Checks, AreOfTypesThatTheyCanReadAlone) {
  ASSERT_NE(fake_cuda(), nullptr);
  for (std::uint8_t Key::*type : {&Key::type_a, &Key::type_b, &Key::type_d}) {
    Computed call(kR32F, false, false);
    call.slot.key.*type = 0xFE;
    Check check;
    EXPECT_FALSE(begin_check(check, call.slot, {}, Arithmetic::kF32, nullptr));
  }
}

}  // namespace
}  // namespace pgtune::preload
