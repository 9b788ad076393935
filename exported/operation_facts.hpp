// SPDX-License-Identifier: MIT
// What the generated functions need that turn an operation's sizes into the facts of its templates' expressions.
#pragma once

#include "exported/plan.hpp"

namespace pgtune_export::detail {

/// A buffer in one of the operation's types.
struct BufferRow {
  Int bytes;  ///< of an element
  CUtensorMapDataType tensor;
  Int alignment;     ///< bytes, of the pointer
  bool may_be_null;  ///< kernels reach it by pointers that another buffer holds
};

constexpr int kMaxRank = 4;

/// Extents and strides, in elements.
struct Shape {
  int rank;
  Int extents[kMaxRank], strides[kMaxRank];
};

/// Strides of elements that lie one behind the other, the last dimension's contiguous.
inline Shape packed(bool& x, Shape shape) noexcept {
  for (int i = shape.rank - 1; i >= 0; --i)
    shape.strides[i] = i + 1 == shape.rank ? 1 : product(x, shape.strides[i + 1], shape.extents[i + 1]);
  return shape;
}

/// Whether every index has a place of its own, and all of them are few enough to be counted.
inline bool is_layout(const Shape& shape) noexcept {
  constexpr Int kMaxElements = Int{1} << 48;
  bool x = false;
  Int last = 0, count = 1;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.extents[i] < 1 || shape.strides[i] < 1) return false;
    last = sum(x, last, product(x, shape.extents[i] - 1, shape.strides[i]));
    count = product(x, count, shape.extents[i]);
    if (x || last >= kMaxElements || count > kMaxElements) return false;
  }
  // Each dimension steps over all that those with smaller strides reach.
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.extents[i] == 1) continue;
    Int inner = 1;
    for (int k = 0; k < shape.rank; ++k) {
      const bool inside = shape.strides[k] < shape.strides[i] || (shape.strides[k] == shape.strides[i] && k > i);
      if (inside && shape.extents[k] > 1) inner += (shape.extents[k] - 1) * shape.strides[k];
    }
    if (shape.strides[i] < inner) return false;
  }
  return true;
}

/// The largest power of two, up to 256, that divides the address of everything that has index 0 in the contiguous
/// dimension.
inline Int row_alignment(const Shape& shape, const BufferRow& buffer) noexcept {
  auto bits = static_cast<std::uint64_t>(kBufferAlignment) | static_cast<std::uint64_t>(buffer.alignment);
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.extents[i] != 1 && shape.strides[i] != 1)
      bits |= static_cast<std::uint64_t>(shape.strides[i]) * static_cast<std::uint64_t>(buffer.bytes);
  }
  return static_cast<Int>(bits & (0 - bits));
}

/// Whether the sizes break one of the operation's rules.
inline bool refuses(const char*& why, const bool& x, Int rule, const char* reason) noexcept {
  if (!x && rule != 0) return false;
  why = x ? "an expression of the operation has no value for these sizes" : reason;
  return true;
}

}  // namespace pgtune_export::detail
