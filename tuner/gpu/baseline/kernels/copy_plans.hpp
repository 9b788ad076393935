// SPDX-License-Identifier: MIT
// What the kernels of operand_copies.cu are told, and how many CTAs that takes: plain types that the host and NVRTC's
// device code lay out alike.
#pragma once

namespace pgtune::gpu {

/// An operand of one byte an element, brought into lines along K. Sizes are in elements, which are bytes.
struct LineCopy {
  unsigned long long in = 0, out = 0;       ///< addresses; `out` and its lines at multiples of 4
  long long lines = 0;                      ///< its rows or columns
  long long ld_in = 0, ld_out = 0;          ///< from line to line
  long long stride_in = 0, stride_out = 0;  ///< from matrix to matrix
  int along_k = 0;                          ///< lines of `in` are lines of `out`; otherwise it is transposed
  int aligned = 0;                          ///< lines of `in` start at multiples of 4 bytes
  unsigned tiles = 0;                       ///< along the lines; 0 where there is nothing to copy
};

/// Matrices of elements of two or four bytes, row by row to other rows. All sizes are in bytes and, as the addresses,
/// multiples of an element.
struct RowCopy {
  unsigned long long from = 0, to = 0;  ///< addresses
  long long rows = 0, row_bytes = 0;
  long long stride_from = 0, stride_to = 0;  ///< from row to row
  long long batch_from = 0, batch_to = 0;    ///< from matrix to matrix
  unsigned row_words = 1;                    ///< aligned words of 16 bytes that a row of `to` lies in at most
  unsigned pieces = 0;                       ///< CTAs that copy a matrix; 0 where there is nothing to copy
};

/// What one launch copies before a product.
struct OperandCopies {
  LineCopy a = {}, b = {};
  RowCopy c = {}, bias = {};  ///< all matrices have one bias
  long long depth = 0;
};

/// Threads of a CTA, words of 16 bytes that each of them has in flight, and so the words of RowCopy's pieces.
inline constexpr int kRowCopyThreads = 256, kWordsInFlight = 4;
inline constexpr int kPieceWords = kRowCopyThreads * kWordsInFlight;
/// Lines and steps of K of a tile that a CTA lays out.
inline constexpr int kTileLines = 128, kTileDepth = 128;

constexpr long long ceil_div(long long whole, long long part) { return (whole + part - 1) / part; }

constexpr unsigned tiles_along_k(const OperandCopies& copies) {
  return static_cast<unsigned>(ceil_div(copies.depth, kTileDepth));
}

/// CTAs that one matrix of the batch needs.
constexpr unsigned ctas_of(const OperandCopies& copies) {
  return (copies.a.tiles + copies.b.tiles) * tiles_along_k(copies) + copies.c.pieces + copies.bias.pieces;
}

/// The copy with what follows from addresses and sizes.
constexpr LineCopy planned(LineCopy copy) {
  const long long first_of_lines = static_cast<long long>(copy.in % 4) | copy.ld_in | copy.stride_in;
  copy.aligned = first_of_lines % 4 == 0 ? 1 : 0;
  copy.tiles = static_cast<unsigned>(ceil_div(copy.lines, kTileLines));
  return copy;
}
constexpr RowCopy planned(RowCopy copy) {
  const long long first_of_rows = static_cast<long long>(copy.to % 16) | copy.stride_to | copy.batch_to;
  // A row that begins within a word may end in one more than it fills.
  const long long before = first_of_rows % 16 == 0 ? 0 : 15;
  copy.row_words = static_cast<unsigned>(ceil_div(copy.row_bytes + before, 16));
  copy.pieces = static_cast<unsigned>(ceil_div(copy.rows * copy.row_words, kPieceWords));
  return copy;
}

}  // namespace pgtune::gpu
