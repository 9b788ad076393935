// SPDX-License-Identifier: MIT
// A call of cuBLAS's and the problem that pgtune makes of it compute the same.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "preload/shim/decode.hpp"
#include "preload/shim/refusal.hpp"

namespace pgtune::preload {
namespace {

using Matrix = std::vector<float>;

/// C = A B + beta C by cuBLAS's definition, column-major.
void by_columns(const BlasArguments& call, const Matrix& a, const Matrix& b, float beta, Matrix& c) {
  const auto at = [](const Matrix& x, int op, std::int64_t ld, std::int64_t from, std::int64_t row, std::int64_t col) {
    return x.at(static_cast<std::size_t>(from + (op == kOpN ? col * ld + row : row * ld + col)));
  };
  for (std::int64_t z = 0; z < call.batch; ++z) {
    for (std::int64_t i = 0; i < call.m; ++i) {
      for (std::int64_t j = 0; j < call.n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < call.k; ++l)
          sum +=
              at(a, call.op_a, call.lda, z * call.stride_a, i, l) * at(b, call.op_b, call.ldb, z * call.stride_b, l, j);
        float& out = c.at(static_cast<std::size_t>(z * call.stride_c + j * call.ldc + i));
        out = sum + beta * out;
      }
    }
  }
}

/// D = A B + beta D by pgtune's, row-major: `a` is its A.
void by_rows(const Key& key, const Matrix& a, const Matrix& b, Matrix& d) {
  const auto at = [](const Matrix& x, bool trans, std::int64_t ld, std::int64_t from, std::int64_t row,
                     std::int64_t col) {
    return x.at(static_cast<std::size_t>(from + (trans ? col * ld + row : row * ld + col)));
  };
  for (std::int64_t z = 0; z < key.batch; ++z) {
    for (std::int64_t i = 0; i < key.m; ++i) {
      for (std::int64_t j = 0; j < key.n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < key.k; ++l)
          sum += at(a, key.trans_a != 0, key.lda, z * key.stride_a, i, l) *
                 at(b, key.trans_b != 0, key.ldb, z * key.stride_b, l, j);
        float& out = d.at(static_cast<std::size_t>(z * key.stride_c + i * key.ldc + j));
        out = sum + key.beta * out;
      }
    }
  }
}

TEST(Keys, ComputeWhatTheCallComputes) {
  std::mt19937 random(1);
  const auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto matrix = [&](std::int64_t elements) {
    Matrix out(static_cast<std::size_t>(elements));
    for (float& x : out) x = static_cast<float>(number(-4, 4));
    return out;
  };
  for (int round = 0; round < 500; ++round) {
    const float alpha = 1, beta = static_cast<float>(number(0, 1));
    BlasArguments call{.call = Call::kSgemmStridedBatched, .handle = nullptr};
    call.op_a = number(kOpN, kOpC), call.op_b = number(kOpN, kOpC);
    call.m = number(1, 7), call.n = number(1, 7), call.k = number(1, 7), call.batch = number(1, 3);
    call.alpha = &alpha, call.beta = &beta;
    call.lda = (call.op_a == kOpN ? call.m : call.k) + number(0, 2);
    call.ldb = (call.op_b == kOpN ? call.k : call.n) + number(0, 2);
    call.ldc = call.m + number(0, 2);
    call.stride_a = call.lda * (call.op_a == kOpN ? call.k : call.m) + number(0, 1);
    call.stride_b = call.ldb * (call.op_b == kOpN ? call.n : call.k) + number(0, 1);
    call.stride_c = call.ldc * call.n + number(0, 1);
    const Matrix a = matrix(call.stride_a * call.batch), b = matrix(call.stride_b * call.batch);
    Matrix c = matrix(call.stride_c * call.batch), d = c;
    by_columns(call, a, b, beta, c);
    const Key key = key_of(Major::k13, call);
    by_rows(key, b, a, d);
    EXPECT_EQ(c, d);
    const bool packed = call.batch == 1 || (call.stride_a == call.lda * (call.op_a == kOpN ? call.k : call.m) &&
                                            call.stride_b == call.ldb * (call.op_b == kOpN ? call.n : call.k) &&
                                            call.stride_c == call.ldc * call.n);
    EXPECT_EQ(refusal_of(key, true), packed ? Refusal::kNone : Refusal::kStrides);
  }
}

