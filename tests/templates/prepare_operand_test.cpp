// SPDX-License-Identifier: MIT
// What lays an operand out for TMA, in elements of 1, 2 and 4 bytes: each arrives at its place, whether its lines are
// copied or transposed and wherever they start; what lies beyond K in a line's last word becomes zero, and no word
// after it is written; and nothing outside of the operand is read, which the address sanitizer sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "tests/templates/cta_on_host.hpp"
// After both.
#include "templates/device/copy/prepare_operand.cuh"

namespace pgtune {
namespace {

struct Lines {
  int lines, depth;
  long long ld;  ///< of the operand as it lies, in elements
  bool along_k;
};

template <int kBytes>
void expect_prepared(const Lines& of) {
  using Tile = PrepareTile<kBytes>;
  SCOPED_TRACE(testing::Message() << kBytes << " bytes, " << of.lines << " lines of " << of.depth << ", " << of.ld
                                  << " apart, along K " << of.along_k);
  const long long across = of.along_k ? of.lines : of.depth, along = of.along_k ? of.depth : of.lines;
  const auto size = static_cast<std::size_t>(((across - 1) * of.ld + along) * kBytes);
  const auto in = std::make_unique<unsigned char[]>(size);
  for (std::size_t i = 0; i < size; ++i) in[i] = static_cast<unsigned char>(1 + (i * 7 + i / 251) % 254);
  const long long ld_out = (of.depth * kBytes + 15) / 16 * 16 / kBytes + 16 / kBytes;
  const auto out_size = static_cast<std::size_t>(of.lines * ld_out * kBytes);
  constexpr unsigned char kUntouched = 0xff;
  const auto out = std::make_unique<unsigned char[]>(out_size);
  std::fill_n(out.get(), out_size, kUntouched);
  const PreparePlan plan{in.get(), out.get(), of.lines, of.depth, of.ld, ld_out, of.along_k, of.ld * kBytes % 4 == 0};
  const int tiles = (of.lines + Tile::kLines - 1) / Tile::kLines,
            steps = (of.depth + Tile::kBlockK - 1) / Tile::kBlockK;
  run_ctas(static_cast<unsigned>(tiles * steps), 256, [&] {
    const int cta = static_cast<int>(blockIdx.x);
    Tile::prepare(plan, cta % tiles * Tile::kLines, cta / tiles * Tile::kBlockK);
  });
  const long long exists = of.depth * kBytes, words_end = (exists + 3) / 4 * 4;
  for (int line = 0; line < of.lines; ++line) {
    for (long long byte = 0; byte < ld_out * kBytes; ++byte) {
      const long long k = byte / kBytes, from = of.along_k ? line * of.ld + k : k * of.ld + line;
      const unsigned char wanted = byte < exists      ? in[static_cast<std::size_t>(from * kBytes + byte % kBytes)]
                                   : byte < words_end ? 0
                                                      : kUntouched;
      ASSERT_EQ(out[static_cast<std::size_t>(line * ld_out * kBytes + byte)], wanted)
          << "line " << line << ", byte " << byte;
    }
  }
}

template <int kBytes>
void expect_all_prepared() {
  for (const bool along_k : {true, false}) {
    // Less than a word, a tile and a bit, and tiles that end between words; packed or with lines that start anywhere.
    for (const auto& [lines, depth] : {std::pair{1, 1}, std::pair{3, 5}, std::pair{129, 130}, std::pair{70, 66},
                                       std::pair{128, 131}, std::pair{131, 64}}) {
      const int along = along_k ? depth : lines;
      for (const int apart : {0, 1, 2, 3}) expect_prepared<kBytes>({lines, depth, along + apart, along_k});
    }
  }
}

TEST(PrepareOperand, BytesArriveWhereverLinesStart) { expect_all_prepared<1>(); }
TEST(PrepareOperand, HalfWordsArriveWhereverLinesStart) { expect_all_prepared<2>(); }
TEST(PrepareOperand, WordsArriveWhereverLinesStart) { expect_all_prepared<4>(); }

}  // namespace
}  // namespace pgtune
