// SPDX-License-Identifier: MIT
// What stands in a tensor map's 128 bytes where kernels run on the host. Included by them and by the test.
#pragma once

#include <cstdint>

/// Dimension 0 is the contiguous one; strides and the swizzle in bytes, boxes in elements.
struct alignas(64) EmulatedMap {
  const unsigned char* base;
  std::int64_t dims[3], strides[2], box[3];
  std::int64_t element_bytes, swizzle_bytes;
};
static_assert(sizeof(EmulatedMap) == 128);
