// SPDX-License-Identifier: MIT
// The one launch that lays out a baseline's operands, with all CTAs and threads of it: each element arrives at its
// place in its matrix, what lies beyond lines and K stays zero, and C and the bias go along.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "tests/templates/cta_on_host.hpp"
// After both.
#include "tuner/gpu/baseline/kernels/operand_copies.cu"

namespace pgtune::gpu {
namespace {

template <typename Kernel>
void run(unsigned ctas, const Kernel& kernel) {
  run_ctas(ctas, kRowCopyThreads, kernel);
}

/// Bytes at a multiple of 16, and some after them.
class Memory {
 public:
  explicit Memory(long long bytes) : words_(static_cast<std::size_t>(bytes) / 16 + 3, uint4{0, 0, 0, 0}) {}
  unsigned char* data() { return reinterpret_cast<unsigned char*>(words_.data()); }
  [[nodiscard]] unsigned long long address() { return reinterpret_cast<std::uintptr_t>(data()); }
  void fill(unsigned seed) {
    std::minstd_rand random(seed);
    for (std::size_t i = 0; i < 16 * words_.size(); ++i) data()[i] = static_cast<unsigned char>(random() | 1);
  }

 private:
  std::vector<uint4> words_;
};

struct Shape {
  long long lines, depth, ld_in, ld_out, lines_out;
  bool along_k;
};

/// An operand and the place that it is laid out in.
struct LaidOutOperand {
  LaidOutOperand(const Shape& wanted, long long matrices)
      : shape(wanted),
        batch(matrices),
        stride_in((shape.along_k ? shape.lines : shape.depth) * shape.ld_in),
        stride_out(shape.lines_out * shape.ld_out),
        in(batch * stride_in),
        out(batch * stride_out) {
    in.fill(static_cast<unsigned>(shape.lines));
  }
  [[nodiscard]] LineCopy copy() {
    return planned(LineCopy{.in = in.address(),
                            .out = out.address(),
                            .lines = shape.lines,
                            .ld_in = shape.ld_in,
                            .ld_out = shape.ld_out,
                            .stride_in = stride_in,
                            .stride_out = stride_out,
                            .along_k = shape.along_k ? 1 : 0});
  }
  void expect_laid_out(const std::string& name) {
    for (long long matrix = 0; matrix < batch; ++matrix) {
      for (long long line = 0; line < shape.lines_out; ++line) {
        for (long long k = 0; k < shape.ld_out; ++k) {
          const long long from = shape.along_k ? line * shape.ld_in + k : k * shape.ld_in + line;
          const bool exists = line < shape.lines && k < shape.depth;
          ASSERT_EQ(out.data()[matrix * stride_out + line * shape.ld_out + k],
                    exists ? in.data()[matrix * stride_in + from] : 0)
              << name << " matrix " << matrix << " line " << line << " k " << k;
        }
      }
    }
  }

  Shape shape;
  long long batch, stride_in, stride_out;
  Memory in, out;
};

TEST(LayOutOperands, EveryElementArrives) {
  constexpr int kBatch = 2;
  // Along K and transposed, in lines at multiples of 16, of 4 and of no bytes; more than one tile along each.
  for (const auto& [a_shape, b_shape] :
       {std::pair{Shape{127, 131, 133, 144, 128, true}, Shape{129, 131, 130, 144, 144, false}},
        std::pair{Shape{144, 272, 144, 272, 144, false}, Shape{16, 272, 275, 272, 16, true}},
        std::pair{Shape{126, 252, 252, 256, 128, true}, Shape{130, 252, 132, 256, 144, false}},
        std::pair{Shape{3, 5, 3, 16, 16, false}, Shape{1, 5, 5, 16, 16, true}}}) {
    LaidOutOperand a(a_shape, kBatch), b(b_shape, kBatch);
    const OperandCopies copies{.a = a.copy(), .b = b.copy(), .depth = a_shape.depth};
    run(ctas_of(copies) * kBatch, [&] { lay_out_operands(copies); });
    a.expect_laid_out("A");
    b.expect_laid_out("B");
  }
}

TEST(LayOutOperands, OneOperandAlone) {
  LaidOutOperand b({130, 140, 141, 144, 130, false}, 3);
  const OperandCopies copies{.b = b.copy(), .depth = 140};
  run(ctas_of(copies) * 3, [&] { lay_out_operands(copies); });
  b.expect_laid_out("B");
}

TEST(LayOutOperands, RowsOfCAndTheBiasGoAlong) {
  constexpr long long kRows = 127, kRowBytes = 258, kFrom = 270, kTo = 288, kRowsTo = 128;
  constexpr int kBatch = 2;
  LaidOutOperand a({127, 131, 131, 144, 128, true}, kBatch);
  Memory c_in(kBatch * kRows * kFrom), c_out(kBatch * kRowsTo * kTo), bias_in(kRowBytes), bias_out(kTo),
      d(kBatch * kRows * kFrom);
  c_in.fill(3);
  bias_in.fill(4);
  const OperandCopies copies{
      .a = a.copy(),
      .c = planned(RowCopy{.from = c_in.address(),
                           .to = c_out.address(),
                           .rows = kRows,
                           .row_bytes = kRowBytes,
                           .stride_from = kFrom,
                           .stride_to = kTo,
                           .batch_from = kRows * kFrom,
                           .batch_to = kRowsTo * kTo}),
      .bias = planned(RowCopy{.from = bias_in.address(), .to = bias_out.address(), .rows = 1, .row_bytes = kRowBytes}),
      .depth = 131};
  run(ctas_of(copies) * kBatch, [&] { lay_out_operands(copies); });
  a.expect_laid_out("A");
  // And back, as D comes back.
  const RowCopy back = planned(RowCopy{.from = c_out.address(),
                                       .to = d.address(),
                                       .rows = kRows,
                                       .row_bytes = kRowBytes,
                                       .stride_from = kTo,
                                       .stride_to = kFrom,
                                       .batch_from = kRowsTo * kTo,
                                       .batch_to = kRows * kFrom});
  run(back.pieces * kBatch, [&] { copy_rows(back); });
  for (long long i = 0; i < kTo; ++i) ASSERT_EQ(bias_out.data()[i], i < kRowBytes ? bias_in.data()[i] : 0) << i;
  for (long long matrix = 0; matrix < kBatch; ++matrix) {
    for (long long row = 0; row < kRowsTo; ++row) {
      for (long long i = 0; i < kTo; ++i) {
        const bool exists = row < kRows && i < kRowBytes;
        const unsigned char wanted = exists ? c_in.data()[(matrix * kRows + row) * kFrom + i] : 0;
        ASSERT_EQ(c_out.data()[(matrix * kRowsTo + row) * kTo + i], wanted) << matrix << " " << row << " " << i;
        if (row < kRows && i < kFrom) {
          ASSERT_EQ(d.data()[(matrix * kRows + row) * kFrom + i], wanted) << matrix << " " << row << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pgtune::gpu
