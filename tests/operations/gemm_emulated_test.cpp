// SPDX-License-Identifier: MIT
// GEMM's data and reference, run on the host, bit by bit what is written out here: loops over the rows of operands, and
// sums in the reference's order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/operations/emulated_problem.hpp"
#include "tuner/model/rounding.hpp"
#include "tuner/operation/gemm_operation.hpp"

namespace pgtune::testing {
namespace {

float uniform_of(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t x = seed + (counter + 1) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<float>(static_cast<int>(x >> 40) - (1 << 23)) * 0x1p-23F;
}

class GemmInHostMemory {
 public:
  explicit GemmInHostMemory(const Problem& problem)
      : p_(problem), emulated_(operation::with_operation(problem).value()) {}

  [[nodiscard]] EmulatedProblem& emulated() { return emulated_; }

  [[nodiscard]] double element(Operand operand, std::int64_t at) const {
    const std::size_t index = buffer_of_operand(operand).value();
    const ElementType type = emulated_.operation().buffers[index].type;
    std::uint32_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const char*>(emulated_.address(index)) + at * element_bytes(type),
                static_cast<std::size_t>(element_bytes(type)));
    return element_value(type, bits);
  }

  void expect_data(Operand operand, std::uint64_t stream, std::int64_t rows, std::int64_t columns,
                   std::int64_t ld) const {
    const std::uint64_t seed = EmulatedProblem::kSeed + stream * 0xd1342543de82ef95ULL;
    const ElementType type = emulated_.operation().buffers[buffer_of_operand(operand).value()].type;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        double value = uniform_of(seed, static_cast<std::uint64_t>(row * columns + column));
        if (traits(type).is_integer()) value = std::floor(value * static_cast<double>(traits(type).data_range));
        // Rounded to nearest, which the neighbours on the grid of the type are too far for.
        const double found = element(operand, row * ld + column);
        const double room = traits(type).is_integer() || type == ElementType::kFloat32
                                ? 0
                                : std::max(std::abs(value) * std::ldexp(1, -traits(type).mantissa_bits - 1), 0x1p-10);
        ASSERT_LE(std::abs(found - value), room) << row << "," << column;
      }
    }
  }

  /// Sums in the order of the reference.
  void expect_reference(double rounding) const {
    const double alpha = static_cast<float>(p_.alpha), beta = static_cast<float>(p_.beta);
    for (std::int64_t batch = 0; batch < p_.batch; ++batch) {
      for (std::int64_t row = 0; row < p_.m; ++row) {
        for (std::int64_t column = 0; column < p_.n; ++column) {
          double sum = 0, magnitude = 0;
          for (std::int64_t k = 0; k < p_.k; ++k) {
            const double left =
                element(Operand::kA, batch * p_.stride_a() + (p_.trans_a ? k * p_.lda + row : row * p_.lda + k));
            const double right =
                element(Operand::kB, batch * p_.stride_b() + (p_.trans_b ? column * p_.ldb + k : k * p_.ldb + column));
            sum += left * right;
            magnitude += std::abs(left) * std::abs(right);
          }
          const double addend =
              beta == 0 ? 0 : beta * element(Operand::kC, batch * p_.stride_c() + row * p_.ldc + column);
          const double shift = p_.epilogue.bias ? element(Operand::kBias, column) : 0;
          const double unshifted = alpha * sum + addend, argument = unshifted + shift;
          const double rounded_before = (p_.epilogue.bias ? std::abs(unshifted) : 0) +
                                        (p_.epilogue.activation == Activation::kNone ? 0 : std::abs(argument));
          const auto at = static_cast<std::size_t>((batch * p_.m + row) * p_.n + column);
          ASSERT_EQ(emulated_.values()[at], activated(argument)) << row << "," << column << " of batch " << batch;
          ASSERT_EQ(emulated_.scales()[at], static_cast<float>(std::abs(alpha) * magnitude + std::abs(addend) +
                                                               std::abs(shift) + rounding * rounded_before));
        }
      }
    }
  }

 private:
  [[nodiscard]] double activated(double x) const {
    switch (p_.epilogue.activation) {
      case Activation::kRelu:
        return x > 0 ? x : 0;
      case Activation::kGelu:
        return x / (1 + std::exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
      case Activation::kSilu:
        return x / (1 + std::exp(-x));
      case Activation::kNone:
        break;
    }
    return x;
  }

  Problem p_;
  EmulatedProblem emulated_;
};