Key usual() {
  Key key;
  key.m = key.n = key.k = key.lda = key.ldb = key.ldc = 64;
  key.alpha = 1;
  key.type_a = key.type_b = key.type_d = key.bias_type = kR16BF;
  key.compute = kCompute32F;
  key.call = Call::kGemmEx;
  return key;
}

TEST(Keys, AreRefusedForOneReasonEach) {
  EXPECT_EQ(refusal_of(usual(), true), Refusal::kNone);
  const auto refused = [](auto change) {
    Key key = usual();
    change(key);
    return refusal_of(key, true);
  };
  EXPECT_EQ(refused([](Key& key) { key.call = Call::kBatched; }), Refusal::kFunction);
  EXPECT_EQ(refused([](Key& key) { key.flags = kOtherOrder; }), Refusal::kFunction);
  EXPECT_EQ(refused([](Key& key) { key.k = 0; }), Refusal::kEmpty);
  EXPECT_EQ(refused([](Key& key) { key.compute = kCompute16F; }), Refusal::kType);
  EXPECT_EQ(refused([](Key& key) {
              key.type_a = key.type_b = key.type_d = kR64F;
              key.compute = kCompute64F;
            }),
            Refusal::kType);
  EXPECT_EQ(refused([](Key& key) { key.math = kPedanticMath; }), Refusal::kType);
  EXPECT_EQ(refused([](Key& key) { key.type_d = kR16F; }), Refusal::kType);
  EXPECT_EQ(refused([](Key& key) { key.alpha = 0.5F; }), Refusal::kScalars);
  EXPECT_EQ(refused([](Key& key) { key.flags = kDeviceScalars; }), Refusal::kScalars);
  EXPECT_EQ(refused([](Key& key) { key.epilogue = kLtRelu + 128; }), Refusal::kEpilogue);
  EXPECT_EQ(refused([](Key& key) { key.bias_type = kR32F; }), Refusal::kEpilogue);
  EXPECT_EQ(refused([](Key& key) { key.flags = kUnusual; }), Refusal::kEpilogue);
  EXPECT_EQ(refused([](Key& key) { key.flags = kLimitedSms; }), Refusal::kSms);
  EXPECT_EQ(refused([](Key& key) { key.flags = kOtherC; }), Refusal::kStrides);
  EXPECT_EQ(refused([](Key& key) {
              key.type_a = key.type_b = kE4M3;
              key.flags = kScaled;
            }),
            Refusal::kScales);
}

TEST(Keys, ComputeInTf32OnlyWhereThatIsAsked) {
  Key key = usual();
  key.type_a = key.type_b = key.type_d = kR32F;
  EXPECT_EQ(arithmetic_of(key, true), Arithmetic::kF32);
  key.math = kTf32Math;
  EXPECT_EQ(arithmetic_of(key, true), Arithmetic::kTf32);
  EXPECT_EQ(arithmetic_of(key, false), Arithmetic::kF32);
  key.math = 0;
  key.compute = kCompute32FFastTf32;
  EXPECT_EQ(arithmetic_of(key, true), Arithmetic::kTf32);
  key.compute = kCompute32FPedantic;
  EXPECT_EQ(arithmetic_of(key, true), Arithmetic::kOther);
  key.compute = kCompute32F;
  key.math = kEmulatedBf16x9Math;
  EXPECT_EQ(arithmetic_of(key, true), Arithmetic::kOther);
}

TEST(Keys, HaveHashesOfTheirOwn) {
  std::set<std::uint64_t> seen;
  Key key = usual();
  for (key.m = 1; key.m <= 1000; ++key.m) {
    for (const std::uint8_t trans : {std::uint8_t{0}, std::uint8_t{1}}) {
      key.trans_b = trans;
      seen.insert(hash(key) % 16384);
    }
  }
  EXPECT_GT(seen.size(), 1700U);  // 1877 expected of a random function
}

}  // namespace
}  // namespace pgtune::preload
