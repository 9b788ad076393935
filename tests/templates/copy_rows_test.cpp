// SPDX-License-Identifier: MIT
// The rows that a baseline copies arrive whole at every alignment and length, nothing beside them is written, and no
// word of memory is read that holds nothing of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "tuner/gpu/baseline/kernels/copy_rows.cuh"

namespace pgtune::gpu {
namespace {

constexpr unsigned char kUntouched = 0xa5;

/// Bytes at a multiple of 16, with untouched ones before and after them.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : words_((bytes + 2 * kAround + 15) / 16), bytes_(bytes) {
    std::memset(words_.data(), kUntouched, 16 * words_.size());
  }
  unsigned char* data() { return reinterpret_cast<unsigned char*>(words_.data()) + kAround; }
  [[nodiscard]] unsigned long long address() { return reinterpret_cast<std::uintptr_t>(data()); }
  bool untouched_around() {
    const auto* const first = reinterpret_cast<unsigned char*>(words_.data());
    for (std::size_t i = 0; i < 16 * words_.size(); ++i) {
      if ((i < kAround || i >= kAround + bytes_) && first[i] != kUntouched) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kAround = 64;
  std::vector<uint4> words_;
  std::size_t bytes_;
};

void run(const RowCopy& copy, int batch) {
  for (int matrix = 0; matrix < batch; ++matrix) {
    for (unsigned piece = 0; piece < copy.pieces; ++piece) {
      for (int thread = 0; thread < kRowCopyThreads; ++thread) copy_rows_piece(copy, matrix, piece, thread);
    }
  }
}

void expect_copied(long long rows, long long row_bytes, long long from_lead, long long to_lead, long long from_gap,
                   long long to_gap, int batch) {
  const long long stride_from = row_bytes + from_gap, stride_to = row_bytes + to_gap;
  const long long batch_from = rows * stride_from, batch_to = rows * stride_to;
  Memory from(static_cast<std::size_t>(from_lead + batch * batch_from)),
      to(static_cast<std::size_t>(to_lead + batch * batch_to));
  std::minstd_rand random(7);
  for (long long i = 0; i < from_lead + batch * batch_from; ++i) from.data()[i] = static_cast<unsigned char>(random());
  run(planned(RowCopy{.from = from.address() + static_cast<unsigned long long>(from_lead),
                      .to = to.address() + static_cast<unsigned long long>(to_lead),
                      .rows = rows,
                      .row_bytes = row_bytes,
                      .stride_from = stride_from,
                      .stride_to = stride_to,
                      .batch_from = batch_from,
                      .batch_to = batch_to}),
      batch);
  std::vector<unsigned char> wanted(static_cast<std::size_t>(to_lead + batch * batch_to), kUntouched);
  for (int matrix = 0; matrix < batch; ++matrix) {
    for (long long row = 0; row < rows; ++row) {
      std::memcpy(wanted.data() + to_lead + matrix * batch_to + row * stride_to,
                  from.data() + from_lead + matrix * batch_from + row * stride_from,
                  static_cast<std::size_t>(row_bytes));
    }
  }
  ASSERT_EQ(std::memcmp(to.data(), wanted.data(), wanted.size()), 0)
      << rows << " rows of " << row_bytes << " bytes from " << from_lead << " + " << from_gap << " to " << to_lead
      << " + " << to_gap;
  ASSERT_TRUE(to.untouched_around());
}

TEST(CopyRows, AtEveryAlignmentAndLength) {
  for (long long row_bytes = 2; row_bytes <= 66; row_bytes += 2) {
    for (long long from_lead = 0; from_lead < 16; from_lead += 2) {
      for (long long to_lead = 0; to_lead < 16; to_lead += 2)
        ASSERT_NO_FATAL_FAILURE(expect_copied(1, row_bytes, from_lead, to_lead, 0, 0, 1));
    }
  }
}

TEST(CopyRows, RowsAndMatricesApartByAnything) {
  for (long long row_bytes : {2, 14, 16, 30, 258}) {
    for (long long from_gap : {0, 2, 6, 16}) {
      for (long long to_gap : {0, 2, 10, 16})
        ASSERT_NO_FATAL_FAILURE(expect_copied(5, row_bytes, 4, 2, from_gap, to_gap, 3));
    }
  }
}

TEST(CopyRows, OfMoreThanOnePiece) {
  expect_copied(3, 16 * kPieceWords + 6, 0, 2, 10, 4, 1);
  expect_copied(kPieceWords + 3, 18, 2, 0, 0, 14, 2);
}

TEST(CopyRows, ReadsNoWordWithoutBytesOfTheRow) {
  for (unsigned shift = 0; shift < 16; shift += 2) {
    for (unsigned lead = 0; lead < 16; lead += 2) {
      for (long long row_bytes = 2; row_bytes <= 34; row_bytes += 2) {
        Memory from(80), to(80);
        std::memset(from.data(), 1, 80);
        const RowCopy copy = planned(RowCopy{
            .from = from.address() + 16 + shift, .to = to.address() + 16 + lead, .rows = 1, .row_bytes = row_bytes});
        // A word that was loaded is not 0. Those of the source that hold a part of the row:
        const unsigned long long first = copy.from / 16, last = (copy.from + row_bytes - 1) / 16;
        for (unsigned column = 0; column < copy.row_words; ++column) {
          const RowWord word = load_row_word(copy, 0, 0, column);
          const unsigned long long low =
              (reinterpret_cast<std::uintptr_t>(word.to) - copy.to + copy.from - word.shift) / 16;
          const auto expected = [&](unsigned long long at) { return at >= first && at <= last; };
          ASSERT_TRUE(word.low.x == 0 || expected(low)) << shift << " " << lead << " " << row_bytes;
          ASSERT_TRUE(word.high.x == 0 || expected(low + 1)) << shift << " " << lead << " " << row_bytes;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pgtune::gpu