struct Kind {
  Dtype dtype;
  const char* layout;
  double alpha, beta;
  Epilogue epilogue;
  std::optional<ElementType> output = {};
  friend void PrintTo(const Kind& kind, std::ostream* out) {
    *out << to_string(kind.dtype) << ' ' << kind.layout << ' ' << to_string(kind.epilogue);
  }
};

class GemmEmulated : public ::testing::TestWithParam<Kind> {};

TEST_P(GemmEmulated, DataAndReferenceAreThoseWrittenOutHere) {
  Problem problem = with_layout(parse_shape("67x35x21").value(), GetParam().layout).value();
  problem.dtype = GetParam().dtype;
  problem.output = GetParam().output;
  problem.batch = 2;
  problem.alpha = GetParam().alpha;
  problem.beta = GetParam().beta;
  problem.epilogue = GetParam().epilogue;
  problem.lda = problem.columns_a() + 3;
  problem.ldb = problem.columns_b() + 1;
  problem.ldc = problem.n + 5;
  const Problem p = with_default_strides(problem).value();
  GemmInHostMemory gemm(p);
  EmulatedProblem& emulated = gemm.emulated();
  ASSERT_TRUE(emulated.usable());
  emulated.fill();
  gemm.expect_data(Operand::kA, 0, p.rows_a() * p.batch, p.columns_a(), p.lda);
  gemm.expect_data(Operand::kB, 1, p.rows_b() * p.batch, p.columns_b(), p.ldb);
  if (p.beta != 0) gemm.expect_data(Operand::kC, 2, p.m * p.batch, p.n, p.ldc);
  if (p.epilogue.bias) gemm.expect_data(Operand::kBias, 3, 1, p.n, p.n);
  emulated.refer();
  EXPECT_EQ(emulated.unwritten(), 0);
  const double roundoff = unit_roundoff(p.type_of_c());
  gemm.expect_reference(roundoff == 0 ? 0 : roundoff / sum_error(p.dtype, p.k, p.epilogue.bias ? 5 : 4));

  emulated.store(0, false);
  const gpu::Comparison right = emulated.compare();
  EXPECT_EQ(right.wrong, 0);
  EXPECT_EQ(right.padding_changed, 0);
  emulated.store(1, false);
  EXPECT_GT(emulated.compare().wrong, 0);
  EXPECT_TRUE(emulated.guards_hold());
}

constexpr Epilogue kNothing{}, kBias{true, Activation::kNone};
INSTANTIATE_TEST_SUITE_P(
    Kinds, GemmEmulated,
    ::testing::Values(
        Kind{Dtype::kF32, "nn", 1, 0, kNothing}, Kind{Dtype::kTf32, "tn", 1.5, -0.5, {true, Activation::kGelu}},
        Kind{Dtype::kF16, "nt", 1, 0, {false, Activation::kRelu}}, Kind{Dtype::kBf16, "tt", 0.1, 0.3, kBias},
        Kind{Dtype::kBf16, "nn", 1, 0, {true, Activation::kSilu}, ElementType::kFloat32},
        Kind{Dtype::kE4m3, "tn", 1, 1, kNothing}, Kind{Dtype::kE5m2, "nt", 1, 0, {true, Activation::kGelu}},
        Kind{Dtype::kInt8, "tt", 3, -2, kNothing}));

}  // namespace
}  // namespace pgtune::testing
